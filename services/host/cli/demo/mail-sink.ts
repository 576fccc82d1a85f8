/** A mail server that takes every mail and sends it nowhere: as much of RFC 5321 as one client on loopback needs. */
import { createServer, type Server, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

const maxMailCharacters = 10_485_760;

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** RFC 2047: `=?UTF-8?Q?…?=` and `=?UTF-8?B?…?=`, which is how anything but ASCII stands in a header. */
function decodeHeader(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, encoded: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(encoded, 'base64').toString('utf8')
        : decodeQuotedPrintable(encoded.replaceAll('_', ' ')),
    );
}

function decodeBody(body: string, encoding: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'quoted-printable':
      return decodeQuotedPrintable(body);
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    default:
      return Buffer.from(body, 'latin1').toString('utf8');
  }
}

interface Part {
  readonly body: string;
  header(name: string): string;
}

function partOf(raw: string): Part {
  const end = /\r?\n\r?\n/.exec(raw);
  const head = raw.slice(0, end?.index ?? raw.length).replace(/\r?\n[ \t]+/g, ' ');
  return {
    body: end === null ? '' : raw.slice(end.index + end[0].length),
    header: (name) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1] ?? '',
  };
}

/** The same in plain text comes first where there is more than one form of it. */
function plainTextOf({ body, header }: Part): string {
  const boundary = /^multipart\/.*boundary="?([^";]+)"?/i.exec(header('content-type'))?.[1];
  if (boundary === undefined) return decodeBody(body, header('content-transfer-encoding')).trim();
  const [, first = ''] = `\r\n${body}`.split(`\r\n--${boundary}`);
  return plainTextOf(partOf(first.replace(/^\r\n/, '')));
}

/** What a person reads of a mail. */
export function readMail(raw: string): Omit<ReceivedMail, 'to'> {
  const whole = partOf(raw);
  return {
    from: decodeHeader(whole.header('from')),
    subject: decodeHeader(whole.header('subject')),
    text: plainTextOf(whole),
  };
}

class MailSession {
  #pending = '';
  #isReading = false;
  #to: string[] = [];

  readonly #socket: Socket;
  readonly #onMail: (mail: ReceivedMail) => void;

  constructor(socket: Socket, onMail: (mail: ReceivedMail) => void) {
    this.#socket = socket;
    this.#onMail = onMail;
    this.#reply('220 demo.localhost ready');
  }

  receive(chunk: string): void {
    this.#pending += chunk;
    if (this.#pending.length > maxMailCharacters) return void this.#socket.destroy();
    for (;;) {
      const ending = this.#isReading ? '\r\n.\r\n' : '\r\n';
      const end = this.#pending.indexOf(ending);
      if (end < 0) return;
      const part = this.#pending.slice(0, end);
      this.#pending = this.#pending.slice(end + ending.length);
      if (this.#isReading) this.#take(part);
      else this.#obey(part);
    }
  }

  #reply(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  #take(data: string): void {
    this.#isReading = false;
    this.#reply('250 taken');
    // A line that began with a dot was sent with two.
    this.#onMail({ to: this.#to, ...readMail(data.replace(/^\.\./gm, '.')) });
    this.#to = [];
  }

  #obey(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    switch (verb) {
      case 'DATA':
        this.#isReading = true;
        return this.#reply('354 go on');
      case 'QUIT':
        this.#reply('221 bye');
        return void this.#socket.end();
      case 'RCPT':
        this.#to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
        return this.#reply('250 ok');
      case 'RSET':
        this.#to = [];
        return this.#reply('250 ok');
      case 'EHLO':
      case 'HELO':
      case 'MAIL':
      case 'NOOP':
        return this.#reply('250 ok');
      default:
        return this.#reply('502 not here');
    }
  }
}

/** Not listening yet. */
export function createMailSink(onMail: (mail: ReceivedMail) => void): Server {
  return createServer((socket) => {
    const session = new MailSession(socket, onMail);
    // Bytes as characters: what they mean, the mail's own encoding says.
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => session.receive(chunk));
    socket.on('error', () => socket.destroy());
  });
}
