import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { call } from './cli.kit.js';
import { run, type Running } from './main.js';
import { keptViews, lookedThroughAgain } from './projections.js';

const answer = z.object({
  views: z.array(z.object({ view: z.string(), state: z.string(), events: z.number(), eventsPerSecond: z.number() })),
  events: z.number(),
  tookMs: z.number(),
  eventsPerSecond: z.number(),
});
const names = keptViews.map(({ name }) => name).toSorted();
const environment = { ...process.env };
let folder: string;
let running: Running | null = null;

const startServer = async (): Promise<void> => {
  running = await run(readConfig(), silentLogger);
};
const stopServer = async (): Promise<void> => {
  await running?.stop();
  running = null;
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-rebuild-spec-'));
  Object.assign(process.env, {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    OWNER_EMAIL: 'owner@example.com',
    OWNER_PASSWORD: 'correct horse battery staple',
  });
});
afterEach(async () => {
  await stopServer();
  process.env = { ...environment };
  await rm(folder, { recursive: true, force: true });
});

describe('rebuild', () => {
  it('ends with 2 for a view that there is not, and names those that there are', async () => {
    const { exitCode, out, error } = await call('rebuild', 'task');
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain('there is no view task');
    for (const name of names) expect(error).toContain(name);
  });

  it('founds no installation where there is none', async () => {
    const { exitCode, error } = await call('rebuild');
    expect(exitCode).toBe(1);
    expect(error).toContain('There is no instance in');
  });

  it('knows every view that the product makes of events', async () => {
    await startServer();
    await stopServer();
    const database = new DatabaseSync(join(folder, 'data', 'views.db'));
    const followers = database.prepare('SELECT view FROM checkpoints').all();
    database.close();
    // Others keep their place in the events there, and no documents that are built from the first event on.
    const others = new Set(lookedThroughAgain.map(({ name }) => name));
    const views = followers
      .map(({ view }) => String(view))
      .filter((view) => !view.startsWith('published_') && !others.has(view));
    expect(views.toSorted()).toEqual(names);
  });

  it('builds every view where no server runs, and says how many events a second', async () => {
    await startServer();
    await stopServer();
    const { exitCode, out } = await call('rebuild', 'all', '--json');
    expect(exitCode).toBe(0);
    const { views, events } = answer.parse(JSON.parse(out));
    expect(views.map(({ view }) => view).toSorted()).toEqual(names);
    expect(new Set(views.map(({ state }) => state))).toEqual(new Set(['done']));
    expect(views.find(({ view }) => view === 'organizations')?.events).toBeGreaterThan(0);
    expect(events).toBe(views.reduce((sum, view) => sum + view.events, 0));
    await startServer();
  });

  it('asks the server where one runs, which goes on', async () => {
    await startServer();
    const { exitCode, out, error } = await call('rebuild', 'organizations');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^organizations +done +\d+/m);
    expect(error).toMatch(/events in \d/);
    expect((await fetch(`${running?.url}/readyz`)).status).toBe(200);
  });
});
