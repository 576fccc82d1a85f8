/** The audit on its way to a SIEM: whole, in order, once where nothing is killed, and from where it stopped. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { testCertificate, testKey } from '#outbound/loopback.contract';
import { freePort } from '../servers/process.ts';
import { parsedSyslog } from '../../services/delivery/peers/syslog.kit.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { byHand } from './kit/settings.js';
import { startDatagramSink, startSyslogSink } from './kit/syslog-sink.js';
import { until } from './kit/until.js';

const entry = z.looseObject({
  id: z.string(),
  sequence: z.int(),
  type: z.string(),
  hash: z.string(),
  previousHash: z.string(),
});
type Entry = z.infer<typeof entry>;

let installation: Installation;
let folder: string;
let taskId: string;
let renames = 0;

const path = (name: string): string => join(folder, name);
const rename = async (): Promise<void> => {
  renames += 1;
  const json = { name: `Renamed ${renames}` };
  await installation.api.send(`/api/notifications/${taskId}`, { method: 'PATCH', json });
};
/** Of the first organisation; it is the only one. */
async function recorded(): Promise<Entry[]> {
  const { text } = await installation.api.send('/api/audit', { headers: { Accept: 'application/x-ndjson' } });
  return entriesIn(text);
}
const entriesIn = (text: string): Entry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => entry.parse(JSON.parse(line)));
const entriesOf = (lines: readonly string[]): Entry[] =>
  lines.map((line) => entry.parse(JSON.parse(line.slice(line.indexOf('] {') + 2))));
const hashes = (entries: readonly Entry[]): string[] => entries.map(({ hash }) => hash);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-siem-'));
  await writeFile(path('authorities.pem'), testCertificate);
  installation = await createInstallation({ settings: { EGRESS_CA_FILE: path('authorities.pem') } });
  await installation.start();
  taskId = (await installation.api.create({ ...byHand('https://shop.example/'), name: 'Watched ] " \\ "quoted"' })).id;
});
afterAll(async () => {
  await installation.remove();
  await rm(folder, { recursive: true, force: true });
});

describe('the audit, exported', () => {
  it('goes to a receiver by TCP in counted frames of RFC 5424, and the next time what came since', async () => {
    const sink = await startSyslogSink();
    const words = ['audit', 'export', '--to', `tcp://127.0.0.1:${sink.port}`, '--cursor', path('tcp.cursor')];
    const first = await installation.command(words);
    expect([first.exitCode, first.out]).toEqual([0, '']);
    const sent = sink.lines.length;
    for (const line of sink.lines) expect(parsedSyslog(line.replace('] {', '] \ufeff{')).facility).toBe(13);
    expect(hashes(entriesOf(sink.lines))).toEqual(hashes(await recorded()).slice(0, sent));
    await rename();
    expect((await installation.command(words)).exitCode).toBe(0);
    const all = await until('it is in the audit', async () => {
      const found = await recorded();
      return found.some(({ type }) => type === 'task.changed') ? found : null;
    });
    expect(hashes(entriesOf(sink.lines))).toEqual(hashes(all));
    await sink.close();
  });

  it('goes by TLS to a receiver whose certificate is trusted', async () => {
    const sink = await startSyslogSink({ tls: { key: testKey, cert: testCertificate } });
    const words = ['audit', 'export', '--to', `tls://127.0.0.1:${sink.port}`];
    expect((await installation.command(words)).exitCode).toBe(0);
    expect(hashes(entriesOf(sink.lines))).toEqual(hashes(await recorded()));
    await sink.close();
  });

  it('goes by UDP in datagrams that every receiver takes, one for each entry', async () => {
    const description = 'long '.repeat(390);
    await installation.api.send(`/api/notifications/${taskId}`, { method: 'PATCH', json: { description } });
    const sink = await startDatagramSink();
    expect((await installation.command(['audit', 'export', '--to', `udp://127.0.0.1:${sink.port}`])).exitCode).toBe(0);
    const all = await recorded();
    await until('all came', () => (sink.lines.length >= all.length ? true : null));
    expect(hashes(entriesOf(sink.lines)).toSorted()).toEqual(hashes(all).toSorted());
    expect(Math.max(...sink.lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(2_048);
    await sink.close();
  });

  it.each([
    ['a file', ['--to', 'missing/audit.jsonl']],
    ['its cursor', ['--to', 'audit-of-cursor.jsonl', '--cursor', 'missing/cursor']],
  ])('is refused where the folder of %s does not exist', async (_of, words) => {
    const named = words.map((word) => (word.startsWith('--') ? word : path(word)));
    const end = await installation.command(['audit', 'export', ...named]);
    expect([end.exitCode, end.error]).toEqual([
      1,
      expect.stringContaining(`The folder ${path('missing')} does not exist.`),
    ]);
  });

  it('follows into a file over kills, from where it stopped, with nothing left out', async () => {
    const words = ['audit', 'export', '--to', path('audit.jsonl'), '--follow'];
    const inFile = async (): Promise<Entry[]> => entriesIn(await readFile(path('audit.jsonl'), 'utf8').catch(() => ''));
    const caughtUp = () =>
      until('all is in the file', async () => {
        const [there, all] = [new Set(hashes(await inFile())), await recorded()];
        return all.every(({ hash }) => there.has(hash)) ? true : null;
      });
    for (let round = 0; round < 3; round += 1) {
      const following = installation.startCommand(words);
      await rename();
      await caughtUp();
      await following.kill('SIGKILL');
      await rename();
    }
    const last = installation.startCommand(words);
    await caughtUp();
    expect(await last.kill('SIGTERM')).toBe(0);
    const unique = [...new Map((await inFile()).map((one) => [one.hash, one])).values()];
    expect(unique.map(({ sequence }) => sequence)).toEqual(unique.map((_, index) => index + 1));
    expect(unique.slice(1).map(({ previousHash }) => previousHash)).toEqual(hashes(unique).slice(0, -1));
  });

  it('waits for a receiver that is away, and without --follow says so', async () => {
    const port = await freePort();
    const words = ['audit', 'export', '--to', `tcp://127.0.0.1:${port}`];
    const refused = await installation.command(words);
    expect([refused.exitCode, refused.error]).toEqual([75, expect.stringContaining('takes nothing')]);
    const following = installation.startCommand([...words, '--follow', '--cursor', path('away.cursor')]);
    await until('it is tried again', () => (following.notes().includes('tried again') ? true : null));
    const sink = await startSyslogSink({ port });
    const all = await recorded();
    await until('all came', () => (sink.lines.length >= all.length ? true : null));
    expect(hashes(entriesOf(sink.lines))).toEqual(hashes(all));
    expect(await following.kill('SIGINT')).toBe(0);
    await sink.close();
  });

  it.each([
    ['an address that is denied', ['--to', 'tcp://10.0.0.1:601'], 1, 'EGRESS_ALLOW'],
    ['a protocol that there is not', ['--to', 'http://127.0.0.1/'], 1, 'no address such as'],
    ['a folder', ['--to', '.'], 75, 'takes nothing'],
    ['a format that there is not', ['--format', 'xml'], 2, 'syslog'],
  ])('is refused to %s', async (_, words, exitCode, said) => {
    const end = await installation.command(['audit', 'export', ...words]);
    expect([end.exitCode, end.error]).toEqual([exitCode, expect.stringContaining(said)]);
  });

  it('is refused where what was handed over last is not there', async () => {
    const cursor = path('unknown.cursor');
    await writeFile(cursor, '{"id":"evt_01jz0000000000000000000000"}\n');
    const end = await installation.command(['audit', 'export', '--cursor', cursor]);
    expect([end.exitCode, end.out, end.error]).toEqual([1, '', expect.stringContaining('Remove')]);
  });
});
