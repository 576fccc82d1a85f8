import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createSqliteReadStore } from '#read-store/sqlite';
import { readConfig } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { call, type Called } from './cli.kit.js';
import { run, type Running } from './main.js';
import { answer, append, eventsIn, leaveFileUnfinished, stray, viewsIn } from './migrate.kit.js';
import { keptViews, lookedThroughAgain, publications } from './projections.js';
import { beginMigration } from './unfinished-migration.js';

const refusal = z.object({ error: z.object({ reason: z.string(), message: z.string() }) });
const apiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';

const environment = { ...process.env };
let folder: string;
let source: string;
let target: string;
let running: Running | null = null;

const startServer = async (dataDir: string): Promise<string> => {
  process.env['DATA_DIR'] = dataDir;
  running = await run(readConfig(), silentLogger);
  process.env['DATA_DIR'] = join(folder, 'elsewhere');
  return running.url ?? '';
};
const stopServer = async (): Promise<void> => {
  await running?.stop();
  running = null;
};

async function ask(url: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return z.object({ data: z.unknown() }).parse(await response.json()).data;
}

/** An installation with an account, and a paused task that has a secret. */
async function foundAnew(dataDir: string): Promise<void> {
  const url = await startServer(dataDir);
  await ask(url, '/api/notifications', {
    name: 'Stock',
    url: 'http://127.0.0.1:9/',
    evaluationFunction: 'return true',
    schedule: { type: 'manual' },
    status: 'paused',
    actions: [
      {
        type: 'webhook',
        config: { url: 'http://127.0.0.1:9/hook', secret: `whsec_${Buffer.alloc(24, 3).toString('base64')}` },
      },
    ],
  });
  await stopServer();
}

/** The same in an empty folder, made by the first test that needs it; the others begin with a copy. */
let firstFounded: string | null = null;
async function found(dataDir: string): Promise<void> {
  if (firstFounded === null) {
    await foundAnew(dataDir);
    const kept = await mkdtemp(join(tmpdir(), 'meerkat-migrate-spec-founded-'));
    await cp(dataDir, kept, { recursive: true });
    firstFounded = kept;
  } else await cp(firstFounded, dataDir, { recursive: true });
}
afterAll(async () => {
  if (firstFounded !== null) await rm(firstFounded, { recursive: true, force: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-migrate-spec-'));
  source = join(folder, 'source');
  target = join(folder, 'target');
  Object.assign(process.env, {
    DATA_DIR: join(folder, 'elsewhere'),
    PORT: '0',
    EGRESS_ALLOW: '127.0.0.0/8',
    OWNER_EMAIL: 'owner@example.com',
    OWNER_PASSWORD: 'correct horse battery staple',
    OWNER_API_KEY: apiKey,
  });
});
afterEach(async () => {
  await stopServer();
  process.env = { ...environment };
  await rm(folder, { recursive: true, force: true });
});

const migrate = (...more: string[]): Promise<Called> =>
  call('migrate', '--from', `sqlite:${source}`, '--to', `sqlite:${target}`, ...more);

const reasonOf = ({ out }: Called): string => refusal.parse(JSON.parse(out)).error.reason;

describe('migrate, when it is called in another way than there is,', () => {
  it.each([
    ['no source', ['--to', 'sqlite:./b'], "required option '--from <where>' not specified"],
    ['no target', ['--from', 'sqlite:./a'], "required option '--to <where>' not specified"],
    ['a source of no kind', ['--from', './a', '--to', 'sqlite:./b'], '--from must be sqlite:<folder>'],
    ['a password written plainly', ['--from', 'esdb://u:p@s@h:1', '--to', 'sqlite:./b'], '--from has a user name or'],
    ['a target of no kind', ['--from', 'sqlite:./a', '--to', 'kafka://host:9092'], '--to must be sqlite:<folder>'],
    ['a folder of no name', ['--from', 'sqlite:', '--to', 'sqlite:./b'], '--from must be'],
    ['a folder like a host', ['--from', 'sqlite://a', '--to', 'sqlite:./b'], '--from must be'],
    [
      'an installation in a folder',
      ['--from', 'sqlite:./a', '--to', 'sqlite:./b', '--from-installation', 'x'],
      '--from-installation is for',
    ],
  ])('ends with 2 for %s', async (_, words, said) => {
    const { exitCode, out, error } = await call('migrate', ...words);
    expect(error).toContain(said);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  });

  it('does not repeat an address, which may hold a password', async () => {
    const { exitCode, error } = await call('migrate', '--from', 'esdb://admin:s3cret@@:::?x', '--to', 'sqlite:./b');
    expect(exitCode).toBe(2);
    expect(error).not.toContain('s3cret');
  });
});

describe('migrate ends with 78', () => {
  it('where the target cannot be reached safely, and names the side', async () => {
    const { exitCode, error } = await call(
      'migrate',
      '--from',
      'sqlite:./a',
      '--to',
      'esdb://admin:s3cret@db.example.com:2113?tls=false',
    );
    expect(error).toContain('--to: db.example.com:2113 would be reached without TLS');
    expect(error).not.toContain('s3cret');
    expect(exitCode).toBe(78);
  });

  it('where the name of an installation is none', async () => {
    const { exitCode, error } = await call(
      'migrate',
      '--from',
      'esdb://127.0.0.1:9?tls=false',
      '--from-installation',
      'No Name',
      '--to',
      `sqlite:${target}`,
    );
    expect(error).toContain('INSTALLATION: must be 1 to 40');
    expect(exitCode).toBe(78);
  });

  it('where the views of the target would take the place of those of the source', async () => {
    await found(source);
    const before = viewsIn(source);
    process.env['DATA_DIR'] = source;
    const { exitCode, error } = await call(
      'migrate',
      '--from',
      `sqlite:${source}`,
      '--to',
      'esdb://127.0.0.1:9?tls=false',
    );
    expect(error).toContain('READ_STORE_URL');
    expect(exitCode).toBe(78);
    expect(viewsIn(source)).toEqual(before);
  });
});

describe('migrate refuses, and changes nothing,', () => {
  it('a source where nothing is', async () => {
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'not_set_up']);
    expect(existsSync(source)).toBe(false);
  });

  it('a source that is the target, by whatever name', async () => {
    await found(source);
    await symlink(source, target);
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'same_sides']);
  });

  it('a source on which a server runs, which goes on', async () => {
    const url = await startServer(source);
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'source_in_use']);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(existsSync(target)).toBe(false);
  });

  it('a target on which a server runs, which goes on', async () => {
    await found(source);
    await cp(source, target, { recursive: true });
    const url = await startServer(target);
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'target_in_use']);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('a target that holds another installation, which can be started as before', async () => {
    await found(source);
    await cp(join(source, 'secret.key'), join(folder, 'secret.key'));
    process.env['SECRET_KEY'] = (await readFile(join(source, 'secret.key'), 'utf8')).trim();
    await foundAnew(target);
    const before = await eventsIn(target);
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'target_holds_others']);
    expect(await eventsIn(target)).toEqual(before);
    expect(existsSync(join(target, 'secret.key'))).toBe(false);
    await startServer(target);
  });

  it('a target that has gone on since', async () => {
    await found(source);
    expect((await migrate()).exitCode).toBe(0);
    const url = await startServer(target);
    await ask(url, '/api/notifications', {
      name: 'New',
      url: 'http://127.0.0.1:9/',
      evaluationFunction: 'return true',
      schedule: { type: 'manual' },
      status: 'paused',
    });
    await stopServer();
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'target_holds_others']);
    await startServer(target);
  });

  it('another secret key', async () => {
    await found(source);
    process.env['SECRET_KEY'] = randomBytes(32).toString('base64');
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'other_secret_key']);
    expect(existsSync(target)).toBe(false);
  });

  it('a source that was run with a key that nobody names', async () => {
    await found(source);
    await rm(join(source, 'secret.key'));
    const { exitCode, error } = await migrate();
    expect(error).toContain('SECRET_KEY: must be set to that of the source');
    expect(exitCode).toBe(78);
  });

  it.each([
    ['is no database', 'x'.repeat(5_000)],
    ['is cut off', null],
  ])('a source whose file %s', async (_, text) => {
    await found(source);
    const file = join(source, 'events.db');
    await writeFile(file, text ?? (await readFile(file)).subarray(0, 9_000));
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'source_broken']);
    expect(existsSync(target)).toBe(false);
  });

  it('a target that is no folder', async () => {
    await found(source);
    await writeFile(target, 'something');
    const { exitCode, error } = await migrate();
    expect(error).toContain(`DATA_DIR: ${target} cannot be used`);
    expect(exitCode).toBe(78);
    expect(await readFile(target, 'utf8')).toBe('something');
  });

  it('a target whose files are no databases', async () => {
    await found(source);
    for (const [name, reason] of [
      ['views.db', 'views_broken'],
      ['events.db', 'target_broken'],
    ] as const) {
      await mkdir(target);
      await writeFile(join(target, name), 'x'.repeat(5_000));
      const called = await migrate('--json');
      expect([called.exitCode, reasonOf(called)]).toEqual([1, reason]);
      await rm(target, { recursive: true });
    }
  });

  it('a source where a configuration file is not written whole yet', async () => {
    await found(source);
    await leaveFileUnfinished(source);
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'source_unfinished']);
    expect(existsSync(target)).toBe(false);
  });

  it.each([
    [
      'that lacks an event',
      'DELETE FROM events WHERE position IN (SELECT e.position FROM events e JOIN streams s ON s.id = e.stream WHERE e.revision < s.revision)',
      'is there, and what stood before it is gone',
    ],
    [
      'whose events were changed, since the target could not tell',
      "UPDATE events SET data = json_set(data, '$.extra', 1) WHERE type = 'organization.created'",
      '(organization.created) is not what was written',
    ],
  ])('a source %s', async (_how, sql, told) => {
    await found(source);
    const database = new DatabaseSync(join(source, 'events.db'));
    database.exec(sql);
    database.close();
    const called = await migrate('--json');
    expect([called.exitCode, reasonOf(called)]).toEqual([1, 'source_altered']);
    expect(called.out).toContain(told);
    expect(existsSync(join(target, 'events.db'))).toBe(false);
  });
});

describe('migrate', () => {
  it('knows everything that keeps a place in the events', async () => {
    await startServer(source);
    await stopServer();
    const database = new DatabaseSync(join(source, 'views.db'));
    const kept = database
      .prepare('SELECT view FROM checkpoints')
      .all()
      .map(({ view }) => String(view));
    database.close();
    const known = [...keptViews, ...publications, ...lookedThroughAgain].map(({ name }) => name);
    expect(kept.filter((name) => !known.includes(name))).toEqual([]);
    expect(publications.map(({ name }) => name).filter((name) => !kept.includes(name))).toEqual([]);
  });

  it('copies the events, the key and nothing else, and builds the views to the same bytes', async () => {
    await found(source);
    const { exitCode, out, error } = await migrate('--json');
    expect(error).toBe('');
    expect(exitCode).toBe(0);
    const migrated = answer.parse(JSON.parse(out));
    const events = await eventsIn(source);
    expect(migrated).toMatchObject({ events: events.length, copied: events.length, alreadyThere: 0 });
    expect(migrated.views).toEqual(keptViews.map(({ name }) => ({ view: name, error: null })));
    expect(await eventsIn(target)).toEqual(events);
    expect(await readFile(join(target, 'secret.key'))).toEqual(await readFile(join(source, 'secret.key')));
    const [before, after] = [viewsIn(source), viewsIn(target)];
    const places = z.object({ places: z.record(z.string(), z.int()) });
    expect(z.object({ views: z.unknown() }).parse(after).views).toEqual(
      z.object({ views: z.unknown() }).parse(before).views,
    );
    const last = events.length;
    for (const { name } of [...keptViews, ...publications]) expect(places.parse(after).places[name]).toBe(last);
    expect(existsSync(join(target, 'bus.db'))).toBe(false);
  });

  it('leaves a target that goes on as the source would have, and publishes no old messages', async () => {
    await found(source);
    const { exitCode, out, error } = await migrate();
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^sha256 +[0-9a-f]{64}$/m);
    expect(error).toContain('Do not start the source again');
    const before = await eventsIn(target);
    const url = await startServer(target);
    const tasks = z.array(z.object({ id: z.string(), name: z.string() })).parse(await ask(url, '/api/notifications'));
    expect(tasks.map(({ name }) => name)).toEqual(['Stock']);
    await stopServer();
    const bus = new DatabaseSync(join(target, 'bus.db'));
    // Never was a message in it.
    expect(bus.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'messages'`).all()).toEqual([]);
    bus.close();
    expect((await eventsIn(target)).slice(0, before.length)).toEqual(before);
  });

  it('goes on with a target that was copied before the source went on, and with one that is whole', async () => {
    await found(source);
    expect((await migrate()).exitCode).toBe(0);
    const there = (await eventsIn(source)).length;
    await foundAnew(source);
    const all = await eventsIn(source);
    expect(all.length).toBeGreaterThan(there);
    const { exitCode, out } = await migrate('--json');
    expect(exitCode).toBe(0);
    expect(answer.parse(JSON.parse(out))).toMatchObject({ copied: all.length - there, alreadyThere: there });
    const again = await migrate('--json');
    expect(again.exitCode).toBe(0);
    expect(answer.parse(JSON.parse(again.out))).toMatchObject({ copied: 0, alreadyThere: all.length });
    expect(await eventsIn(target)).toEqual(all);
    await startServer(target);
  });

  it('brings an installation back to the folder it came from', async () => {
    await found(source);
    expect((await migrate()).exitCode).toBe(0);
    await foundAnew(target);
    const all = await eventsIn(target);
    const { exitCode } = await call('migrate', '--from', `sqlite:${target}`, '--to', `sqlite:${source}`);
    expect(exitCode).toBe(0);
    expect(await eventsIn(source)).toEqual(all);
    const url = await startServer(source);
    expect(await ask(url, '/api/notifications')).toHaveLength(2);
  });

  it('keeps servers from a target until it is finished', async () => {
    await found(source);
    expect((await migrate()).exitCode).toBe(0);
    const readStore = createSqliteReadStore(join(target, 'views.db'));
    await beginMigration(createDocumentState(readStore), {
      from: 'sqlite:./data',
      begunAt: '2026-11-21T10:00:00.000Z',
    });
    await readStore.close();
    await expect(startServer(target)).rejects.toThrow(
      'the migration from sqlite:./data that began 2026-11-21T10:00:00.000Z is not finished',
    );
    expect((await migrate()).exitCode).toBe(0);
    await startServer(target);
  });

  it('tells of a view that cannot be built, as on a server, and moves everything all the same', async () => {
    await found(source);
    await append(source, 'task-ntf_x', stray('task.unheard_of'));
    const { exitCode, out, error } = await migrate();
    expect(exitCode).toBe(1);
    expect(error).toContain('The view tasks cannot be built');
    expect(error).toContain('task.unheard_of');
    expect(error).toContain('the type is unknown');
    expect(out).toMatch(new RegExp(`^views +${keptViews.length - 1} in`, 'm'));
    expect(await eventsIn(target)).toEqual(await eventsIn(source));
    await startServer(target);
  });

  it('copies what was set up halfway only', async () => {
    delete process.env['OWNER_EMAIL'];
    delete process.env['OWNER_PASSWORD'];
    delete process.env['OWNER_API_KEY'];
    await startServer(source);
    await stopServer();
    expect((await migrate()).exitCode).toBe(0);
    expect(await eventsIn(target)).toEqual(await eventsIn(source));
  });
});
