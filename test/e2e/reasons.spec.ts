/** Every reason of a decision, reached through the API by runs of real pages: on record with its run, and explained in words. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DecisionReason } from '#contracts/policy';
import { z } from 'zod';
import type { Execution } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { HandWatch } from './kit/hand-watch.js';
import type { Installation } from './kit/installation.js';
import { until } from './kit/until.js';
import { startWorld, type World } from './kit/watch.js';

const explained = z.object({
  data: z.looseObject({
    answer: z.string(),
    execution: z.looseObject({ id: z.string() }).nullable(),
    decision: z.looseObject({ notify: z.boolean(), reason: z.string() }).nullable(),
  }),
});

let world: World;
let installation: Installation;

beforeAll(async () => {
  world = await startWorld();
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await world.close();
});

/** In UTC, so many hours from now. */
const clockAt = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);

/** What leads to a reason: the settings of a task, and its pages one after the other (null: none can be loaded). */
interface Way {
  readonly policy?: object;
  readonly more?: object;
  readonly pages: readonly (boolean | null)[];
  /** Of the last run. */
  readonly asked?: object;
}

const ways: Readonly<Record<DecisionReason, Way | (() => Promise<Way>)>> = {
  became_true: { pages: [true] },
  every_true: { policy: { notifyOn: 'every_true' }, pages: [true, true] },
  changed: { policy: { notifyOn: 'changed' }, pages: [false, true] },
  reminder: { policy: { reminderSeconds: 1 }, pages: [true] },
  recovered: { pages: [true, false] },
  error_threshold: { policy: { errorThreshold: 2 }, pages: [null, null] },
  forced: { policy: { muted: true }, pages: [true], asked: { force: true } },
  still_true: { pages: [true, true] },
  not_true: { pages: [false] },
  awaiting_confirmation: { policy: { confirmations: 2 }, pages: [true] },
  error_below_threshold: { policy: { errorThreshold: 2 }, pages: [null] },
  cooldown: { policy: { cooldownSeconds: 3_600 }, pages: [true, false, true] },
  flapping: { policy: { flapWindow: 4 }, pages: [true, false, true] },
  quiet_hours: async () => ({
    policy: { quietHours: [{ from: clockAt(-1), to: clockAt(1), timezone: 'UTC' }] },
    pages: [true],
  }),
  muted: { policy: { muted: true }, pages: [true] },
  paused: { more: { status: 'paused' }, pages: [true] },
  async dependency_down() {
    const parent = await new HandWatch(installation, world, 'parent').create({});
    await parent.reasons(true);
    return { policy: { dependsOn: [parent.id] }, pages: [true] };
  },
  rate_capped: { policy: { maxPerHour: 1 }, pages: [true, false] },
  not_changed: { policy: { notifyOn: 'changed' }, pages: [true] },
  dry_run: { pages: [true], asked: { dryRun: true } },
  no_actions: { more: { actions: [] }, pages: [true] },
};
const notifying: readonly string[] = [
  'became_true',
  'every_true',
  'changed',
  'reminder',
  'recovered',
  'error_threshold',
  'forced',
];

async function lastRunOf(name: DecisionReason): Promise<Execution> {
  const given = ways[name];
  const { policy = {}, more = {}, pages, asked } = typeof given === 'function' ? await given() : given;
  const watched = await new HandWatch(installation, world, name).create(policy, more);
  const before = asked === undefined ? pages.slice(0, -1) : [];
  await watched.reasons(...before);
  return watched.runOn(pages.at(-1) ?? null, asked);
}

describe('a decision', () => {
  it.each(Object.keys(ways) as DecisionReason[])('has the reason %s', async (reason) => {
    let run = await lastRunOf(reason);
    // Of a condition that is still true it is time to remind at some run.
    if (reason === 'reminder') {
      run = await until('it is time to remind', async () => {
        const next = await installation.api.execute(run.notificationId, 30);
        return next.decision?.reason === reason ? next : null;
      });
    }
    const decision = expect.objectContaining({ notify: notifying.includes(reason), reason });
    expect(run.decision).toEqual(decision);
    const recorded = await installation.api.send(`/api/executions/${run.id}`);
    expect(recorded.body).toMatchObject({ data: { id: run.id, decision } });
    const why = await installation.api.send(`/api/notifications/${run.notificationId}/explain`);
    const { data } = explained.parse(why.body);
    expect(data).toMatchObject({ execution: { id: run.id }, decision });
    expect(data.answer).toMatch(notifying.includes(reason) ? /\w/ : new RegExp(reason));
  });
});
