/**
 * `npm run chaos`: breaks a working installation again and again, and checks it afterwards. Not a spec of `npm test`:
 * it runs for the given time, and its report is the point. Settings come from scripts/chaos.mjs by the environment.
 */
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { seededRandom, until } from '../e2e/kit/until.js';
import { startWorld } from '../e2e/kit/watch.js';
import { distributedScene } from './distributed.js';
import { embeddedScene } from './embedded.js';
import { choose, type Happened } from './fault.js';
import { judge } from './judge.js';
import { startLoad } from './load.js';
import { report, say, type Outcome } from './report.js';
import type { Scene } from './scene.js';

const minutes = Number(process.env['CHAOS_MINUTES']);
const seed = Number(process.env['CHAOS_SEED']);
const modes = (process.env['CHAOS_MODES'] ?? '').split(',');

/** The installation recovers from any fault within this time. */
const healsWithinMs = 60_000;
const drainsWithinMs = 240_000;

jest.setTimeout((minutes + 15) * 60_000);

const outcomes: Outcome[] = [];

/** Until everybody is ready and a run that became due from now on is recorded for a task that is watched. */
async function healed({ installation, isReady }: Scene, taskId: string): Promise<number> {
  const fromMs = Date.now();
  const from = new Date(fromMs).toISOString();
  const isGoingOn = async (): Promise<boolean> => {
    if (!(await isReady())) return false;
    const runs = await installation.api.executions(taskId);
    return runs.some(({ scheduledFor, finishedAt }) => scheduledFor > from && finishedAt !== null);
  };
  await until('it goes on', isGoingOn, 4 * healsWithinMs);
  return Date.now() - fromMs;
}

async function pauseAll({ installation }: Scene, watched: readonly string[]): Promise<void> {
  for (const id of watched) {
    const path = `/api/notifications/${id}`;
    await until(
      `${id} is paused`,
      async () => (await installation.api.send(path, { method: 'PATCH', json: { status: 'paused' } })).status === 200,
    );
  }
}

/** No run and no delivery of any watched task is under way. */
async function drained({ installation: { api } }: Scene, watched: readonly string[]): Promise<void> {
  const isDrained = async (): Promise<boolean> => {
    for (const id of watched) {
      const runs = await api.executions(id);
      if (runs.some(({ finishedAt }) => finishedAt === null)) return false;
      const deliveries = await api.deliveries(id);
      if (deliveries.some(({ state }) => ['pending', 'sending', 'retrying'].includes(state))) return false;
    }
    return true;
  };
  await until('nothing is under way', isDrained, drainsWithinMs);
}

async function chaosIn(open: (world: Awaited<ReturnType<typeof startWorld>>) => Promise<Scene>): Promise<Outcome> {
  const random = seededRandom(seed);
  const world = await startWorld();
  const scene = await open(world);
  try {
    const load = await startLoad(scene.installation.api, world, random, 'chaos');
    const [probe = ''] = load.watched;
    const happened: Happened[] = [];
    const untilMs = Date.now() + (minutes / modes.length) * 60_000;
    while (Date.now() < untilMs) {
      const fault = choose(scene.faults, random);
      say(`${scene.name}: ${fault.name}`);
      await fault.happen(random);
      const healedMs = await healed(scene, probe);
      happened.push({ name: fault.name, isKill: fault.isKill, healedMs });
      say(`${scene.name}: healed in ${(healedMs / 1_000).toFixed(1)} s`);
    }
    await load.stop();
    await pauseAll(scene, load.watched);
    const drainFromMs = Date.now();
    await drained(scene, load.watched);
    const drainMs = Date.now() - drainFromMs;
    await scene.installation.kill('SIGTERM');
    const events = await scene.installation.recordedEvents();
    const readStore = await scene.installation.openReadStore();
    try {
      const verdicts = await judge(events, readStore, world, load);
      const slow = happened.filter(({ healedMs }) => healedMs > healsWithinMs);
      verdicts.push({
        invariant: 'I10 healed within 60 s each',
        violations: slow.map(({ name, healedMs }) => `${name}: ${(healedMs / 1_000).toFixed(1)} s`),
      });
      return { mode: scene.name, seed, events: events.length, happened, drainMs, verdicts };
    } finally {
      await readStore.close();
    }
  } catch (error) {
    say(`the last lines of its processes:\n${scene.installation.lines.slice(-40).join('\n')}`);
    throw error;
  } finally {
    await scene.close();
    await world.close();
  }
}

describe('an installation under repeated faults', () => {
  afterAll(() => report(outcomes));

  const scenes = { embedded: embeddedScene, distributed: distributedScene } as const;
  for (const [mode, open] of Object.entries(scenes)) {
    if (!modes.includes(mode)) continue;
    it(`keeps every promise, ${mode}`, async () => {
      const outcome = await chaosIn(open);
      outcomes.push(outcome);
      expect(outcome.verdicts.flatMap(({ violations }) => violations)).toEqual([]);
    });
  }
});
