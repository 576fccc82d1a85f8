/**
 * Where the audit goes besides: a file, or a receiver of syslog by tcp, tls or udp, each by the one door to the network. What
 * `hand` was resolved for has been taken, as far as anybody can tell; what it was not is handed over again, under the same ids.
 */
import { open } from 'node:fs/promises';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Outbound } from '#outbound/outbound';
import { Refused } from './cli/terminal.js';

/** Not taken now; the same again may be, later. */
export class NotTaken extends Error {}

export interface AuditReceiver {
  /** Lines in order. Rejects with `NotTaken`. */
  hand(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const timeoutMs = 10_000;
const ports = { 'tcp:': 601, 'tls:': 6_514, 'udp:': 514 } as const;

export interface SyslogAddress {
  readonly transport: 'tcp' | 'tls' | 'udp';
  readonly host: string;
  readonly port: number;
}

/** null where it is a file. Throws `Refused` where it is an address of a kind that there is not. */
export function syslogAddressOf(target: string): SyslogAddress | null {
  const [, protocol] = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(target) ?? [];
  if (protocol === undefined) return null;
  const url = URL.canParse(target) ? new URL(target) : null;
  if (url !== null && url.username + url.password !== '') {
    throw new Refused('malformed_address', 'A receiver of syslog takes no user name and no password; leave them out.');
  }
  const known = Object.entries(ports).find(([name]) => name === url?.protocol);
  if (
    url === null ||
    known === undefined ||
    url.hostname === '' ||
    !['', '/'].includes(url.pathname) ||
    url.search !== ''
  ) {
    throw new Refused(
      'malformed_address',
      `${target} is no address such as tls://siem.example.com:6514 (tcp, tls, udp), and no file.`,
    );
  }
  const transport = known[0].slice(0, -1) as SyslogAddress['transport'];
  return { transport, host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? known[1] : Number(url.port) };
}

/** RFC 6587: with the count of its octets before it, so that nothing in a line ends it. */
const framed = (line: string): Buffer => {
  const bytes = Buffer.from(line);
  return Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
};

/** Syslog has no answers: what was written and whose connection then ended in order is taken for taken. */
async function writeAndEnd(socket: Socket, bytes: Uint8Array): Promise<void> {
  socket.resume();
  socket.end(bytes);
  try {
    await once(socket, 'close', { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new NotTaken(`the connection broke (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

export function createSyslogReceiver(
  outbound: Pick<Outbound, 'connect' | 'datagram'>,
  { transport, host, port }: SyslogAddress,
): AuditReceiver {
  const datagrams = async (lines: readonly string[]): Promise<void> => {
    for (const line of lines) {
      const sent = await outbound.datagram(host, port, Buffer.from(line), timeoutMs);
      if (!sent.ok) throw new NotTaken(sent.message);
    }
  };
  return {
    async hand(lines) {
      if (transport === 'udp') return datagrams(lines);
      const connected = await outbound.connect(host, port, timeoutMs, transport === 'tls' ? {} : undefined);
      if (!connected.ok) throw new NotTaken(connected.message);
      await writeAndEnd(connected.socket, Buffer.concat(lines.map(framed)));
    },
    close: async () => undefined,
  };
}

/** Opened for each hand-over, so that who rotates it may move it away. A line that a kill has cut off is ended first. */
export function createFileReceiver(file: string): AuditReceiver {
  return {
    async hand(lines) {
      try {
        const opened = await open(file, 'a+', 0o600);
        try {
          const { size } = await opened.stat();
          const last = size === 0 ? '\n' : (await opened.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
          await opened.appendFile(`${last === '\n' ? '' : '\n'}${lines.join('\n')}\n`);
          await opened.sync();
        } finally {
          await opened.close();
        }
      } catch (error) {
        throw new NotTaken(error instanceof Error ? error.message : String(error));
      }
    },
    close: async () => undefined,
  };
}
