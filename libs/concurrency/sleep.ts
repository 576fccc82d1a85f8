/** The one way to wait for time to pass. */

/**
 * Resolves after `milliseconds`, or as soon as the signal aborts; it never rejects, so a caller that must know looks at the
 * signal. With `ref: false` it does not keep the process alive.
 */
export function sleep(milliseconds: number, signal?: AbortSignal, { ref = true } = {}): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    if (!ref) timer.unref();
    signal?.addEventListener('abort', end, { once: true });
  });
}
