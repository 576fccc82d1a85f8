/** Pages, receivers and mail servers that answer to do harm: each ends in time with its own reason, and the process lives on. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
  type InputType,
} from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

interface RawServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Speaks to each connection as `talk` says. */
async function startRawServer(talk: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function keepWriting(socket: Socket, again: string | Buffer, everyMs = 0): void {
  socket.write(again, (error) => {
    if (error !== undefined && error !== null) return;
    if (everyMs === 0) keepWriting(socket, again);
    else setTimeout(keepWriting, everyMs, socket, again, everyMs);
  });
}

/** Once asked, `head`, then `again` for as long as it is taken; with `everyMs` a little now and then. */
function endless(head: string, again: string | Buffer, everyMs = 0): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(head);
      keepWriting(socket, again, everyMs);
    });
  };
}

function answerOf(coding: string, body: Buffer): (socket: Socket) => void {
  const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return (socket) => socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), body])));
}

const large = Buffer.alloc(64 * 1_048_576, ' ');
const packers: Readonly<Record<string, (bytes: InputType) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zstdCompressSync,
};
/** What grows by hundreds and thousands: in each coding, in two at a time, and in the ways that are easily forgotten. */
function bombs(): ReadonlyMap<string, readonly [coding: string, body: Buffer]> {
  const found = new Map<string, readonly [string, Buffer]>();
  for (const [inner, pack] of Object.entries(packers)) {
    const packed = pack(large);
    found.set(inner, [inner, packed]);
    for (const [outer, packAgain] of Object.entries(packers)) {
      found.set(`${inner} in ${outer}`, [`${inner}, ${outer}`, packAgain(packed)]);
    }
  }
  found.set('deflate without a header', ['deflate', deflateRawSync(large)]);
  found.set('gzip of many members', [
    'gzip',
    Buffer.concat(Array.from({ length: 64 }, () => gzipSync(large.subarray(0, 1_048_576)))),
  ]);
  const wide = zstdCompressSync(large, { params: { [constants.ZSTD_c_windowLog]: 30 } });
  found.set('zstd with a window of a gigabyte', ['zstd', wide]);
  found.set('three codings', ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(large)))]);
  return found;
}

const okHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n';
const chunkedHead = `${okHead}transfer-encoding: chunked\r\n\r\n`;
/** Answers that never end, at once and slowly. */
const unending: ReadonlyMap<string, (socket: Socket) => void> = new Map([
  ['headers that drip', endless('HTTP/1.1 200 OK\r\nx: ', 'x', 50)],
  ['a status line that drips', endless('HTTP/1.1 200 ', 'O', 50)],
  ['headers without end', endless('HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(5_000))],
  ['one header without end', endless('HTTP/1.1 200 OK\r\nx: ', 'x'.repeat(65_536))],
  ['early hints without end', endless('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(500))],
  ['a body that drips', endless(chunkedHead, '1\r\nx\r\n', 50)],
  ['a body without end', endless(chunkedHead, `10000\r\n${'x'.repeat(65_536)}\r\n`)],
  ['a chunk extension without end', endless(`${chunkedHead}1;x=`, 'x'.repeat(65_536))],
  ['trailers without end', endless(`${chunkedHead}0\r\n`, 'x: y\r\n'.repeat(5_000))],
]);

const smtp =
  (answers: readonly (readonly [RegExp, string])[], flood?: readonly [RegExp, string]) => (socket: Socket) => {
    socket.write('220 mail.example ESMTP\r\n');
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString('latin1').split('\r\n')) {
        const [, answer] = answers.find(([asked]) => asked.test(line)) ?? [];
        if (answer !== undefined) socket.write(answer);
        const [asked, again = ''] = flood ?? [];
        if (asked?.test(line) !== true) continue;
        keepWriting(socket, again);
      }
    });
  };
const hello: readonly [RegExp, string] = [/^EHLO/i, '250 mail.example\r\n'];
const sender: readonly [RegExp, string] = [/^MAIL/i, '250 ok\r\n'];
const mailServers: readonly [string, (socket: Socket) => void, string][] = [
  ['greets in one line without end', (socket) => keepWriting(socket, 'x'.repeat(65_536)), 'protocol_error'],
  ['has extensions without end', smtp([], [/^EHLO/i, '250-SIZE 1\r\n'.repeat(5_000)]), 'protocol_error'],
  [
    'refuses a recipient without end',
    smtp([hello, sender], [/^RCPT/i, `550-${'x'.repeat(1_000)}\r\n`]),
    'protocol_error',
  ],
  ['says nothing after the hello', smtp([hello]), 'timed_out'],
];

let installation: Installation;
let site: PageSite;
const servers: RawServer[] = [];
let startedAt: number;
/** The one of the settings, which speaks as its index in `mailServers` says. */
const mailServer = { next: 0 };

async function metric(name: string): Promise<number> {
  const { text } = await installation.api.send('/metrics');
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

async function portOf(talk: (socket: Socket) => void): Promise<number> {
  const server = await startRawServer(talk);
  servers.push(server);
  return server.port;
}

beforeAll(async () => {
  const smtpPort = await portOf((socket) => mailServers[mailServer.next]?.[1](socket));
  [site, installation] = await Promise.all([
    startPageSite(),
    createInstallation({ smtpUrl: `smtp://127.0.0.1:${smtpPort}` }),
  ]);
  await installation.start();
  site.serve('/shop', html('in stock'));
  startedAt = await metric('process_start_time_seconds');
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), ...servers.map((server) => server.close())]);
});

const impatient = { timeoutSeconds: 3, retry: { attempts: 1 } };

async function runOn(talk: (socket: Socket) => void) {
  const { id } = await installation.api.create({
    ...byHand(`http://127.0.0.1:${await portOf(talk)}/`),
    fetch: impatient,
  });
  const { status, outcome, error } = await installation.api.execute(id);
  return { status, outcome, reason: error?.reason };
}

/** What became of its first attempt, once that is over. */
async function attemptOn(action: object): Promise<string> {
  const { id } = await installation.api.create({ ...byHand(site.address('/shop')), actions: [action] });
  await installation.api.execute(id);
  return until('the first attempt is over', async () => {
    const [delivery] = await installation.api.deliveries(id);
    const [attempt] = delivery?.attempts ?? [];
    if (delivery === undefined || attempt === undefined || (attempt.error ?? attempt.response) === null) return null;
    expect(attempt.response?.body?.length ?? 0).toBeLessThanOrEqual(4_096);
    return `${delivery.state} ${attempt.error?.reason ?? ''}`.trim();
  });
}

const receiver = (port: number, timeoutSeconds = 3) => ({
  type: 'webhook',
  config: { url: `http://127.0.0.1:${port}/`, timeoutSeconds },
});

describe('a compression bomb', () => {
  const all = bombs();

  it.each([...all.keys()])('of %s as a page ends as too large or unreadable', async (name) => {
    const [coding, body] = all.get(name) ?? ['', large];
    const { status, outcome, reason } = await runOn(answerOf(coding, body));
    expect([status, outcome]).toEqual(['failed', null]);
    expect(['too_large', 'bad_encoding']).toContain(reason);
  });

  it('of any coding as the answer of a receiver is not kept, and ends the attempt', async () => {
    const ends = await Promise.all(
      [...all.values()].map(async ([coding, body]) => attemptOn(receiver(await portOf(answerOf(coding, body)), 60))),
    );
    expect(
      new Set(ends.filter((end) => !['delivered', 'retrying too_large', 'retrying bad_encoding'].includes(end))),
    ).toEqual(new Set());
  });
});

/** As a page and as a receiver: of a receiver the status is enough, where it came. */
const ends: Readonly<Record<string, readonly [page: string, receiver: string]>> = {
  'headers that drip': ['timed_out', 'retrying timed_out'],
  'a status line that drips': ['timed_out', 'retrying timed_out'],
  'headers without end': ['too_large', 'retrying too_large'],
  'one header without end': ['too_large', 'retrying too_large'],
  'early hints without end': ['protocol_error', 'retrying protocol_error'],
  'a body that drips': ['timed_out', 'retrying timed_out'],
  'a body without end': ['too_large', 'delivered'],
  'a chunk extension without end': ['timed_out', 'retrying timed_out'],
  'trailers without end': ['too_large', 'retrying too_large'],
};

describe('an answer that never ends', () => {
  it.each(Object.entries(ends))(
    'with %s is given up, as a page and as a receiver',
    async (name, [asPage, asReceiver]) => {
      const talk = unending.get(name) ?? endless('', '');
      const [page, attempt] = await Promise.all([runOn(talk), portOf(talk).then((port) => attemptOn(receiver(port)))]);
      expect([page.outcome, page.reason, attempt]).toEqual([null, asPage, asReceiver]);
    },
  );
});

describe('a mail server', () => {
  it.each(mailServers)('that %s ends the attempt, and the mail is tried again', async (_what, _talk, reason) => {
    const index = mailServers.findIndex(([what]) => what === _what);
    const to = `${index}@example.com`;
    mailServer.next = index;
    expect(await attemptOn({ type: 'email', config: { to, subject: 'x' } })).toBe(`retrying ${reason}`);
  });
});

it('the process that met them all is the same, answers, and holds less than a gigabyte', async () => {
  expect(await metric('process_start_time_seconds')).toBe(startedAt);
  expect(await metric('process_resident_memory_bytes')).toBeLessThan(1_000_000_000);
  const shown = await installation.api.create(byHand(site.address('/shop')));
  expect((await installation.api.execute(shown.id)).outcome).toBe(true);
});
