/** Receivers that nobody answers at: spared after some failures, tried again in time, and given up when the message is too old. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryAnswer } from './kit/api.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

/** Failures in a row after which a receiver is spared. */
const failuresUntilSpared = 5;
/** At most, in either mode. */
const sendingProcesses = 2;
/** Messages elsewhere, one after the other: by then one that came before them was tried, unless it waits. */
const controls = 3;
/** The shortest time a message may be kept. */
const shortestSeconds = 60;
/** Longer than a receiver is spared for, and than the shortest time. */
const patienceMs = 110_000;

let installation: Installation;
let site: PageSite;
let live: HookSink;
/** Each has a port at which nobody listens. */
let spared: string;
let silent: string;

async function deadAddress(path: string): Promise<string> {
  const sink = await startHookSink();
  const address = sink.address(path);
  await sink.close();
  return address;
}

beforeAll(async () => {
  [site, live] = await Promise.all([startPageSite(), startHookSink()]);
  [spared, silent] = [await deadAddress('/spared'), await deadAddress('/silent')];
  installation = await createInstallation();
  await installation.start();
  site.serve('/shop', html('in stock'));
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), live.close()]);
});

/** The id of a task whose only message goes there. */
async function triggered(url: string, more: object = {}): Promise<string> {
  const actions = [{ type: 'webhook', config: { url }, ...more }];
  const { id } = await installation.api.create({ ...byHand(site.address('/shop')), actions });
  expect((await installation.api.execute(id)).decision?.reason).toBe('became_true');
  return id;
}
const only = async (taskId: string): Promise<DeliveryAnswer | undefined> =>
  (await installation.api.deliveries(taskId))[0];
const when = (what: string, taskId: string, is: (delivery: DeliveryAnswer) => boolean): Promise<DeliveryAnswer> =>
  until(
    what,
    async () => {
      const delivery = await only(taskId);
      return delivery !== undefined && is(delivery) ? delivery : null;
    },
    patienceMs,
  );
const reasonsOf = ({ attempts }: DeliveryAnswer) => attempts.map(({ error }) => error?.reason ?? null);

describe('a receiver at which nobody answers', () => {
  it('is spared after some failures in a row: what comes for it then waits, uses up no attempt, and delays nobody', async () => {
    const failing: string[] = [];
    let late: string | null = null;
    while (late === null) {
      // Each process that sends finds out for itself.
      expect(failing.length).toBeLessThanOrEqual(sendingProcesses * failuresUntilSpared);
      const id = await triggered(spared);
      for (let n = 0; n < controls; n += 1) {
        const elsewhere = await triggered(live.address('/live'));
        expect((await when('it arrives', elsewhere, ({ state }) => state === 'delivered')).attempts).toHaveLength(1);
      }
      if ((await only(id))?.attempts.length === 0) late = id;
      else {
        await when('the first attempt fails', id, ({ state }) => state === 'retrying');
        failing.push(id);
      }
    }
    // A failure of an earlier message that is tried again counts as well: on a busy machine several are.
    const tries = await Promise.all(failing.map(async (id) => (await only(id))?.attempts.length ?? 0));
    expect(tries.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(failuresUntilSpared);
    expect(await only(late)).toMatchObject({ state: 'pending', attempts: [] });
    const risen = await startHookSink(Number(new URL(spared).port));
    try {
      for (const id of failing) {
        const delivery = await when('it arrives', id, ({ state }) => state === 'delivered');
        // On a busy machine the first of them are tried for a second time before the last is tried at all.
        const [last, ...earlier] = reasonsOf(delivery).toReversed();
        expect([last, ...new Set(earlier)]).toEqual([null, 'connect_failed']);
      }
      expect(reasonsOf(await when('it arrives', late, ({ state }) => state === 'delivered'))).toEqual([null]);
      expect(risen.received('/spared')).toHaveLength(failing.length + 1);
    } finally {
      await risen.close();
    }
  });

  it('gets no message that would be older than its action allows: the record says so, and why it did not arrive', async () => {
    const id = await triggered(silent, { expireAfterSeconds: shortestSeconds });
    const delivery = await when('it expires', id, ({ state }) => state === 'expired');
    // At once and after 5 and 30 s; two minutes later it would be too old.
    expect(delivery).toMatchObject({ reason: 'connect_failed', nextAttemptAt: null });
    expect(reasonsOf(delivery)).toEqual(['connect_failed', 'connect_failed', 'connect_failed']);
  });
});
