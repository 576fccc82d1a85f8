import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { aNotification } from '#channels/notification.kit';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { createSqliteBus } from '#bus/sqlite';
import type { DeliveryDocument } from '#contracts/delivery';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { Outbound } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import { DeliveryHarness } from './delivery.kit.js';
import type { DeliveryWorker } from './worker.js';
import { createMailer, type Mailer } from '#mail/smtp';

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

const timeouts = { connectMs: 2_000, greetingMs: 300, silenceMs: 600, totalMs: 3_000 };

let harness: DeliveryHarness;
let outbound: Outbound;
let mails: Mail[];
let closers: (() => Promise<void>)[];

beforeEach(() => {
  mails = [];
  closers = [];
  const eventStore = createSqliteEventStore(':memory:');
  outbound = createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' });
  harness = new DeliveryHarness({
    eventStore,
    readStore: createSqliteReadStore(':memory:'),
    bus: createSqliteBus(':memory:', silentLogger),
    outbound,
    sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
  });
});

afterEach(async () => {
  await harness.close();
  for (const close of closers) await close();
});

function refuse(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** A mail server on loopback that keeps what it takes. */
async function smtp(options: SMTPServerOptions = {}): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from: mailFrom === false ? '' : mailFrom.address, to, source: Buffer.concat(chunks).toString() });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {}); // clients that vanish
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closers.push(async () => new Promise((resolve) => server.close(() => resolve())));
  return `127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

/** A server that speaks as `talk` says. */
async function raw(talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function start(server: string | null, login = '', insecureOk = false): DeliveryWorker {
  const options = { timeouts, insecureOk };
  const mailer: Mailer | null = server === null ? null : createMailer(`smtp://${login}${server}`, outbound, options);
  if (mailer !== null) closers.unshift(async () => mailer.close());
  const worker = harness.worker({ sender: harness.sender(mailer) });
  worker.start();
  return worker;
}

async function ask(worker: DeliveryWorker, config: JsonObject = { to: 'anna@example.com', subject: 's' }) {
  return harness.ask({ type: 'email', config }, (id, dueMs) => worker.offer(id, dueMs));
}

async function whenDue(worker: DeliveryWorker, { id, dueAt }: DeliveryDocument): Promise<void> {
  harness.clock.nowMs = Date.parse(dueAt ?? '');
  worker.offer(id, harness.clock.nowMs);
}

function headerOf(mail: Mail | undefined, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(mail?.source ?? '')?.[1]?.trim();
}

describe('a delivery by mail', () => {
  it('arrives once at each recipient, and shows no Bcc recipient', async () => {
    const worker = start(await smtp());
    const id = await ask(worker, {
      to: ['anna@example.com', 'ben@example.com'],
      cc: 'cleo@example.com',
      bcc: 'dora@example.com',
      replyTo: 'ops@example.com',
      subject: '{{ task.name }} – {{ value }}',
    });
    const document = await harness.untilState(id, 'delivered');
    expect(document.attempts).toMatchObject([
      {
        request: { method: 'smtp', url: 'a…@example.com, b…@example.com, c…@example.com and 1 more' },
        response: { status: 250 },
        error: null,
      },
    ]);
    // Each has an envelope of their own.
    expect(mails.map(({ to }) => to).toSorted((one, other) => (String(one) < String(other) ? -1 : 1))).toEqual([
      ['anna@example.com'],
      ['ben@example.com'],
      ['cleo@example.com'],
      ['dora@example.com'],
    ]);
    const [mail] = mails;
    expect(mail?.from).toBe('watch@example.com');
    expect(headerOf(mail, 'Message-ID')).toBe(`<${id}@example.com>`);
    expect(headerOf(mail, 'Date')).toBe(new Date(document.createdAt).toUTCString().replace(/GMT/, '+0000'));
    expect(headerOf(mail, 'To')).toBe('anna@example.com, ben@example.com');
    expect(headerOf(mail, 'Reply-To')).toBe('ops@example.com');
    expect(mail?.source).not.toContain('dora');
    expect(JSON.stringify([document, harness.logged])).not.toMatch(/anna|dora|cleo/);
  });

  it('names where each recipient stops such mails, by one click', async () => {
    const worker = start(await smtp());
    const to = ['anna@example.com', 'ben@example.com'];
    await harness.untilState(await ask(worker, { to, subject: 's' }), 'delivered');
    const sources = mails.map(({ source }) => source.replace(/\r\n[ \t]+/g, ' '));
    expect(new Set(sources.map((source) => /^List-Unsubscribe: (.*)$/m.exec(source)?.[1])).size).toBe(2);
    for (const unfolded of sources) {
      expect(unfolded).toMatch(/^List-Unsubscribe: <https:\/\/meerkat\.example\/unsubscribe\/[\w.-]+>/m);
      expect(unfolded).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m);
      expect(unfolded).toMatch(/^Auto-Submitted: auto-generated/m);
    }
  });

  it('is signed with the key that the operator set', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const dkim = { domain: 'example.com', selector: 'meerkat', privateKey: pem };
    const mailer = createMailer(`smtp://${await smtp()}`, outbound, { timeouts, dkim });
    closers.unshift(async () => mailer.close());
    const worker = harness.worker({ sender: harness.sender(mailer) });
    worker.start();
    await harness.untilState(await ask(worker), 'delivered');
    const signature = mails[0]?.source.replace(/\r\n[ \t]+/g, ' ');
    expect(signature).toMatch(/^DKIM-Signature: .*d=example\.com;.*s=meerkat;/m);
    expect(signature).toMatch(/^DKIM-Signature: .*h=[^;]*list-unsubscribe-post/im);
  });

  it('shows the last values as a picture inside', async () => {
    const worker = start(await smtp());
    const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 10, minute)).toISOString();
    const points = [3, 2, 4].map((value, minute) => ({ at: at(minute), value }));
    const { context } = aNotification();
    const id = await harness.ask(
      { type: 'email', config: { to: 'anna@example.com', subject: 's' }, context: { ...context, points } },
      (one, dueMs) => worker.offer(one, dueMs),
    );
    await harness.untilState(id, 'delivered');
    expect(mails[0]?.source).toMatch(/Content-Type: image\/png/);
    expect(mails[0]?.source).toMatch(/Content-ID: <chart>/i);
    expect(mails[0]?.source).toContain('iVBORw0KGgo');
  });

  it('with a temporary refusal is repeated, byte for byte the same', async () => {
    let puts = 1;
    const worker = start(
      await smtp({
        onRcptTo: (_address, _session, done) => done(puts-- > 0 ? refuse(451, 'try later, <anna@example.com>') : null),
      }),
    );
    const id = await ask(worker);
    const document = await harness.untilState(id, 'retrying');
    expect(document).toMatchObject({ reason: 'smtp_deferred', attempts: [{ response: { status: 451 } }] });
    expect(document.attempts[0]?.response?.body).toContain('<a…@example.com>');
    await whenDue(worker, document);
    await harness.untilState(id, 'delivered');
    expect(mails).toHaveLength(1);
  });

  it('has the same bytes on every attempt, HTML and text together', async () => {
    let fails = 1;
    const sources: string[] = [];
    const worker = start(
      await smtp({
        onData(stream, _session, done) {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            sources.push(Buffer.concat(chunks).toString());
            done(fails-- > 0 ? refuse(452, 'full') : null);
          });
        },
      }),
    );
    const id = await ask(worker, { to: 'a@example.com', subject: 's', body: '<p>{{ message }}</p>', format: 'html' });
    await whenDue(worker, await harness.untilState(id, 'retrying'));
    await harness.untilState(id, 'delivered');
    expect(sources).toHaveLength(2);
    expect(sources[1]).toBe(sources[0]);
    expect(sources[0]).toContain('multipart/alternative');
  });

  it('with a permanent refusal fails', async () => {
    const worker = start(
      await smtp({ onRcptTo: (_address, _session, done) => done(refuse(550, 'no such user anna@example.com')) }),
    );
    const id = await ask(worker);
    const document = await harness.untilState(id, 'failed');
    expect(document).toMatchObject({ reason: 'smtp_refused', attempts: [{ response: { status: 550 } }] });
    expect(JSON.stringify(document)).not.toContain('anna');
  });

  it('is repeated for the recipients that were refused temporarily, and for no others', async () => {
    let puts = 1;
    const worker = start(
      await smtp({
        onRcptTo({ address }, _session, done) {
          if (address.startsWith('ben') && puts-- > 0) return done(refuse(450, 'later'));
          return done(address.startsWith('cleo') ? refuse(550, 'unknown') : null);
        },
      }),
    );
    const to = ['anna@example.com', 'ben@example.com', 'cleo@example.com'];
    const id = await ask(worker, { to, subject: 's' });
    const first = await harness.untilState(id, 'retrying');
    expect(first.attempts[0]).toMatchObject({
      response: { status: 450 },
      error: { reason: 'smtp_deferred', message: expect.stringContaining('1 of 3 recipients have it') },
    });
    await whenDue(worker, first);
    const last = await harness.untilState(id, 'failed');
    expect(last.reason).toBe('smtp_refused');
    expect(last.attempts[1]?.error?.message).toContain('2 of 3 recipients have it');
    expect(mails.map((mail) => mail.to)).toEqual([['anna@example.com'], ['ben@example.com']]);
    expect(headerOf(mails[1], 'Message-ID')).toBe(headerOf(mails[0], 'Message-ID'));
    expect(headerOf(mails[1], 'To')).toBe('anna@example.com, ben@example.com, cleo@example.com');
  });

  it('to a server that cannot be reached is repeated', async () => {
    const server = await smtp();
    await closers.pop()?.();
    const id = await ask(start(server));
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'connect_failed' });
  });

  it.each<[string, (socket: Socket) => void, ...string[]]>([
    ['says nothing', () => {}, 'timed_out'],
    ['hangs up at once', (socket) => socket.destroy(), 'connection_lost'],
    ['greets and falls silent', (socket) => socket.write('220 hello\r\n'), 'timed_out'],
    [
      'is no mail server',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'protocol_error',
      'connection_lost',
    ],
    ['is too busy', (socket) => socket.end('421 too busy\r\n'), 'smtp_deferred'],
    [
      'talks without end',
      (socket) => {
        const talk = (): void => {
          if (!socket.destroyed) socket.write('220-hello\r\n'.repeat(10_000), talk);
        };
        talk();
      },
      'timed_out',
      'protocol_error',
      'connection_lost',
    ],
  ])('to a server that %s is repeated', async (_what, talk, ...reasons) => {
    const id = await ask(start(await raw(talk)));
    const document = await harness.untilState(id, 'retrying');
    expect(reasons).toContain(document.reason);
    expect(document.attempts).toHaveLength(1);
  });

  it('whose server hangs up in the middle of the message is repeated', async () => {
    const server = await smtp({ onData: (stream, session) => void stream.once('data', () => closeOf(session.id)) });
    const closeOf = (_id: string): void => sockets.forEach((socket) => socket.destroy());
    const sockets: Socket[] = [];
    const through = await raw((socket) => {
      const [host = '', port = ''] = server.split(':');
      const other = new (socket.constructor as new () => Socket)();
      other.on('error', () => {});
      other.connect(Number(port), host);
      socket.pipe(other).pipe(socket);
      sockets.push(socket, other);
    });
    const id = await ask(start(through));
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'connection_lost' });
    expect(mails).toHaveLength(0);
  });

  it('whose login is refused is repeated, so that the operator can fix it', async () => {
    const server = await smtp({
      authOptional: false,
      allowInsecureAuth: true,
      // As a server that says more than it should.
      onAuth: ({ username = '', password }, _session, done) => {
        const given = String(password);
        const encoded = Buffer.from(given).toString('base64');
        done(refuse(535, `no ${username} with ${given} (${encoded}) here`));
      },
    });
    const id = await ask(start(server, 'watcher:canary-password@', true));
    const document = await harness.untilState(id, 'retrying');
    expect(document).toMatchObject({ reason: 'smtp_login_refused', attempts: [{ response: { status: 535 } }] });
    expect(document.attempts[0]?.error?.message).toMatch(/It answered 535.*: no \*{8} with \*{8} \(\*{8}\) here\.$/);
    expect(JSON.stringify(document)).not.toContain(Buffer.from('canary-password').toString('base64'));
    expect(JSON.stringify([document, harness.logged])).not.toContain('canary');
  });

  it('sends no password over a connection that is not encrypted, even where the server hides STARTTLS', async () => {
    const heard: string[] = [];
    const server = await raw((socket) => {
      socket.write('220 mail.example ESMTP\r\n');
      socket.on('data', (chunk) => {
        heard.push(chunk.toString());
        if (/^STARTTLS/i.test(chunk.toString())) return void socket.write('502 5.5.1 no such command\r\n');
        socket.write('250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n');
      });
    });
    const id = await ask(start(server, 'user:canary-password@'));
    const { reason, attempts } = await harness.untilState(id, 'retrying');
    expect(reason).toBe('tls_failed');
    // What we say of it is not put into the mouth of the server.
    expect(attempts[0]).toMatchObject({
      response: null,
      error: { message: expect.stringMatching(/^No secure connection to the mail server .+INSECURE_OK=true/) },
    });
    expect(heard.join('')).not.toMatch(/AUTH|canary|Y2FuYXJ5/);
  });

  it('without a mail server fails permanently', async () => {
    const id = await ask(start(null));
    expect(await harness.untilState(id, 'failed')).toMatchObject({ reason: 'smtp_not_configured' });
  });

  it('gets no further recipient or header from text of the page', async () => {
    const worker = start(await smtp());
    const evil = 'x\r\nBcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>\r\n';
    const id = await harness.ask(
      {
        type: 'email',
        config: { to: 'anna@example.com', subject: '{{ values.evil }}', body: '{{ values.evil }}' },
        context: {
          message: evil,
          execution: {
            id: `exe_${'0'.repeat(26)}`,
            outcome: true,
            values: { evil },
            finishedAt: new Date().toISOString(),
            finalUrl: null,
          },
        },
      },
      (one, dueMs) => worker.offer(one, dueMs),
    );
    await harness.untilState(id, 'delivered');
    expect(mails).toHaveLength(1);
    expect(mails[0]?.to).toEqual(['anna@example.com']);
    const head = mails[0]?.source.split('\r\n\r\n')[0] ?? '';
    expect(head).not.toMatch(/^Bcc/im);
    expect(head).toMatch(/^Subject: x Bcc: eve@example.com/m);
  });
});
