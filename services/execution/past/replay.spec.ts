import { createFairSlots } from '#concurrency/fair-slots';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { requests } from '#contracts/catalogue';
import { executionsView, type ExecutionDocument } from '#contracts/run';
import { tasksView, taskSpec, type TaskSpec } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { encodeEvents } from '#eventing/codec';
import { runService } from '#eventing/run-service';
import type { EventMetadata } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import { createHttpPageLoader } from '#page-loader/http';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { defaultSandboxLimits } from '#sandbox/sandbox';
import { createDocumentState } from '#shared-state/document-state';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import { createEventVault } from '#vault/event-vault';
import { executionsProjection } from '../execution-view.js';
import { KnownResults } from '../known-results.js';
import { LongEvaluations } from '../long-evaluations.js';
import { createBacktests } from './backtests.js';
import { missingNumbers } from './missing-numbers.js';
import { differencesBetween, replayRun } from './replay.js';
import { executeRun, type RunDeps } from '../run.js';
import { RunQueryHandler } from '../run-query.js';
import { createExecutionService } from '../service.js';
import { createTestRuns } from '../test-task.js';
import { keepingAll } from '../retention/retention.kit.js';

const taskId = 'ntf_00000000000000000000000001';
const organizationId = 'org_00000000000000000000000001';
const start = Date.parse('2026-11-21T10:00:00.000Z');
const metadata: EventMetadata = {
  organizationId,
  actor: 'system:execution',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

const specOf = (code: string): TaskSpec =>
  aTask({
    evaluationFunction: code,
    policy: { notifyOn: 'became_true', errorThreshold: 1 },
    fetch: { retry: { attempts: 1 } },
  });

const running = new AbortController().signal;

describe('a replay', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let clock: { ms: number };
  let html: string;
  let deps: RunDeps;
  let revision: number;

  beforeEach(async () => {
    clock = { ms: start };
    html = '<p>7';
    revision = -1;
    const eventStore = createSqliteEventStore(':memory:');
    const outbound = {
      request: async () => ({
        ok: true as const,
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: Buffer.from(html),
        bodyCut: false,
        finalUrl: 'https://example.com/',
        redirects: 0,
        durationMs: 1,
      }),
      connect: async () => Promise.reject(new Error('no mail')),
      datagram: async () => Promise.reject(new Error('no network')),
      refusalOf: () => null,
      close: async () => undefined,
    };
    const readStore = createSqliteReadStore(':memory:');
    deps = {
      eventStore,
      readStore,
      sharedState: createDocumentState(readStore),
      sandbox,
      pageLoader: createHttpPageLoader(outbound),
      vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
      clock: { now: () => clock.ms },
      logger: silentLogger,
      limits: { ...defaultSandboxLimits, cpuMs: 300 },
      snapshots: createSqliteSnapshots(':memory:', { keepCount: 50, keepDays: 30 }),
      knownResults: new KnownResults(),
      slots: createFairSlots({ slots: 8, shares: { organization: 8, longOfOrganization: 8 } }),
      longEvaluations: new LongEvaluations(8),
      leases: createSoleLeases(),
    };
  });
  afterEach(async () => {
    await deps.pageLoader.close();
    await deps.snapshots.close();
    await deps.readStore.close();
    await deps.eventStore.close();
  });
  afterAll(() => sandbox.close());

  /** The task as of now: an event, and the document of the view. */
  async function save(code: string): Promise<void> {
    const spec = specOf(code);
    const event =
      revision < 0
        ? { type: 'task.created', data: { spec, status: 'active' as const, createdBy: 'key' } }
        : { type: 'task.changed', data: { changes: { evaluationFunction: code } } };
    const events = encodeEvents([event], { commandId: `c${revision}`, metadata });
    await deps.eventStore.append(`task-${taskId}`, events, revision < 0 ? 'none' : revision);
    revision += 1;
    const document = {
      id: taskId,
      organizationId,
      revision,
      codeRevision: revision,
      attention: 0,
      spec,
      status: 'active' as const,
      createdAt: metadata.at,
      updatedAt: metadata.at,
      createdBy: 'key',
      name: spec.name,
      url: spec.url,
      tags: [],
      externalKey: null,
      condition: 'unknown' as const,
      health: 'ok' as const,
      nextRunAt: null,
      lastExecution: null,
    };
    await deps.readStore.save(tasksView, [{ id: taskId, revision, document }], revision);
  }

  let runs = 0;
  /** One run, and its document in the view. */
  async function run(): Promise<ExecutionDocument> {
    runs += 1;
    clock.ms += 1_000;
    const at = new Date(clock.ms).toISOString();
    const runId = `exe_${String(runs).padStart(26, '0')}`;
    const due = {
      runId,
      taskId,
      trigger: 'schedule' as const,
      scheduledFor: at,
      queuedAt: at,
      force: false,
      dryRun: false,
    };
    await executeRun(deps, due, metadata, running);
    const last = await deps.eventStore.readLast(`run-${taskId}`);
    const document = last === null ? null : executionsProjection.reduce(null, last);
    if (document === null) throw new Error('nothing was recorded');
    await deps.readStore.save(executionsView, [{ id: runId, revision: 1, document }], runs);
    return document;
  }
  const replayOf = ({ id }: ExecutionDocument) => replayRun(deps, id, organizationId);

  it.each([
    'document.querySelector("p").textContent === "7"',
    'page.report("at", Date.now()); page.report("dice", Math.random()); console.log(Math.random()); true',
    'page.state.runs = (page.state.runs ?? 0) + 1; page.report("runs", page.state.runs); page.state.runs > 1',
    'page.report("before", page.previous?.text ?? null); page.report("n", page.previous?.values.n ?? 0); true',
    'throw new Error(`no ${Math.random()}`)',
    '"not a boolean"',
    'page.headers["content-type"] === "text/html"',
  ])('finds the same as the run of: %s', async (code) => {
    await save(code);
    const recorded = [];
    for (const text of ['<p>7', '<p>7', '<p>8', '<p>7']) {
      html = text;
      recorded.push(await run());
    }
    for (const document of recorded) {
      const { status, outcome, values, logs, snapshotId } = document;
      expect(await replayOf(document)).toMatchObject({
        same: true,
        differences: [],
        executionId: document.id,
        status,
        outcome,
        values,
        logs,
        snapshotId,
      });
    }
  });

  it('runs the code as it was at the time of the run', async () => {
    await save('true');
    const before = await run();
    await save('false');
    const after = await run();
    expect(await replayOf(before)).toMatchObject({ same: true, outcome: true, revision: 0 });
    expect(await replayOf(after)).toMatchObject({ same: true, outcome: false, revision: 1 });
  });

  it('lists the differences where the engine finds something else', async () => {
    await save('page.report("n", 1); console.log("a"); true');
    const document = await run();
    deps = {
      ...deps,
      sandbox: { ...sandbox, evaluate: (job) => sandbox.evaluate({ ...job, code: 'page.report("n", 2); false' }) },
    };
    expect(await replayOf(document)).toMatchObject({
      same: false,
      differences: [
        { path: 'outcome', from: true, to: false },
        { path: 'values.n', from: 1, to: 2 },
        { path: 'logs[0]', from: { level: 'log', message: 'a' } },
      ],
    });
  });

  it('records nothing', async () => {
    await save('true');
    const document = await run();
    const last = await deps.eventStore.readLast(`run-${taskId}`);
    await replayOf(document);
    expect(await deps.eventStore.readLast(`run-${taskId}`)).toEqual(last);
    expect((await deps.snapshots.list(taskId, 9)).length).toBe(1);
  });

  it('is refused for a run that is unknown, of another organisation, or without its snapshot', async () => {
    await save('true');
    const document = await run();
    await expect(replayRun(deps, document.id, 'org_00000000000000000000000002')).rejects.toMatchObject({
      reason: 'not_found',
    });
    await expect(replayRun(deps, 'exe_00000000000000000000009999', organizationId)).rejects.toMatchObject({
      reason: 'not_found',
    });
    await deps.snapshots.forget(taskId);
    await expect(replayOf(document)).rejects.toMatchObject({ code: 'NOT_FOUND', reason: 'snapshot_gone' });
  });

  it('of a run that lacked a number it had always had finds the same', async () => {
    await save('page.report("n", page.number(document.body, { or: null })); true');
    for (let count = 0; count < 10; count += 1) await run();
    html = '<p>sold out';
    const lost = await run();
    expect(lost).toMatchObject({
      status: 'failed',
      outcome: null,
      values: { n: null },
      error: { reason: 'value_lost' },
    });
    expect(await replayOf(lost)).toMatchObject({ same: true, error: { reason: 'value_lost' } });
  });

  it('names each task once whose last run took a number that is not there', async () => {
    await save('page.number(document.querySelector("b")) < 40');
    // As it was before such a run ended with an error.
    deps = { ...deps, sandbox: { ...sandbox, evaluate: (job) => sandbox.evaluate({ ...job, code: 'false' }) } };
    const { id, finishedAt, status, outcome } = await run();
    const document = await deps.readStore.get(tasksView, taskId);
    if (document === null || finishedAt === null) throw new Error('there is no task');
    const lastExecution = { id, finishedAt, status, outcome, durationMs: 1, value: null, reason: null };
    await deps.readStore.save(
      tasksView,
      [{ id: taskId, revision: 1_000, document: { ...document, lastExecution } }],
      null,
    );
    const warned: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warned.push(fields) };
    const sharedState = createDocumentState(deps.readStore);
    for (let start = 0; start < 2; start += 1) {
      await missingNumbers({ ...deps, sandbox, logger, sharedState }).sweep();
    }
    expect(warned).toEqual([{ taskId, fault: expect.stringContaining('page.number was given null') }]);
  });

  it('finds a run far back among many', async () => {
    await save('page.report("at", Date.now()); true');
    const early = await run();
    clock.ms += 3_600_000;
    for (let count = 0; count < 30; count += 1) await run();
    const late = await run();
    expect(await replayOf(early)).toMatchObject({ same: true, values: early.values });
    expect(await replayOf(late)).toMatchObject({ same: true, values: late.values });
  });

  it('answers the request of another service', async () => {
    await save('true');
    const { id } = await run();
    const bus = createSqliteBus(':memory:', silentLogger);
    const tests = createTestRuns(deps);
    const queries = new RunQueryHandler(deps, tests, createBacktests(deps));
    const sharedState = createDocumentState(deps.readStore);
    const ports = { ...deps, bus, sharedState, commands: queries, queries };
    const { responders = [] } = createExecutionService(ports, tests, keepingAll);
    const running = await runService({ name: 'execution', projections: [], responders }, ports);
    const context = { organizationId, actor: 'key', requestId: 'req_2' };
    expect(await bus.request(requests.runReplay, { executionId: id }, context)).toMatchObject({ same: true });
    await expect(bus.request(requests.runReplay, { executionId: '../..' }, context)).rejects.toThrow('executionId');
    await running.stop();
    await bus.close();
  });
});

describe('the differences of a replay', () => {
  it('name each path once, in both directions', () => {
    const one = { status: 'succeeded', outcome: true, values: { a: 1, b: { c: [1] } }, logs: [], error: null } as const;
    const other = {
      ...({ status: 'failed', outcome: null, values: { b: { c: [2] }, d: null }, logs: [] } as const),
      error: { reason: 'threw', message: 'no', line: 1 },
    };
    expect(differencesBetween({ ...one, logs: [] }, { ...other, logs: [] })).toEqual([
      { path: 'status', from: 'succeeded', to: 'failed' },
      { path: 'outcome', from: true, to: null },
      { path: 'error.reason', to: 'threw' },
      { path: 'error.line', to: 1 },
      { path: 'values.a', from: 1 },
      { path: 'values.b', from: { c: [1] }, to: { c: [2] } },
      { path: 'values.d', to: null },
    ]);
    expect(taskSpec.safeParse(specOf('true')).success).toBe(true);
  });
});
