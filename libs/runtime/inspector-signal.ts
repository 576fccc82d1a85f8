/**
 * Node.js opens its inspector on SIGUSR1, through which any program on the machine can run code in the process. Any
 * process of the same user may send the signal, so each process of ours handles it first thing. A listener keeps nothing
 * running.
 */
export function ignoreInspectorSignal(): void {
  if (process.platform !== 'win32' && process.listenerCount('SIGUSR1') === 0) process.on('SIGUSR1', () => undefined);
}
