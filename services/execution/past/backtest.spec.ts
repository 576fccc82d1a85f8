import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { wholePolicy, type Policy } from '#contracts/policy';
import type { Backtest, BacktestQuery } from '#contracts/run';
import { taskStream } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import type { RunDeps } from '../run.js';
import { document, metadata, playRuns, start, taskId, type PlayedRuns } from '../run.kit.js';
import { backtestTask } from './backtest.js';
import { createBacktests } from './backtests.js';
import { mostAhead } from './judge.js';

const { organizationId } = metadata;
const liveCode = `page.report('value', page.number(document.querySelector('p'))); return page.number(document.querySelector('p')) < 40`;

describe('a backtest', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let runs: PlayedRuns;
  let deps: RunDeps;

  beforeEach(async () => {
    runs = playRuns(sandbox);
    ({ deps } = runs);
    const task = document({ evaluationFunction: liveCode });
    await runs.saveTask(task);
    const created = {
      type: 'task.created',
      data: { spec: task.spec, status: 'active', createdBy: 'key:key_1' },
    } as const;
    await deps.eventStore.append(taskStream(taskId), encodeEvents([created], { commandId: 'made', metadata }), 'none');
  });

  afterEach(() => runs.close());
  afterAll(() => sandbox.close());

  const ask = (
    candidate: { readonly code?: string; readonly policy?: Partial<Policy> } = {},
    more: Partial<BacktestQuery> = {},
  ): Promise<Backtest> =>
    backtestTask(
      deps,
      {
        taskId,
        candidate: {
          evaluationFunction: candidate.code ?? liveCode,
          codeForm: 'body',
          policy: { ...wholePolicy({ notifyOn: 'became_true', errorThreshold: 1 }), ...candidate.policy },
        },
        from: null,
        to: null,
        limit: 100,
        ...more,
      },
      organizationId,
    );

  it('decides as the task did where nothing differs', async () => {
    await runs.runOn('<p>50', '<p>30', '<p>31', '<p>60', null, '<p>20');
    const { summary, snapshots } = await ask();
    expect(summary).toEqual({ snapshots: 5, wouldNotify: 2, didNotify: 2, onlyNew: 0, onlyOld: 0, complete: true });
    for (const { outcome, decision, recorded } of snapshots) expect({ outcome, decision }).toEqual(recorded);
    expect(snapshots.map(({ value }) => value)).toEqual([50, 30, 31, 60, 20]);
  });

  it('shows what other code would have notified, and what it would not', async () => {
    await runs.runOn('<p>50', '<p>30', '<p>50', '<p>70');
    const { summary, snapshots } = await ask({ code: `return page.number(document.querySelector('p')) > 60` });
    expect(summary).toMatchObject({ wouldNotify: 1, didNotify: 1, onlyNew: 1, onlyOld: 1 });
    expect(snapshots.map(({ outcome }) => outcome)).toEqual([false, false, false, true]);
    expect(snapshots.map(({ decision }) => decision.reason)).toEqual([
      'not_true',
      'not_true',
      'not_true',
      'became_true',
    ]);
  });

  it('applies another policy to the runs in their order', async () => {
    await runs.runOn('<p>30', '<p>50', '<p>30', '<p>31');
    const { snapshots } = await ask({ policy: { confirmations: 2 } });
    expect(snapshots.map(({ decision }) => decision.reason)).toEqual([
      'awaiting_confirmation',
      'not_true',
      'awaiting_confirmation',
      'became_true',
    ]);
  });

  it('counts every run on a page that stayed', async () => {
    await runs.runOn('<p>50', '<p>30', '<p>30', '<p>30');
    const { snapshots } = await ask({ policy: { confirmations: 3 } });
    expect(snapshots.map(({ runs }) => runs)).toEqual([1, 3]);
    expect(snapshots[1]).toMatchObject({ decision: { notify: true }, recorded: { decision: { notify: true } } });
  });

  it('counts the messages of each run on a page that stayed', async () => {
    await runs.runOn('<p>30', '<p>30', '<p>30', '<p>30');
    const { summary } = await ask({ policy: { notifyOn: 'every_true' } });
    expect(summary).toMatchObject({ snapshots: 1, wouldNotify: 4, didNotify: 1, onlyNew: 3, onlyOld: 0 });
    const later = (await ask({ policy: { confirmations: 2 } })).summary;
    expect(later).toMatchObject({ snapshots: 1, wouldNotify: 1, didNotify: 1, onlyNew: 1, onlyOld: 1 });
  });

  it('counts the reminders that were sent on a page that stayed', async () => {
    const { spec, ...task } = document({ evaluationFunction: liveCode });
    const policy = { ...spec.policy, reminderSeconds: 1 };
    await runs.saveTask({ ...task, spec: { ...spec, policy } });
    await runs.runOn('<p>30', '<p>30', '<p>30', '<p>30');
    const { summary } = await ask({ policy: { reminderSeconds: 0 } });
    expect(summary).toMatchObject({ snapshots: 1, wouldNotify: 1, didNotify: 4, onlyNew: 0, onlyOld: 3 });
  });

  it('carries the state and the text of the page before from run to run', async () => {
    await runs.runOn('<p>1', '<p>2', '<p>3');
    const code = `page.state.sum = (page.state.sum ?? 0) + page.number(document.querySelector('p'));
      page.report('value', [page.state.sum, page.previous?.text ?? null]); return false`;
    const { snapshots } = await ask({ code });
    expect(snapshots.map(({ value }) => value)).toEqual([
      [1, null],
      [3, '<p>1'],
      [6, '<p>2'],
    ]);
  });

  it('goes on from the state of the task before the time that is asked for', async () => {
    await runs.runOn('<p>30', '<p>31', '<p>32');
    const { snapshots } = await ask({}, { from: new Date(start + 120_000).toISOString() });
    expect(snapshots.map(({ decision }) => decision.reason)).toEqual(['still_true', 'still_true']);
    const before = await ask({}, { to: new Date(start + 60_000).toISOString() });
    expect(before.snapshots.map(({ decision }) => decision.reason)).toEqual(['became_true']);
  });

  it('judges the newest pages where there are more than asked for', async () => {
    await runs.runOn('<p>30', '<p>31', '<p>50', '<p>32');
    const { snapshots, summary } = await ask({}, { limit: 2 });
    expect(snapshots.map(({ value }) => value)).toEqual([50, 32]);
    expect(summary).toMatchObject({ wouldNotify: 1, didNotify: 1 });
  });

  it('tells code that fails, and records nothing', async () => {
    await runs.runOn('<p>30', '<p>31');
    const events = await Array.fromAsync(deps.eventStore.read(`run-${taskId}`));
    const { snapshots } = await ask({ code: 'throw new Error("no")', policy: { errorThreshold: 2 } });
    expect(snapshots.map(({ error }) => error?.reason)).toEqual(['threw', 'threw']);
    expect(snapshots[1]?.decision).toMatchObject({ notify: true, reason: 'error_threshold' });
    expect(await Array.fromAsync(deps.eventStore.read(`run-${taskId}`))).toEqual(events);
  });

  it('reads no further ahead than it evaluates, however long the history is', async () => {
    await runs.runOn(...Array.from({ length: 80 }, (_, at) => `<p>${at}`));
    let [read, judged, furthest] = [0, 0, 0];
    const stored = deps.eventStore;
    const eventStore = {
      ...stored,
      async *read(...asked: Parameters<typeof stored.read>) {
        for await (const event of stored.read(...asked)) {
          if (event.type === 'run.recorded' && judged > 0) read += 1;
          furthest = Math.max(furthest, read - judged);
          yield event;
        }
      },
    };
    const evaluateAll: typeof sandbox.evaluateAll = async (batch) => {
      judged += batch.visits.length;
      return sandbox.evaluateAll(batch);
    };
    deps = { ...deps, eventStore, sandbox: { ...sandbox, evaluateAll } };
    expect((await ask()).summary.snapshots).toBe(80);
    expect(judged).toBeGreaterThanOrEqual(80);
    expect(furthest).toBeLessThanOrEqual(mostAhead);
  });

  it('finds on pages that go to the sandbox together what it finds on each alone', async () => {
    const pages = Array.from({ length: 60 }, (_, at) => (at % 9 === 8 ? null : `<p>${(at * 37) % 80}`));
    await runs.runOn(...pages, '<p>1', '<p>1', 'nothing');
    const codes = [
      liveCode,
      `if (page.number(document.querySelector('p')) % 7 === 0) throw new Error('seven'); return true`,
      `if (page.number(document.querySelector('p')) > 60) page.state.high = true; return page.state.high === true`,
      `page.report('value', [Math.random(), Date.now()]); return page.previous?.text === page.text`,
    ];
    for (const code of codes) {
      const single: typeof sandbox.evaluateAll = async ({ visits, ...shared }) => {
        const results = [];
        for (const visit of visits) results.push(await sandbox.evaluate({ ...shared, ...visit }));
        return results;
      };
      deps = { ...deps, sandbox };
      const together = await ask({ code });
      deps = { ...deps, sandbox: { ...sandbox, evaluateAll: single } };
      expect(together).toEqual(await ask({ code }));
    }
  });

  it('is unknown to another organisation, and has no pages where nothing ran', async () => {
    expect((await ask()).snapshots).toEqual([]);
    const query = {
      taskId,
      candidate: {
        evaluationFunction: 'true',
        codeForm: 'script',
        policy: wholePolicy({ notifyOn: 'became_true', errorThreshold: 1 }),
      },
    } as const;
    await expect(
      backtestTask(deps, { ...query, from: null, to: null, limit: 1 }, 'org_00000000000000000000000009'),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('runs once at a time for an organisation', async () => {
    await runs.runOn('<p>30');
    const backtests = createBacktests(deps);
    const candidate = {
      evaluationFunction: 'true',
      codeForm: 'script',
      policy: wholePolicy({ notifyOn: 'became_true', errorThreshold: 1 }),
    } as const;
    const query: BacktestQuery = { taskId, candidate, from: null, to: null, limit: 1 };
    const first = backtests.run(query, organizationId);
    await expect(backtests.run(query, organizationId)).rejects.toMatchObject({ reason: 'too_many_backtests' });
    expect((await first).snapshots).toHaveLength(1);
    expect((await backtests.run(query, organizationId)).snapshots).toHaveLength(1);
  });
});
