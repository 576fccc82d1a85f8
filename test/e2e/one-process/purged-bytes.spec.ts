/**
 * What a purge leaves on disk: databases with their logs, archives made before, backups made later, what was printed. Looked for is
 * each text itself, each page as it is packed, and the key that all of it was sealed with.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs } from '#contracts/retention';
import type { RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createOwnerKeys } from '#vault/owner-keys';
import { createSealedEvents } from '#vault/sealed-events';
import { playEvents, type PlayedStep } from '../../../services/execution/figures.kit.js';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { startHookSink, type HookSink } from '../kit/hook-sink.js';
import { appendTo } from '../kit/installation.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { byHand } from '../kit/settings.js';
import { until } from '../kit/until.js';

const words = [
  'name',
  'description',
  'page-text',
  'value',
  'log',
  'address',
  'code',
  'header',
  'secret',
  'message',
  'old-value',
  'changed',
  'key',
  'tag',
];
const canaries = new Map(words.map((what) => [what, `canary-${what}-${crypto.randomUUID()}`]));
const canary = (what: string): string => canaries.get(what) ?? '';

const keepDays = 3;
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 6 * dayMs;
const step = {
  kind: 'run',
  afterMs: 3_600_000,
  status: 'succeeded',
  outcome: true,
  condition: 'true',
  isFlapping: false,
  notify: true,
  reason: 'became_true',
  isManual: true,
  value: canary('old-value'),
  fetchMs: 1,
  evaluateMs: 1,
} satisfies PlayedStep;

async function filesOf(folder: string): Promise<{ readonly name: string; readonly bytes: Buffer }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (name) => ({ name, bytes: await readFile(name) })));
}

describe('a purge on disk', () => {
  let installation: EmbeddedInstallation;
  let archive: string;
  let backups: string;
  let site: PageSite;
  let hooks: HookSink;
  let taskId: string;
  /** Of the same past, and not purged. */
  let keptId: string;
  let organizationId: string;
  let needles: ReadonlyMap<string, Buffer>;

  const query = (file: string, sql: string, ...values: string[]): Record<string, unknown>[] => {
    const database = new DatabaseSync(join(installation.dataDir, file), { readOnly: true });
    try {
      return database.prepare(sql).all(...values);
    } finally {
      database.close();
    }
  };

  /** Which of them stand in these files, where they were made readable as far as anybody without a key can. */
  async function foundIn(folder: string): Promise<string[]> {
    const files = await filesOf(folder);
    const readable = files.map(({ name, bytes }) => ({
      name,
      bytes: name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes,
    }));
    return [...needles].flatMap(([what, needle]) =>
      readable.flatMap(({ name, bytes }) =>
        bytes.includes(needle) ? [`${what} in ${name.slice(folder.length)}`] : [],
      ),
    );
  }

  /** What an earlier time recorded of its runs and messages, sealed as it would have been. */
  async function playPast(): Promise<void> {
    const ofRuns = (played: PlayedStep, id: string): readonly RecordedEvent[] =>
      playEvents([played, played, played], startMs, { taskId: id, organizationId }).recorded.filter(({ stream }) =>
        /^(run|dlv)-/.test(stream),
      );
    const past = JSON.parse(
      JSON.stringify(ofRuns(step, taskId)).replaceAll('It happened.', canary('message')),
    ) as RecordedEvent[];
    const kept = ofRuns({ ...step, value: 1 }, keptId);
    const secretKey = await installation.secretKey();
    const store = createSqliteEventStore(join(installation.dataDir, 'events.db'), { secretKey });
    const sealed = createSealedEvents(store, createOwnerKeys(store, secretKey));
    await appendTo({ append: sealed.append.bind(sealed), close: () => store.close() }, [...past, ...kept]);
  }

  beforeAll(async () => {
    [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
    [archive, backups] = await Promise.all([
      mkdtemp(join(tmpdir(), 'meerkat-e2e-archive-')),
      mkdtemp(join(tmpdir(), 'meerkat-e2e-backups-')),
    ]);
    const days = { KEEP_RUNS_DAYS: String(keepDays), KEEP_DELIVERIES_DAYS: String(keepDays) };
    installation = await embeddedInstallation({ settings: { ARCHIVE_DIR: archive, LOG_LEVEL: 'debug', ...days } });
    await installation.start();
    site.serve(`/${canary('address')}`, html(`in stock ${canary('page-text')}`));
    const code = `/* ${canary('code')} */ console.log('${canary('log')}'); page.report('value', '${canary('value')}'); return true;`;
    const { id } = await installation.api.create(
      {
        ...byHand(site.address(`/${canary('address')}`)),
        name: canary('name'),
        description: canary('description'),
        tags: [canary('tag')],
        externalKey: canary('key'),
        evaluationFunction: code,
        fetch: { headers: { 'X-Shop': canary('header'), Authorization: canary('secret') } },
        policy: { notifyOn: 'every_true' },
        actions: [
          {
            type: 'webhook',
            config: { url: hooks.address(`/hook-${canary('address')}`), headers: { 'X-Token': canary('secret') } },
          },
        ],
      },
      { 'idempotency-key': 'made-once' },
    );
    taskId = id;
    keptId = (await installation.api.create({ ...byHand(site.address('/kept')), name: 'Kept' })).id;
    await installation.kill('SIGTERM');
    organizationId =
      (await installation.recordedEvents()).find(({ stream }) => stream.startsWith('org-'))?.metadata.organizationId ??
      '';
    await playPast();
    await installation.start();
    await installation.api.execute(taskId, 30);
    await until('it is delivered', async () =>
      (await installation.api.deliveries(taskId))[0]?.state === 'delivered' ? true : null,
    );
    await installation.api.send(`/api/notifications/${taskId}`, {
      method: 'PATCH',
      json: { description: canary('changed') },
    });
    await until('its past is in the archive', async () => {
      const names = (await filesOf(archive)).map(({ name }) => name);
      const isThere = (ending: string): boolean => names.some((name) => name.endsWith(ending));
      const wanted = [taskId, keptId].flatMap((one) => [`${one}.jsonl.zst`, `${one}.deliveries.jsonl.zst`]);
      return wanted.every(isThere) ? true : null;
    });
    const packed = query(
      'snapshots.db',
      'SELECT c.packed FROM contents c JOIN snapshots s ON s.content = c.id WHERE s.task_id = ?',
      taskId,
    ).map((row) => Buffer.from(row['packed'] as Uint8Array));
    const [key] = query(
      'events.db',
      `SELECT e.data FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.type = 'vault.key_made'`,
      `vault-${taskId}`,
    );
    const { wrapped } = JSON.parse(String(key?.['data'])) as { readonly wrapped: string };
    needles = new Map([
      ...[...canaries].map(([what, text]) => [what, Buffer.from(text)] as const),
      ...packed.map((bytes, index) => [`page ${index}`, bytes.subarray(0, 120)] as const),
      ['the key', Buffer.from(wrapped)],
    ]);
  });
  afterAll(async () => {
    await installation.remove();
    await Promise.all([site.close(), hooks.close()]);
    for (const folder of [archive, backups]) await rm(folder, { recursive: true, force: true });
  });

  it('finds what it looks for as long as that is there', async () => {
    const found = (await foundIn(installation.dataDir)).map((what) => what.slice(0, what.indexOf(' in ')));
    for (const what of ['name', 'description', 'value', 'page 0', 'the key', 'changed', 'old-value'])
      expect(found).toContain(what);
    const printed = await installation.command([
      'archive',
      'read',
      taskId,
      new Date(startMs).toISOString().slice(0, 10),
    ]);
    expect([
      printed.exitCode,
      printed.out.includes(canary('old-value')),
      printed.out.includes(canary('message')),
    ]).toEqual([0, true, true]);
    const verified = await installation.command(['archive', 'verify']);
    expect([verified.exitCode, verified.out]).toEqual([0, expect.stringMatching(/^4 archived days: intact/)]);
    // What stands in an archive is sealed there already.
    expect(await foundIn(archive)).toEqual([]);
  });

  it('leaves no address, secret, page or text of the task, nor its key, in any file of the data folder', async () => {
    const purged = await installation.api.send(`/api/notifications/${taskId}?purge=true`, { method: 'DELETE' });
    expect(purged.status).toBe(200);
    expect(await foundIn(installation.dataDir)).toEqual([]);
  });

  it('leaves none in backups made later, which are whole, nor where one is put back', async () => {
    const backup = join(backups, 'later');
    expect((await installation.command(['backup', backup])).exitCode).toBe(0);
    expect(await foundIn(backup)).toEqual([]);
    const verified = await installation.command(['audit', 'verify', backup, '--json']);
    expect([verified.exitCode, JSON.parse(verified.out)]).toEqual([
      0,
      expect.objectContaining({ faultCount: 0, audit: [expect.objectContaining({ organizationId, intact: true })] }),
    ]);
    // Of both tasks the runs of folded days are gone from it, and that they were dropped by who may is proven as well.
    const database = new DatabaseSync(join(backup, 'events.db'), { readOnly: true });
    const begun = database.prepare('SELECT name FROM streams WHERE first > 0').all();
    database.close();
    expect(begun.map(({ name }) => name)).toEqual(expect.arrayContaining([`run-${taskId}`, `run-${keptId}`]));
  });

  it('leaves none in archives made before, and of those of other tasks no fault', async () => {
    expect(await foundIn(archive)).toEqual([]);
    const day = new Date(startMs).toISOString().slice(0, 10);
    const printed = await installation.command(['archive', 'read', taskId, day]);
    for (const [what, text] of canaries) expect([what, printed.out.includes(text)]).toEqual([what, false]);
    const verified = await installation.command(['archive', 'verify']);
    // The record of what was folded went with the key.
    const intact = (days: number): string => `${days} archived days: intact; of 2 the task was purged\n`;
    expect([verified.exitCode, verified.out]).toEqual([0, intact(2)]);
    const ofIt = await installation.command(['archive', 'verify', taskId]);
    expect([ofIt.exitCode, ofIt.out]).toEqual([0, intact(0)]);
  });

  it('leaves none in what the audit gives, whose chain and whose events are intact', async () => {
    const [listed, streamed, exported, verified] = [
      (await installation.api.send('/api/audit?limit=100')).text,
      (await installation.api.send('/api/audit', { headers: { Accept: 'application/x-ndjson' } })).text,
      (await installation.command(['audit', 'export'])).out,
      await installation.command(['audit', 'verify']),
    ];
    for (const text of [listed, streamed, exported]) {
      expect(text).toContain(taskId);
      for (const [what, needle] of canaries) expect([what, text.includes(needle)]).toEqual([what, false]);
    }
    expect([verified.exitCode, verified.error]).toEqual([0, '']);
    expect((await installation.api.send('/api/audit/verify')).text).toContain('"intact":true');
    const replayed = await installation.command(['audit', 'replay', taskId, '--until', new Date().toISOString()]);
    expect(replayed.exitCode).toBe(1);
  });

  it('leaves none after a kill, a start and views made anew; and none was ever logged', async () => {
    await installation.kill('SIGKILL');
    await installation.start();
    expect((await installation.command(['rebuild', 'all'])).exitCode).toBe(0);
    expect(await foundIn(installation.dataDir)).toEqual([]);
    await installation.kill('SIGTERM');
    expect(await foundIn(installation.dataDir)).toEqual([]);
    for (const [what, text] of canaries)
      expect([what, installation.lines.filter((line) => line.includes(text))]).toEqual([what, []]);
  });
});
