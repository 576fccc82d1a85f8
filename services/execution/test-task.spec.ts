import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { wholePolicy } from '#contracts/policy';
import { testExecution, type TestExecution, type TestRun } from '#contracts/run';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from '#page-loader/page-loader';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createIds } from '#runtime/ids';
import { found } from '#runtime/probe.kit';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { defaultSandboxLimits } from '#sandbox/sandbox';
import { createEventVault } from '#vault/event-vault';
import { createTestRuns, type TestRuns } from './test-task.js';

const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
const eventStore = createSqliteEventStore(':memory:');
const readStore = createSqliteReadStore(':memory:');
const ids = createIds();
const startMs = Date.parse('2026-11-21T10:00:00.000Z');

const page: LoadedPage = {
  ok: true,
  url: 'https://example.com/',
  finalUrl: 'https://example.com/',
  status: 200,
  headers: {},
  contentKind: 'html',
  encoding: 'UTF-8',
  body: Buffer.from('<p id="a">12</p>'),
  contentHash: 'sha256:0',
  attempts: 1,
  fetchMs: 2,
};

let tests: TestRuns;
let asked: PageRequest[];
let load: (request: PageRequest) => Promise<LoadedPage | LoadFailure>;

beforeEach(() => {
  asked = [];
  load = async () => page;
  const pageLoader: PageLoader = {
    load: (request) => {
      asked.push(request);
      return load(request);
    },
    loadIfChanged: async () => page,
    close: async () => undefined,
  };
  const vault = createEventVault(eventStore, Buffer.alloc(32, 1));
  const limits = { ...defaultSandboxLimits, cpuMs: 300 };
  tests = createTestRuns({
    pageLoader,
    sandbox,
    vault,
    limits,
    eventStore,
    readStore,
    clock: { now: () => startMs },
  });
});
afterEach(() => tests.ended());
afterAll(async () => {
  await sandbox.close();
  await readStore.close();
  await eventStore.close();
});

function runOf(evaluationFunction: string, more: Partial<TestRun> = {}): TestRun {
  return {
    runId: ids.next('exe'),
    url: 'https://example.com/',
    evaluationFunction,
    codeForm: 'body',
    fetch: {},
    policy: wholePolicy({ notifyOn: 'became_true', errorThreshold: 3 }),
    paused: false,
    actions: [{ enabled: true, on: ['triggered'] }],
    queuedAt: '2026-11-21T09:59:59.000Z',
    ...more,
  };
}

async function ask(run: TestRun, organizationId = 'org_1'): Promise<TestExecution> {
  return testExecution.parse(await tests.run(run, organizationId));
}

/** Loads that end when they are released. */
function heldLoads(): { readonly release: () => void } {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  load = async () => {
    await held;
    return page;
  };
  return { release };
}

describe('a test run', () => {
  it('answers as the first run of a task would end', async () => {
    const run = runOf('page.report("value", 5); console.log("x"); return page.number(document.body) === 12');
    expect(await ask(run)).toMatchObject({
      id: run.runId,
      notificationId: null,
      trigger: 'test',
      status: 'succeeded',
      outcome: true,
      values: { value: 5 },
      logs: [{ level: 'log', message: 'x' }],
      error: null,
      decision: { notify: true, reason: 'became_true' },
      seed: run.runId,
      timings: { queueMs: 1_000, fetchMs: 2 },
    });
    expect(await ask(runOf('return true', { paused: true }))).toMatchObject({
      decision: { notify: false, reason: 'paused' },
    });
    expect(await ask(runOf('return true', { actions: [] }))).toMatchObject({ decision: { reason: 'no_actions' } });
  });

  it('draws the line of an error and gives a hint', async () => {
    const { error } = await ask(runOf('const a = 1;\nthrow new Error("no " + a);'));
    expect(error).toMatchObject({ reason: 'threw', message: 'Error: no 1', line: 2 });
    expect(error?.frame).toContain('  2 | throw new Error("no " + a);');
    load = async () => ({ ...page, ok: false, reason: 'dns_failed', message: 'There is no such name.', status: null });
    expect((await ask(runOf('return true'))).error).toMatchObject({ reason: 'dns_failed', hint: expect.any(String) });
  });

  it('limits the time of a page load, whatever its settings say', async () => {
    await ask(runOf('return true', { fetch: { timeoutSeconds: 120 } }));
    expect(asked[0]?.signal).toBeInstanceOf(AbortSignal);
  });
});

describe('concurrent test runs', () => {
  it('are at most four of an organisation, and make room when they end', async () => {
    const { release } = heldLoads();
    const running = [1, 2, 3, 4].map(() => ask(runOf('return true')));
    await found(async () => asked.length === 4);
    await expect(ask(runOf('return true'))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      reason: 'too_many_tests',
      retryAfterSeconds: expect.any(Number),
    });
    const other = ask(runOf('return true'), 'org_2');
    release();
    expect((await Promise.all([...running, other])).every(({ outcome }) => outcome === true)).toBe(true);
    expect((await ask(runOf('return false'))).outcome).toBe(false);
  });

  it('are at most sixteen of a process', async () => {
    const { release } = heldLoads();
    const running = Array.from({ length: 16 }, (_, index) => ask(runOf('return true'), `org_${index >> 2}`));
    await found(async () => asked.length === 16);
    await expect(ask(runOf('return true'), 'org_9')).rejects.toMatchObject({ reason: 'tests_busy' });
    release();
    await Promise.all(running);
  });

  it('have their code run one after the other, so that a core is left for the runs that are due', async () => {
    const hostile = [1, 2, 3].map(() => ask(runOf('for (;;);')));
    const ended = await Promise.all(hostile);
    expect(ended.map(({ error }) => error?.reason)).toEqual(['cpu_limit', 'cpu_limit', 'cpu_limit']);
  });

  it('are waited for when the service stops', async () => {
    const { release } = heldLoads();
    const running = ask(runOf('return true'));
    await found(async () => asked.length === 1);
    const stopped = tests.ended();
    release();
    await stopped;
    expect((await running).outcome).toBe(true);
  });
});
