/** The operator's mail server, reached by nodemailer over sockets that the outbound door opened. */
import type { Socket } from 'node:net';
import { trusting } from '#outbound/certificates';
import { createTransport } from 'nodemailer';
import { composedMail } from './compose.js';
import type { MailAnswer, MailOutgoing, MailRefusal } from '#channels/channel';
import { withTimeout } from '#concurrency/timeout';
import { outboundFailureReasons, type Outbound } from '#outbound/outbound';
import type { Config } from '#runtime/config';
import { secretMask } from '#runtime/secret-mask';

export interface Mailer {
  /** `host:port`: what its breaker is kept by. */
  readonly server: string;
  /** Sends one mail to `recipients`, which are some or all of its own. Never rejects: what went wrong is a value. */
  send(mail: MailOutgoing, recipients: readonly string[], signal: AbortSignal): Promise<MailAnswer>;
  /** Connects and signs in, and sends nothing. null: all is well; else why not. Never rejects. */
  greet(): Promise<{ readonly reason: string; readonly message: string } | null>;
  close(): void;
}

export interface SmtpTimeouts {
  readonly connectMs: number;
  readonly greetingMs: number;
  /** Silence of the server, at any later point. */
  readonly silenceMs: number;
  /** Everything together, a place in the pool included. */
  readonly totalMs: number;
}

export const defaultSmtpTimeouts: SmtpTimeouts = {
  connectMs: 10_000,
  greetingMs: 10_000,
  silenceMs: 20_000,
  totalMs: 30_000,
};

type SocketDone = (error: Error | null, socket?: { connection: Socket }) => void;

const connections = 8;
const idleMs = 30_000;

interface ServerError {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly recipient?: unknown;
  readonly rejectedErrors?: unknown;
}

function asServerError(error: unknown): ServerError {
  return typeof error === 'object' && error !== null ? error : { message: String(error) };
}

function textOf({ response, message }: ServerError): string {
  return String(typeof response === 'string' ? response : message);
}

function codeOf({ responseCode }: ServerError): number | null {
  return typeof responseCode === 'number' ? responseCode : null;
}

function refusalsOf(errors: unknown): MailRefusal[] {
  if (!Array.isArray(errors)) return [];
  return errors.map(asServerError).map((error) => ({
    address: String(error.recipient),
    code: codeOf(error),
    text: textOf(error),
  }));
}

const sentences: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  ECONNECTION: ['connection_lost', 'The mail server closed the connection before it answered.'],
  ESOCKET: ['connection_lost', 'The connection to the mail server broke.'],
  ETIMEDOUT: ['timed_out', 'The mail server did not answer in time.'],
  ETLS: [
    'tls_failed',
    'No secure connection to the mail server could be made, and without one no password is sent (INSECURE_OK=true allows it).',
  ],
  EPROTOCOL: ['protocol_error', 'The mail server said something that is not SMTP.'],
};

/** About the message is only what the server says of its sender, recipients or content. */
function failureOf(thrown: unknown, signal: AbortSignal): MailAnswer {
  const error = asServerError(thrown);
  const code = codeOf(error);
  const none: readonly MailRefusal[] = [];
  if (error.code === 'EABORT') {
    const [reason, text] = signal.aborted
      ? ['aborted', 'The service was stopped before the mail server answered.']
      : ['timed_out', 'The mail server did not answer in time.'];
    return { kind: 'not_taken', about: 'connection', reason, code: null, text, refused: none };
  }
  if (error.code === 'EAUTH' || error.code === 'ENOAUTH') {
    return {
      kind: 'not_taken',
      about: 'login',
      reason: 'smtp_login_refused',
      code,
      text: textOf(error),
      refused: none,
    };
  }
  if (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') {
    const refused = refusalsOf(error.rejectedErrors);
    return { kind: 'not_taken', about: 'message', reason: 'smtp_refused', code, text: textOf(error), refused };
  }
  // A TLS error has a `reason` too, in the words of OpenSSL.
  const ours = outboundFailureReasons.find((one) => one === error.reason);
  const known = ours === undefined ? sentences[String(error.code)] : ([ours, textOf(error)] as const);
  const [reason, text] = known ?? ['smtp_failed', 'The mail could not be handed to the mail server.'];
  // A reply to the greeting or to a hello: the server is there and wants nothing now.
  if (code !== null && error.code !== 'ETLS')
    return {
      kind: 'not_taken',
      about: 'connection',
      reason: 'smtp_deferred',
      code,
      text: textOf(error),
      refused: none,
    };
  // The sentence is ours: a code beside it would say that the server spoke it.
  return { kind: 'not_taken', about: 'connection', reason, code: null, text, refused: none };
}

const shortestSecret = 4;

/** A server that refuses a login may repeat it, where people read it who are not to know it. */
function withoutLogin(answer: MailAnswer, { username, password }: URL): MailAnswer {
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const pieces = [`\0${user}\0${pass}`, user, pass]
    .filter((piece) => piece.length >= shortestSecret)
    .flatMap((piece) => [Buffer.from(piece).toString('base64'), piece]);
  const masked = (text: string): string => pieces.reduce((left, piece) => left.replaceAll(piece, secretMask), text);
  const refused = answer.refused.map((one) => ({ ...one, text: masked(one.text) }));
  return { ...answer, text: masked(answer.text), refused };
}

/** By one click of the mail program (RFC 8058); programs take it over https alone. */
function unsubscribeHeaders(url: string | undefined): Readonly<Record<string, string>> {
  if (url === undefined) return {};
  const oneClick = url.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {};
  return { 'List-Unsubscribe': `<${url}>`, ...oneClick };
}

/** What a signature has to cover besides the usual headers, so that one click is believed. */
const signedHeaders =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-To:References:List-Unsubscribe:List-Unsubscribe-Post';

export interface MailerOptions {
  /** Signs each mail. */
  readonly dkim?: Config['dkim'];
  readonly timeouts?: SmtpTimeouts;
  /** The password may go over a connection that is not encrypted. */
  readonly insecureOk?: boolean;
  /** PEM of authorities that are trusted besides the usual ones. */
  readonly authorities?: string | null;
}

/** `smtpUrl`: `smtp(s)://user:password@host:port`, and `?ignoreTLS`, `?requireTLS` or `?rejectUnauthorized=false`. */
export function createMailer(
  smtpUrl: string,
  outbound: Outbound,
  { timeouts = defaultSmtpTimeouts, insecureOk = false, authorities = null, dkim = null }: MailerOptions = {},
): Mailer {
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  const flag = (name: string): boolean => ['', 'true', '1'].includes(url.searchParams.get(name) ?? 'false');
  const secureContext = authorities === null ? null : trusting([authorities]);
  const needsTls = url.username !== '' && !insecureOk;
  const transport = createTransport({
    pool: true,
    host,
    port,
    secure,
    ignoreTLS: flag('ignoreTLS') && !needsTls,
    requireTLS: flag('requireTLS') || needsTls,
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    tls: {
      ...(url.searchParams.get('rejectUnauthorized') === 'false' ? { rejectUnauthorized: false } : {}),
      ...(secureContext === null ? {} : { secureContext }),
    },
    maxConnections: connections,
    ...(dkim === null
      ? {}
      : {
          dkim: {
            domainName: dkim.domain,
            keySelector: dkim.selector,
            privateKey: dkim.privateKey,
            headerFieldNames: signedHeaders,
          },
        }),
    // Only a message of which nothing was sent is put on another connection (a kept one that the server had closed).
    maxRequeues: 1,
    idleTimeout: idleMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options: unknown, done: SocketDone) => {
      const open = async (): Promise<void> => {
        const connected = await outbound.connect(host, port, timeouts.connectMs);
        if (connected.ok) done(null, { connection: connected.socket });
        else done(Object.assign(new Error(connected.message), { reason: connected.reason }));
      };
      void open();
    },
  });
  // A pool reports what happens to idle connections here; unheard, it would end the process.
  transport.on('error', () => {});
  return {
    server: `${host}:${port}`,
    async send(mail, recipients, signal) {
      const { messageId, from, replyTo, to, cc, subject, text, html, sentAt } = mail;
      const { inReplyTo = null, picture = null, unsubscribeUrl } = mail;
      const plain = (address: string) => ({ name: '', address });
      try {
        const content = {
          from,
          to: to.map(plain),
          cc: cc.map(plain),
          ...(replyTo === null ? {} : { replyTo: plain(replyTo) }),
          subject,
          text,
          ...(html === null ? {} : { html }),
          ...(picture === null
            ? {}
            : {
                attachments: [
                  { filename: 'chart.png', content: Buffer.from(picture), cid: 'chart', contentType: 'image/png' },
                ],
              }),
          ...(inReplyTo === null ? {} : { inReplyTo: `<${inReplyTo}>`, references: `<${inReplyTo}>` }),
          messageId: `<${messageId}>`,
          date: new Date(sentAt),
          // Without it a random text separates the parts of a mail, and a repeat would not be the same bytes.
          baseBoundary: messageId.replace(/[^A-Za-z0-9]/g, ''),
          headers: {
            'Auto-Submitted': 'auto-generated',
            'X-Auto-Response-Suppress': 'All',
            ...unsubscribeHeaders(unsubscribeUrl),
          },
        };
        const raw = composedMail(content);
        const info = await transport.sendMail({
          ...(raw === null ? content : { raw }),
          envelope: { from: from.address, to: [...recipients] },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeouts.totalMs)]),
        });
        const refused = refusalsOf(info.rejectedErrors);
        const accepted = info.accepted.map(String);
        return withoutLogin({ kind: 'taken', accepted, refused, text: info.response }, url);
      } catch (error) {
        return withoutLogin(failureOf(error, signal), url);
      }
    },
    async greet() {
      try {
        await withTimeout(transport.verify(), timeouts.totalMs, () =>
          Object.assign(new Error('late'), { code: 'ETIMEDOUT' }),
        );
        return null;
      } catch (error) {
        const answer = withoutLogin(failureOf(error, new AbortController().signal), url);
        return answer.kind === 'taken' ? null : { reason: answer.reason, message: answer.text };
      }
    },
    close() {
      transport.close({ force: true });
    },
  };
}
