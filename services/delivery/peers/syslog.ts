/** Syslog by UDP (RFC 5426), TCP (RFC 6587, counted octets) and TLS (RFC 5425). Receivers answer nothing. */
import type { Socket } from 'node:net';
import type { PeerAnswer, SyslogMessage } from '#channels/peer';
import type { Outbound } from '#outbound/outbound';
import { refusedIdentity } from './refused-identity.js';

/** What was written and whose connection then ended in order has been taken, as far as anybody can tell. */
function writeAndEnd(socket: Socket, bytes: Uint8Array, timeoutMs: number, signal: AbortSignal): Promise<PeerAnswer> {
  return new Promise((resolve) => {
    const settle = (answer: PeerAnswer): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.on('error', () => undefined).destroy();
      resolve(answer);
    };
    const lost = (error?: unknown): void => {
      const refused = refusedIdentity(error, 'receiver');
      if (refused === null)
        settle({ ok: false, reason: 'connection_lost', message: 'The receiver broke the connection.', sent: true });
      else settle({ ok: false, reason: 'tls_failed', message: refused, sent: false });
    };
    const onAbort = (): void =>
      settle({
        ok: false,
        reason: 'aborted',
        message: 'The service was stopped before the message was sent.',
        sent: true,
      });
    const timer = setTimeout(
      () =>
        settle({
          ok: false,
          reason: 'timed_out',
          message: 'The receiver did not take the message in time.',
          sent: true,
        }),
      timeoutMs,
    );
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('error', lost);
    socket.on('close', (hadError) => (hadError ? lost() : settle({ ok: true, code: 'sent', text: '' })));
    // Whatever it says is not read, but its end has to be noticed.
    socket.resume();
    socket.end(bytes);
  });
}

export async function sendSyslog(
  outbound: Pick<Outbound, 'connect' | 'datagram'>,
  { transport, host, port, line, trust, timeoutMs }: SyslogMessage,
  signal: AbortSignal,
): Promise<PeerAnswer> {
  const bytes = Buffer.from(line);
  if (transport === 'udp') {
    const sent = await outbound.datagram(host, port, bytes, timeoutMs);
    return sent.ok ? { ok: true, code: 'sent', text: '' } : sent;
  }
  const connected = await outbound.connect(host, port, timeoutMs, transport === 'tls' ? trust : undefined);
  if (!connected.ok) return connected;
  const framed = Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
  return writeAndEnd(connected.socket, framed, timeoutMs, signal);
}
