/** One datagram to a checked address: no answer is expected, and only what the other machine refuses at once is noticed. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { codeOf, Fault } from './failures.js';

/** A machine that has nobody at the port says so within it, on most networks. */
const refusalMs = 100;

function faultOf(error: unknown): Fault {
  switch (codeOf(error)) {
    case 'EMSGSIZE':
      return new Fault('too_large', 'The datagram is longer than the network takes.');
    case 'ECONNREFUSED':
      return new Fault('connect_failed', 'Nobody listens at the port.');
    default:
      return new Fault('connect_failed', 'The datagram could not be sent.');
  }
}

export function sendDatagram(address: string, port: number, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    let timer: NodeJS.Timeout | undefined;
    const end = (fault: Error | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).on('error', () => undefined);
      socket.close();
      if (fault === null) resolve();
      else reject(fault);
    };
    const onError = (error: unknown): void => end(faultOf(error));
    const onAbort = (): void =>
      end(signal.reason instanceof Error ? signal.reason : new Fault('aborted', 'The request was given up.'));
    socket.on('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    // Connected, so that a refusal comes back to this socket.
    socket.connect(port, address, () => {
      socket.send(bytes, (error) => {
        if (error !== null) return onError(error);
        timer = setTimeout(() => end(null), refusalMs);
      });
    });
  });
}
