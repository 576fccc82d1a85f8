/** Schedules with real runs: what is due once, what waits for a slow page, and what a preview said. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const previewed = z.object({ data: z.object({ runs: z.array(z.string()) }) });
const nextRun = z.object({ nextRunAt: z.string().nullable() });
const upcoming = z.object({ data: z.array(z.object({ notificationId: z.string(), runAt: z.string() })) });

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('sold out'));
  installation = await createInstallation();
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await site.close();
});

const create = (path: string, schedule: object) =>
  installation.api.create({ ...whenInStock(site.address(path)), schedule });

/** Of the slots that were run, oldest first. */
async function slotsOf(taskId: string): Promise<string[]> {
  const runs = await installation.api.executions(taskId);
  return runs
    .filter(({ status }) => status === 'succeeded')
    .map(({ scheduledFor }) => scheduledFor)
    .toSorted();
}

describe('a schedule', () => {
  it('that is due once runs once, at its time, and is over', async () => {
    const at = new Date(Date.now() + 15_000).toISOString();
    const { id } = await create('/shop', { type: 'once', at });
    await until('its run is over', async () => (await slotsOf(id)).length > 0);
    expect(await slotsOf(id)).toEqual([at]);
    await until('nothing is due any more', async () => (await installation.api.task(id))['nextRunAt'] === null);
    // What GET gave is sent back: a time that has passed is no fault of it.
    const { body } = await installation.api.send(`/api/notifications/${id}/schedule`);
    const { data } = z.object({ data: z.record(z.string(), z.json()) }).parse(body);
    const same = await installation.api.send(`/api/notifications/${id}/schedule`, { method: 'PUT', json: data });
    expect(same.status).toBe(200);
  });

  it('is what the writer reads next: its runs are previewed, and the task says when the next one is', async () => {
    const created = await create('/shop', { type: 'interval', intervalSeconds: 3_600 });
    expect(nextRun.parse(created).nextRunAt).not.toBeNull();
    const path = `/api/notifications/${created.id}`;
    for (const hour of [1, 2, 3, 4, 5]) {
      const daily = { type: 'cron', cron: `17 ${hour} * * *` };
      await installation.api.send(`${path}/schedule`, { method: 'PUT', json: daily });
      const { runs } = previewed.parse((await installation.api.send(`${path}/schedule/preview?count=3`)).body).data;
      const { nextRunAt } = nextRun.parse(await installation.api.task(created.id));
      for (const run of [...runs, nextRunAt]) expect(run).toMatch(new RegExp(`T0${hour}:17:00.000Z$`));
      expect(runs[0]).toBe(nextRunAt);
      await installation.api.send(path, { method: 'PATCH', json: { status: 'paused' } });
      expect(nextRun.parse(await installation.api.task(created.id)).nextRunAt).toBeNull();
      await installation.api.send(path, { method: 'PATCH', json: { status: 'active' } });
      expect(nextRun.parse(await installation.api.task(created.id)).nextRunAt).toBe(runs[0]);
    }
  });

  it('is listed with its next run, soonest first, over all tasks', async () => {
    const far = (minutes: number) => ({ type: 'once', at: new Date(Date.now() + minutes * 60_000).toISOString() });
    const [later, sooner] = [(await create('/shop', far(20))).id, (await create('/shop', far(10))).id];
    const own = await until('both have a next run', async () => {
      const { data } = upcoming.parse((await installation.api.send('/api/schedules?limit=100')).body);
      const found = data.map(({ notificationId }) => notificationId).filter((id) => [later, sooner].includes(id));
      return found.length === 2 ? found : null;
    });
    expect(own).toEqual([sooner, later]);
  });

  it('that queues runs a slot that came while a slow page was loaded as soon as that is over', async () => {
    const waiting: (() => void)[] = [];
    site.serve('/slow', (request, response) => waiting.push(() => html('sold out')(request, response)));
    const { id } = await create('/slow', { type: 'interval', intervalSeconds: 1, overlap: 'queue' });
    await until('the first run waits for its page', () => waiting.length === 1);
    const running = await until('it is in the list', async () => (await installation.api.executions(id))[0] ?? null);
    const firstMs = Date.parse(running.scheduledFor);
    // The timer has come past the slot right behind it.
    await until('a slot has come meanwhile', async () => {
      const { nextRunAt } = nextRun.parse(await installation.api.task(id));
      return nextRunAt !== null && Date.parse(nextRunAt) - firstMs >= 2_000;
    });
    const releasedMs = Date.now();
    waiting.shift()?.();
    await until('the slot that waited is run', () => waiting.length === 1);
    waiting.shift()?.();
    const [first, second] = await until('both are recorded', async () => {
      const slots = await slotsOf(id);
      return slots.length >= 2 ? slots : null;
    });
    expect(Date.parse(first ?? '')).toBe(firstMs);
    // It was due while the first one was going.
    expect(Date.parse(second ?? '')).toBeGreaterThan(firstMs);
    expect(Date.parse(second ?? '')).toBeLessThanOrEqual(releasedMs);
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { status: 'paused' } });
    site.serve('/slow', html('sold out'));
    for (const answer of waiting) answer();
  });

  it('runs when its preview said it would', async () => {
    const { id } = await create('/shop', { type: 'interval', intervalSeconds: 5, jitterSeconds: 1 });
    await until('it has run', async () => (await slotsOf(id)).length > 0);
    const path = `/api/notifications/${id}/schedule/preview?count=2`;
    const { runs } = previewed.parse((await installation.api.send(path)).body).data;
    expect(runs).toHaveLength(2);
    const slots = await until('all of them are over', async () => {
      const done = await slotsOf(id);
      return runs.every((run) => done.includes(run)) ? done : null;
    });
    expect(slots).toEqual(expect.arrayContaining(runs));
  });
});

describe('a run that is waited for', () => {
  it('frees its place when its answer goes out: one after the other, forty-five are never refused', async () => {
    const { id } = await create('/shop', { type: 'manual' });
    for (let count = 0; count < 45; count += 1) {
      const reply = await installation.api.send(`/api/notifications/${id}/execute?wait=30`, {
        method: 'POST',
        json: {},
      });
      expect([count, reply.status]).toEqual([count, 200]);
    }
  });
});
