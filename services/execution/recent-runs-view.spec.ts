import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mostRecentRuns, mostRecentValues, toRecentRuns, type RecentRunsDocument } from '#contracts/recent-runs';
import { runStream } from '#contracts/run';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { recentRunsProjection } from './recent-runs-view.js';
import { document, due, playRuns, taskId, type PlayedRuns } from './run.kit.js';

describe('the view of recent runs', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let runs: PlayedRuns;

  beforeEach(async () => {
    runs = playRuns(sandbox);
    const evaluationFunction = `const n = page.number(document.querySelector('p')); page.report('value', n > 90 ? 'many' : n); return n > 5`;
    await runs.saveTask(document({ evaluationFunction }));
  });

  afterEach(() => runs.close());
  afterAll(() => sandbox.close());

  async function afterRuns(...numbers: readonly number[]): Promise<RecentRunsDocument | null> {
    await runs.runOn(...numbers.map((number) => `<p>${number}`));
    const events = await Array.fromAsync(runs.deps.eventStore.read(runStream(taskId)));
    return events.reduce<RecentRunsDocument | null>(recentRunsProjection.reduce, null);
  }

  it('has the last runs and the last numbers, oldest first', async () => {
    const recent = toRecentRuns(await afterRuns(1, 7, 99, 8));
    expect(recent.runs.map(({ outcome, notified }) => [outcome, notified])).toEqual([
      [false, false],
      [true, true],
      [true, false],
      [true, false],
    ]);
    expect(recent.runs[1]).toMatchObject({ id: due(120).runId, status: 'succeeded' });
    expect(recent.values.map(({ value }) => value)).toEqual([1, 7, 8]);
    expect(recent.values[1]?.at).toBe(recent.runs[1]?.at);
  });

  it('keeps no more than a list shows', async () => {
    const found = await afterRuns(...Array.from({ length: mostRecentRuns + 2 }, (_, at) => at + 1));
    expect([found?.runs.length, found?.values.length]).toEqual([mostRecentRuns, mostRecentValues]);
    expect(found?.values.at(-1)?.[1]).toBe(mostRecentRuns + 2);
  });

  it('gives the newest run alone, with its number where it has one', async () => {
    const text = await afterRuns(7, 99);
    expect(toRecentRuns(text, true)).toMatchObject({ runs: [{ id: due(120).runId }], values: [] });
    expect(toRecentRuns(await afterRuns(8), true)).toMatchObject({ values: [{ value: 8 }] });
    expect(toRecentRuns(null)).toEqual({ runs: [], values: [] });
  });
});
