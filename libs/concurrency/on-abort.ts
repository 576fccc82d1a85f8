/** What is to happen once a signal aborts, for signals that many wait for: each listener of its own is compared with all others. */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

function waitingFor(signal: AbortSignal): Set<() => void> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const begun = new Set<() => void>();
  waiting.set(signal, begun);
  const callAll = (): void => {
    for (const callback of begun) callback();
    begun.clear();
  };
  signal.addEventListener('abort', callAll, { once: true });
  return begun;
}

/**
 * Calls `callback` when the signal aborts, until what this returns is called. Never where it has aborted already: the caller
 * looks at that. The same callback counts once.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) return () => undefined;
  const callbacks = waitingFor(signal);
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}
