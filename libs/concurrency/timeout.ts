/** Waiting that ends: work raced against a timer. */

/**
 * What `work` settles with, or a rejection with `onTimeout()` where it takes longer than `timeoutMs`. The work itself goes
 * on; how it ends then is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), Math.max(0, timeoutMs));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const timedOut = new Error('timed out');

/** What `work` settles with, or `fallback` where it takes longer than `timeoutMs`. */
export async function withTimeoutOr<T, Fallback>(
  work: Promise<T>,
  timeoutMs: number,
  fallback: Fallback,
): Promise<T | Fallback> {
  try {
    return await withTimeout(work, timeoutMs, () => timedOut);
  } catch (error) {
    if (error === timedOut) return fallback;
    throw error;
  }
}
