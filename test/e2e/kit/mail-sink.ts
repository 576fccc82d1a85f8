/** A mail server on loopback that keeps what it takes, and answers, stalls or breaks off as the spec says. */
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly recipients: readonly string[];
  readonly messageId: string;
  readonly subject: string;
  /** The body as a person reads it. */
  readonly text: string;
  /** The whole message as it came. */
  readonly raw: string;
  /** The answer to the client: 250 accepts the mail. null: the connection ended before an answer. */
  readonly answer: number | null;
}

/** In words of a server; `at` its recipient: before the message itself was sent. */
export interface MailRefusal {
  readonly code: number;
  readonly text: string;
  readonly at?: 'recipient';
}

/** `hold`: the message is read and never answered. `drop`: the connection is broken instead of an answer. */
export type MailReply = number | MailRefusal | 'hold' | 'drop';

export interface MailSink {
  readonly url: string;
  /** Every message that came in whole, answered or not, oldest first. */
  readonly received: readonly ReceivedMail[];
  /** Those that were taken (250). */
  taken(): readonly ReceivedMail[];
  /** What the next messages to an address are answered, one each; afterwards 250. */
  reply(to: string, ...replies: readonly MailReply[]): void;
  /** Closes every connection and refuses further ones by its greeting; null: takes them again. */
  greet(refusal: Omit<MailRefusal, 'at'> | null): void;
  close(): Promise<void>;
}

function header(raw: string, name: string): string {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  return new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
}

/** Of a mail of several parts the first one that is plain text, with its own head. */
function plainPartOf(raw: string): string {
  const boundary = /boundary="?([^";\r\n]+)/i.exec(raw)?.[1];
  if (boundary === undefined) return raw;
  const parts = raw.split(`--${boundary}`).slice(1);
  const plain = parts.find((part) => /^Content-Type: (?:text\/plain|multipart)/im.test(part.trimStart()));
  return plain === undefined ? raw : plainPartOf(plain.trimStart());
}

/** The text of a mail: on its way, lines are broken wherever the sender likes. */
function textOf(whole: string): string {
  const raw = plainPartOf(whole);
  const body = raw.slice(raw.indexOf('\r\n\r\n') + 4);
  if (header(raw, 'Content-Transfer-Encoding') !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export async function startMailSink(): Promise<MailSink> {
  const received: ReceivedMail[] = [];
  const replies = new Map<string, MailReply[]>();
  const sockets = new Map<number, Socket>();
  let greeting: Omit<MailRefusal, 'at'> | null = null;
  const asError = ({ code, text }: Omit<MailRefusal, 'at'>): Error =>
    Object.assign(new Error(text), { responseCode: code });
  const takeRefusalAt = (address: string): MailRefusal | null => {
    const [next] = replies.get(address) ?? [];
    if (typeof next !== 'object' || next.at !== 'recipient') return null;
    replies.get(address)?.shift();
    return next;
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onConnect(_session, answer) {
      if (greeting === null) return answer();
      return answer(asError(greeting));
    },
    onRcptTo({ address }, _session, answer) {
      const refusal = takeRefusalAt(address);
      return refusal === null ? answer() : answer(asError(refusal));
    },
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        const reply = replies.get(recipients[0] ?? '')?.shift() ?? 250;
        received.push({
          recipients,
          messageId: header(raw, 'Message-ID'),
          subject: header(raw, 'Subject'),
          text: textOf(raw),
          raw,
          answer: typeof reply === 'number' ? reply : typeof reply === 'object' ? reply.code : null,
        });
        if (reply === 'drop') sockets.get(session.remotePort)?.destroy();
        else if (reply === 250) answer(null, 'taken');
        else if (typeof reply === 'object') answer(asError(reply));
        else if (typeof reply === 'number') answer(Object.assign(new Error('as told'), { responseCode: reply }));
      });
    },
  });
  // A client that is killed breaks its connections; that is what the specs are about.
  server.on('error', () => undefined);
  server.server.on('connection', (socket) => {
    const { remotePort = 0 } = socket;
    sockets.set(remotePort, socket);
    socket.on('close', () => sockets.delete(remotePort));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    taken: () => received.filter(({ answer }) => answer === 250),
    reply: (to, ...next) => void replies.set(to, [...(replies.get(to) ?? []), ...next]),
    greet(refusal) {
      greeting = refusal;
      if (refusal !== null) for (const socket of sockets.values()) socket.destroy();
    },
    async close() {
      for (const socket of sockets.values()) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
