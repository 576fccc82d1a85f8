/** Runs whose pages need a browser go another way than all others. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BusMessage } from '#bus/bus';
import { claimStream, runStream } from '#contracts/run';
import type { DueRun } from '#contracts/schedule';
import type { LoadFailure, PageLoader } from '#page-loader/page-loader';
import type { Sandbox } from '#sandbox/sandbox';
import { createDueRuns } from './due-runs.js';
import {
  closeRunDeps,
  document,
  due,
  metadata,
  page,
  runDeps,
  saveTasks,
  scriptedOutbound,
  taskId,
} from './run.kit.js';
import type { RunDeps } from './run.js';

/** Tasks of mode `browser`. */
const many = Array.from({ length: 40 }, (_, number) => `ntf_${String(number + 2).padStart(26, '0')}`);
const [rendered = ''] = many;
const never = new AbortController().signal;

/** Answers true, whatever it is given. */
const sandbox = {
  evaluate: async () => ({
    ok: true,
    outcome: true,
    values: {},
    logs: [],
    state: {},
    touched: [],
    timings: { parseMs: 0, evaluateMs: 0 },
  }),
} as unknown as Sandbox;

let deps: RunDeps;
let waiting: ((failure: LoadFailure) => void)[];
beforeEach(async () => {
  waiting = [];
  const parts = runDeps(
    sandbox,
    scriptedOutbound(() => page('<p id="p">yes')),
  );
  const http = parts.pageLoader;
  const pageLoader: PageLoader = {
    load: (request) => (request.mode === 'http' ? http.load(request) : new Promise((resolve) => waiting.push(resolve))),
    loadIfChanged: (request, known) => http.loadIfChanged(request, known),
    close: () => http.close(),
  };
  deps = { ...parts, pageLoader };
  const browser = document({ fetch: { mode: 'browser', retry: { attempts: 1 } } });
  await saveTasks(deps, [document(), ...many.map((id) => ({ ...browser, id }))]);
});
afterEach(() => closeRunDeps(deps));

function message(run: DueRun): BusMessage {
  const { runId: id, taskId: key } = run;
  return { id, type: 'run.due', key, data: { run: { ...run } }, metadata: { ...metadata, causationId: null } };
}
const recorded = async (id: string): Promise<number> =>
  (await Array.fromAsync(deps.eventStore.read(runStream(id)))).length;

describe('a due run whose page needs a browser', () => {
  it('is handed over before it is begun, and any other is carried out at once', async () => {
    const handed: BusMessage[] = [];
    const handle = createDueRuns(deps, async (one) => void handed.push(one));
    const slow = message({ ...due(0), taskId: rendered });
    await handle(slow, never);
    await handle(message(due(0)), never);
    expect(handed).toEqual([slow]);
    expect([await recorded(rendered), await recorded(taskId)]).toEqual([0, 1]);
    expect(await deps.eventStore.readLast(claimStream(rendered))).toBe(null);
  });

  it('delays no other where browsers have more to do than they can', async () => {
    const rendering = createDueRuns(deps, null);
    const running = new Set<Promise<void>>();
    const plain = createDueRuns(deps, async (one) => void running.add(rendering(one, never)));
    for (const [second, id] of many.entries()) {
      await plain(message({ ...due(900 + second), taskId: id }), never);
      await plain(message(due(second)), never);
    }
    expect([await recorded(taskId), await recorded(rendered)]).toEqual([many.length, 0]);
    const gone = { finalUrl: 'https://example.com/', status: null, attempts: 1, fetchMs: 1 };
    const failure: LoadFailure = { ok: false, reason: 'timed_out', message: 'late', ...gone };
    for (const resolve of waiting.splice(0)) resolve(failure);
    expect((await Promise.allSettled(running)).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await Promise.all(many.map(recorded))).toEqual(many.map(() => 1));
  });

  it('is tried again where it could not be handed over', async () => {
    const handle = createDueRuns(deps, () => Promise.reject(new Error('the bus is away')));
    await expect(handle(message({ ...due(0), taskId: rendered }), never)).rejects.toThrow('the bus is away');
  });
});
