/**
 * Node.js opens its inspector on SIGUSR1, and whoever reaches that runs code in the process. Any process of the same user
 * may send the signal: each process of ours takes it over first thing. A listener keeps nothing running.
 */
export function ignoreInspectorSignal(): void {
  if (process.platform !== 'win32' && process.listenerCount('SIGUSR1') === 0) process.on('SIGUSR1', () => undefined);
}
