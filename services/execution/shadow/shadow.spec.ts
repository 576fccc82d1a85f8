import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runStream } from '#contracts/run';
import type { ShadowDocument } from '#contracts/shadow';
import { taskStream, type Shadow, type TaskEvent } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { document, metadata, playRuns, taskId, type PlayedRuns } from '../run.kit.js';
import { shadowsProjection } from './shadow-view.js';

const candidate = (more: Partial<Shadow>): Shadow => ({
  evaluationFunction: null,
  codeForm: null,
  policy: null,
  startedAt: metadata.at,
  startedBy: 'key:key_1',
  ...more,
});

describe('a candidate beside a task', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let runs: PlayedRuns;

  beforeEach(() => {
    runs = playRuns(sandbox);
  });

  afterEach(() => runs.close());
  afterAll(() => sandbox.close());

  async function put(shadow: Shadow | undefined): Promise<void> {
    const { deps } = runs;
    const task = document({ policy: { notifyOn: 'became_true', errorThreshold: 1 } });
    await runs.saveTask(shadow === undefined ? task : { ...task, shadow });
    const events: TaskEvent[] =
      shadow === undefined
        ? [{ type: 'task.shadow_ended', data: { reason: 'removed' } }]
        : [{ type: 'task.shadow_started', data: { shadow } }];
    const last = await deps.eventStore.readLast(taskStream(taskId));
    const encoded = encodeEvents(events, { commandId: `put ${last?.revision ?? -1}`, metadata });
    await deps.eventStore.append(taskStream(taskId), encoded, last?.revision ?? 'none');
  }

  async function figures(): Promise<ShadowDocument | null> {
    const streams = await Promise.all(
      [taskStream(taskId), runStream(taskId)].map((stream) => Array.fromAsync(runs.deps.eventStore.read(stream))),
    );
    const events: readonly RecordedEvent[] = streams.flat().toSorted((one, other) => one.position - other.position);
    return events
      .filter((event) => shadowsProjection.idOf(event) === taskId)
      .reduce<ShadowDocument | null>(shadowsProjection.reduce, null);
  }

  it('decides on every page what its own code finds, and sends nothing', async () => {
    await put(
      candidate({ evaluationFunction: `return document.querySelector('#p').textContent === 'no'`, codeForm: 'body' }),
    );
    const recorded = await runs.runOn('<p id=p>no', '<p id=p>yes', '<p id=p>yes', '<p id=p>no');
    expect(recorded.map(({ result, shadow }) => [result.outcome, shadow?.outcome])).toEqual([
      [false, true],
      [true, false],
      [true, false],
      [false, true],
    ]);
    expect(recorded.map(({ notifications }) => notifications.length)).toEqual([0, 1, 0, 0]);
    expect(recorded.map(({ shadow }) => shadow?.decision.reason)).toEqual([
      'became_true',
      'no_actions',
      'not_true',
      'became_true',
    ]);
    expect(await figures()).toMatchObject({ runs: 4, same: 1, onlyLive: 1, onlyShadow: 2, failed: 0 });
    expect((await figures())?.differences.map(({ at }) => at)).toEqual(
      recorded
        .flatMap(({ result, decision, shadow }) =>
          decision.notify === shadow?.decision.notify ? [] : [result.finishedAt],
        )
        .toReversed(),
    );
  });

  it('applies its own policy to what the live code finds', async () => {
    await put(candidate({ policy: { notifyOn: 'became_true', errorThreshold: 1, confirmations: 2 } }));
    const recorded = await runs.runOn('<p id=p>yes', '<p id=p>yes', '<p id=p>yes');
    expect(recorded.map(({ decision }) => decision.notify)).toEqual([true, false, false]);
    expect(recorded.map(({ shadow }) => shadow?.decision.reason)).toEqual([
      'awaiting_confirmation',
      'became_true',
      'still_true',
    ]);
    expect(await figures()).toMatchObject({ runs: 3, same: 1, onlyLive: 1, onlyShadow: 1 });
  });

  it('counts a failure of its own code as failed alone, and one of the page as the same', async () => {
    await put(candidate({ evaluationFunction: 'throw new Error("no")', codeForm: 'body' }));
    const recorded = await runs.runOn(null, '<p id=p>no');
    expect(recorded.map(({ result }) => result.status)).toEqual(['failed', 'succeeded']);
    const found = await figures();
    expect(found).toMatchObject({ runs: 2, same: 1, failed: 1, onlyLive: 0, onlyShadow: 0 });
    expect(found?.differences).toMatchObject([{ shadow: { outcome: null, error: { reason: 'threw' } } }]);
  });

  it('keeps a state of its own from run to run', async () => {
    const code = `page.state.runs = (page.state.runs ?? 0) + 1; return page.state.runs > 2`;
    await put(candidate({ evaluationFunction: code, codeForm: 'body' }));
    const recorded = await runs.runOn('<p id=p>no', '<p id=p>no', '<p id=p>no');
    expect(recorded.map(({ shadow }) => shadow?.outcome)).toEqual([false, false, true]);
    expect(recorded.at(-1)?.alert.state).toEqual({});
  });

  it('starts from what the task has told, and begins anew where another is put in its place', async () => {
    await put(candidate({ policy: { notifyOn: 'became_true', errorThreshold: 1 } }));
    await runs.runOn('<p id=p>yes');
    await put(
      candidate({ policy: { notifyOn: 'every_true', errorThreshold: 1 }, startedAt: '2026-11-21T10:01:30.000Z' }),
    );
    const recorded = await runs.runOn('<p id=p>yes');
    expect(recorded.at(-1)?.shadow?.decision.reason).toBe('every_true');
    expect(await figures()).toMatchObject({ runs: 1, onlyShadow: 1 });
    await put(undefined);
    expect((await runs.runOn('<p id=p>no')).at(-1)).not.toHaveProperty('shadow');
    expect(await figures()).toBeNull();
  });
});
