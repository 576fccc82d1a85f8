import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queuedExecution, type ExecutionDocument, type RunEvent } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { OutboundAnswer, OutboundFailure } from '#outbound/outbound';
import { awaitedOf } from '#read-store/awaited-views';
import type { JsonObject } from '#runtime/json';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { frozenEvents } from '#contracts/frozen-events.kit';
import { defaultSandboxLimits } from '#sandbox/sandbox';
import {
  closeRunDeps,
  document,
  down,
  due,
  metadata,
  page,
  runDeps,
  saveTasks,
  scriptedOutbound,
  start,
  taskId,
} from './run.kit.js';
import { settled } from '#eventing/projected';
import { executionsProjection } from './execution-view.js';
import { executeRun, type RunDeps } from './run.js';

const running = new AbortController().signal;

describe('a due run', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let answer: () => OutboundAnswer | OutboundFailure;
  let parts: RunDeps;

  beforeEach(async () => {
    answer = () => page('<p id="p">yes</p>');
    parts = runDeps(
      sandbox,
      scriptedOutbound(() => answer()),
    );
    await saveTasks(parts, [document()]);
  });
  afterEach(() => closeRunDeps(parts));
  // The workers outlive the specs that share them.
  afterAll(() => sandbox.close());

  const recorded = async (): Promise<Extract<RunEvent, { type: 'run.recorded' }>['data'][]> => {
    const events = await Array.fromAsync(parts.eventStore.read(`run-${taskId}`));
    return events.flatMap((stored) => {
      const event = decodeEvent<RunEvent>(stored);
      return event.type === 'run.recorded' ? [event.data] : [];
    });
  };

  it('is recorded with result, decision and notification requests in one event', async () => {
    await executeRun(parts, due(0), metadata, running);
    const [only, ...more] = await recorded();
    expect(more).toEqual([]);
    expect(only).toMatchObject({
      result: { runId: due(0).runId, status: 'succeeded', outcome: true, values: { value: 7 }, seed: due(0).runId },
      decision: { notify: true, reason: 'became_true' },
      late: false,
      notifications: [{ taskId, executionId: due(0).runId, kind: 'triggered', expiresAt: '2026-11-21T10:01:00.000Z' }],
      alert: { condition: 'true', told: 'true', episode: 1 },
    });
  });

  it('keeps on record why the code may have found nothing on a page that is empty without its scripts', async () => {
    const searching = document({ evaluationFunction: `return document.body.textContent.includes('sold out')` });
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 2, document: searching }], 2);
    const shell = '<script src="/app.js"></script><div id="root"></div>';
    answer = () => page(shell);
    await executeRun(parts, due(0), metadata, running);
    await executeRun(parts, due(10), metadata, running);
    answer = () => page('<script src="/app.js"></script><div id="root">in stock</div>');
    await executeRun(parts, due(20), metadata, running);
    const results = (await recorded()).map(({ result }) => result);
    const hint = expect.stringContaining('without its scripts');
    expect(results).toMatchObject([
      { outcome: false, hint },
      { outcome: false, hint, page: { fromCache: true } },
      { outcome: false },
    ]);
    expect(results[2]).not.toHaveProperty('hint');
    const events = await Array.fromAsync(parts.eventStore.read(`run-${taskId}`));
    const shown = events.map((event) => settled(executionsProjection.reduce(null, event)));
    expect(shown.map((one) => one?.hint)).toEqual([hint, hint, undefined]);
  });

  it('is recorded once, however often it is handed over', async () => {
    await executeRun(parts, due(0), metadata, running);
    await executeRun(parts, due(0), metadata, running);
    await Promise.allSettled([
      executeRun(parts, due(10), metadata, running),
      executeRun(parts, due(10), metadata, running),
    ]);
    expect((await recorded()).map(({ result }) => result.runId)).toEqual([due(0).runId, due(10).runId]);
  });

  it('makes no claim where no other process could begin it and it ends soon', async () => {
    await executeRun({ ...parts, leases: { ...parts.leases, isAlone: true } }, due(0), metadata, running);
    expect(await recorded()).toHaveLength(1);
    expect(await parts.eventStore.readLast(`claim-${due(0).taskId}`)).toBe(null);
  });

  it('claims itself where it takes longer', async () => {
    const alone = { ...parts.leases, isAlone: true };
    const begun = Promise.withResolvers<void>();
    const eventStore: RunDeps['eventStore'] = {
      ...parts.eventStore,
      async append(stream, events, expected) {
        const appended = await parts.eventStore.append(stream, events, expected);
        if (stream.startsWith('claim-')) begun.resolve();
        return appended;
      },
    };
    const pageLoader: RunDeps['pageLoader'] = {
      ...parts.pageLoader,
      async load(request) {
        await begun.promise;
        return parts.pageLoader.load(request);
      },
    };
    await executeRun({ ...parts, eventStore, pageLoader, leases: alone }, due(0), metadata, running);
    expect(await recorded()).toHaveLength(1);
    expect((await parts.eventStore.readLast(`claim-${due(0).taskId}`))?.data).toMatchObject({ worker: 'w1' });
  });

  it('is left to the living process that claimed it, and taken over from a dead one with the same deliveries', async () => {
    const lost = { ...parts, eventStore: { ...parts.eventStore, append: refuseRunStream(parts.eventStore) } };
    await expect(executeRun(lost, due(0), metadata, running)).rejects.toThrow('the process dies here');
    expect(await recorded()).toEqual([]);
    const another = { ...parts.leases, memberId: 'w2' };
    // Rejected, and so handed over again: should w1 have given it up, no other process may hear of it.
    const besideLiving = { ...parts, leases: { ...another, isLiving: () => true } };
    await expect(executeRun(besideLiving, due(0), metadata, running)).rejects.toMatchObject({ reason: 'run_claimed' });
    expect(await recorded()).toEqual([]);
    await executeRun({ ...parts, leases: { ...another, isLiving: (id) => id === 'w2' } }, due(0), metadata, running);
    const [first] = await recorded();
    const claims = await Array.fromAsync(parts.eventStore.read(`claim-${due(0).taskId}`));
    expect(claims.map(({ data }) => data['worker'])).toEqual(['w1', 'w2']);
    expect(first?.notifications).toHaveLength(1);
  });

  it('is taken over from a living process that gave it up, once its claim has run out', async () => {
    const lost = { ...parts, eventStore: { ...parts.eventStore, append: refuseRunStream(parts.eventStore) } };
    await expect(executeRun(lost, due(0), metadata, running)).rejects.toThrow('the process dies here');
    const another = { ...parts.leases, memberId: 'w2', isLiving: () => true };
    const at = (milliseconds: number) => ({ ...parts, leases: another, clock: { now: () => start + milliseconds } });
    await expect(executeRun(at(29_999), due(0), metadata, running)).rejects.toMatchObject({ reason: 'run_claimed' });
    expect(await recorded()).toEqual([]);
    await executeRun(at(30_000), due(0), metadata, running);
    expect(await recorded()).toHaveLength(1);
  });

  it('that does not end in time where its process stops is on record as cancelled, and begins anew at once', async () => {
    const answers = Promise.withResolvers<void>();
    const loading = Promise.withResolvers<void>();
    const pageLoader: RunDeps['pageLoader'] = {
      ...parts.pageLoader,
      async load(request) {
        loading.resolve();
        await answers.promise;
        return parts.pageLoader.load(request);
      },
    };
    const stopping = new AbortController();
    const hanging = executeRun({ ...parts, pageLoader, finishWithinMs: 1 }, due(0), metadata, stopping.signal);
    await loading.promise;
    stopping.abort();
    await expect(hanging).rejects.toMatchObject({ reason: 'shutting_down' });
    const claims = await Array.fromAsync(parts.eventStore.read(`claim-${due(0).taskId}`));
    expect(claims.map(({ type }) => type)).toEqual(['run.started', 'run.cancelled']);
    const shown = async () => {
      const events = await Array.fromAsync(parts.eventStore.read(`claim-${due(0).taskId}`));
      return events.reduce<ExecutionDocument | null>(
        (document, event) => settled(executionsProjection.reduce(document, event)),
        queuedExecution(due(0), metadata.organizationId),
      );
    };
    expect(await shown()).toMatchObject({ status: 'cancelled', error: { reason: 'shutdown' }, finishedAt: null });
    const another = { ...parts.leases, memberId: 'w2', isLiving: () => true };
    await executeRun({ ...parts, leases: another }, due(0), metadata, running);
    expect(await shown()).toMatchObject({ status: 'running', error: null });
    expect(await recorded()).toHaveLength(1);
    // What the first worker finds after all changes nothing.
    answers.resolve();
    expect(await recorded()).toHaveLength(1);
  });

  it('records that the task backs off, and why, where its code has the worker ended three times in a row', async () => {
    const endless = { ...document(), spec: { ...document().spec, evaluationFunction: 'return new Array(1e9) + ""' } };
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 2, document: endless }], 2);
    const hasty = { ...parts, limits: { ...defaultSandboxLimits, cpuMs: 20 } };
    for (const slot of [0, 10, 20]) await executeRun(hasty, due(slot), metadata, running);
    const runs = await recorded();
    expect(runs.map(({ result }) => result.error?.reason)).toEqual(['cpu_limit', 'cpu_limit', 'cpu_limit']);
    expect(runs.map(({ alert }) => alert.timesEnded)).toEqual([1, 2, 3]);
    expect(runs.map(({ result }) => result.error?.message.includes('runs are 4 intervals apart'))).toEqual([
      false,
      false,
      true,
    ]);
    expect(runs.at(-1)?.alert.health).toBe('error');
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 3, document: document() }], 3);
    await executeRun(parts, due(30), metadata, running);
    expect((await recorded()).at(-1)?.alert).toMatchObject({ health: 'ok', condition: 'true' });
    expect((await recorded()).at(-1)?.alert.timesEnded).toBeUndefined();
  });

  it('is recorded as failed with the reason of a page that cannot be loaded, and notifies at the threshold', async () => {
    answer = () => down;
    await executeRun(parts, due(0), metadata, running);
    const [only] = await recorded();
    expect(only).toMatchObject({
      result: { status: 'failed', outcome: null, error: { reason: 'connect_failed' } },
      decision: { notify: true, reason: 'error_threshold' },
      notifications: [{ kind: 'error', context: { hint: expect.stringContaining('Nobody listens there') } }],
      alert: { condition: 'unknown', health: 'error' },
    });
  });

  it.each([
    ['address_denied', {}],
    ['browser_unavailable', { fetch: { ...document().spec.fetch, mode: 'browser' } }],
    ['syntax_error', { evaluationFunction: 'return (' }],
  ] as const)('that this instance refuses with %s makes health blocked, and says so, at once', async (reason, more) => {
    const spec = { ...document().spec, ...more, policy: { notifyOn: 'became_true', errorThreshold: 100 } } as const;
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 2, document: { ...document(), spec } }], 2);
    if (reason === 'address_denied') answer = () => ({ ...down, reason });
    await executeRun(parts, due(0), metadata, running);
    expect((await recorded())[0]).toMatchObject({
      result: { status: 'failed', error: { reason } },
      decision: { notify: true, reason: 'error_threshold', transition: { from: 'ok', to: 'blocked' } },
      notifications: [{ kind: 'error' }],
      alert: { health: 'blocked' },
    });
  });

  it('is recorded as failed where its values cannot be stored, instead of being tried again for ever', async () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level += 1) deep = { deep };
    const timings = { parseMs: 0, evaluateMs: 0 };
    const overflowing: RunDeps['sandbox'] = {
      ...sandbox,
      evaluate: async () => ({ ok: true, outcome: true, values: { deep }, logs: [], timings, state: {} }),
    };
    await executeRun({ ...parts, sandbox: overflowing }, due(0), metadata, running);
    const [only] = await recorded();
    expect(only).toMatchObject({
      result: { status: 'failed', outcome: null, values: {}, error: { reason: 'output_limit' } },
      decision: { notify: true, reason: 'error_threshold' },
    });
  });

  it('is recorded with the line in the code where it throws', async () => {
    const broken = document({
      evaluationFunction: `\nreturn document.querySelector('#none').textContent`,
      codeForm: 'body',
    });
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 2, document: broken }], 2);
    await executeRun(parts, due(0), metadata, running);
    const [only] = await recorded();
    expect(only?.result).toMatchObject({ status: 'failed', outcome: null, error: { reason: 'threw', line: 2 } });
  });

  it('is recorded as late where a later slot was decided before', async () => {
    await executeRun(parts, due(10), metadata, running);
    await executeRun(parts, due(0), metadata, running);
    const [, late] = await recorded();
    expect(late).toMatchObject({ late: true, notifications: [], decision: { notify: false } });
    await executeRun(parts, due(0), metadata, running);
    expect(await recorded()).toHaveLength(2);
  });

  it('is over where its day was folded, and nothing else is left of it', async () => {
    await executeRun(parts, due(10), metadata, running);
    const stored: JsonObject = frozenEvents().find(({ type }) => type === 'runs.folded')?.stored ?? {};
    const state = { ...(stored['state'] as JsonObject), runsThrough: due(0).queuedAt.slice(0, 10) };
    const folded = { id: crypto.randomUUID(), type: 'runs.folded', version: 1, data: { ...stored, state }, metadata };
    await parts.eventStore.append(`stats-${due(0).taskId}`, [folded], 'none');
    await executeRun(parts, due(0), metadata, running);
    expect((await recorded()).map(({ result }) => result.runId)).toEqual([due(10).runId]);
  });

  it('is cancelled where its task was archived, and tried again where the view only lags', async () => {
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 9, document: null }], 9);
    const event = { id: 'e1', type: 'task.created', version: 1, data: {}, metadata };
    await parts.eventStore.append(`task-${taskId}`, [event], 'none');
    await expect(executeRun(parts, due(0), metadata, running)).rejects.toMatchObject({ reason: 'view_behind' });
    expect(awaitedOf(parts.readStore, tasksView).position).toBe(
      (await parts.eventStore.readLast(`task-${taskId}`))?.position,
    );
    // The next process need not wait for a claim to run out.
    expect(await parts.eventStore.readLast(`claim-${due(0).taskId}`)).toBe(null);
    await parts.eventStore.append(`task-${taskId}`, [{ ...event, id: 'e2', type: 'task.archived' }], 0);
    await executeRun(parts, due(0), metadata, running);
    const [only] = await recorded();
    expect(only).toMatchObject({ result: { status: 'cancelled' }, decision: { notify: false }, notifications: [] });
  });
});

function refuseRunStream(eventStore: RunDeps['eventStore']): RunDeps['eventStore']['append'] {
  return async (stream, events, expected) => {
    if (stream.startsWith('run-')) throw new Error('the process dies here');
    return eventStore.append(stream, events, expected);
  };
}
