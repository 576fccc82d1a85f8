/** The questions that Meerkat answers of a task: why, what if on the past, and what if from now on. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { explanation } from '#contracts/explanation';
import { backtest } from '#contracts/run';
import { shadowFigures } from '#contracts/shadow';
import { z } from 'zod';
import type { Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, silent, startPageSite, type PageSite } from './kit/page-site.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const envelope = z.object({ success: z.literal(true), data: z.unknown() });

const slots = z.object({
  data: z.array(z.looseObject({ scheduledFor: z.string(), error: z.looseObject({ reason: z.string() }).nullable() })),
});

function ok<Schema extends z.ZodType>(schema: Schema, { status, body, text }: Reply): z.output<Schema> {
  if (status >= 300) throw new Error(`answered ${status}: ${text}`);
  return schema.parse(envelope.parse(body).data);
}

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  installation = await createInstallation();
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await site.close();
});

/** A task that runs by hand, with a run on each of these texts. */
async function ranOn(path: string, texts: readonly string[], more: object = {}): Promise<string> {
  site.serve(path, html(texts[0] ?? ''));
  const hook = { type: 'webhook', config: { url: site.address('/hook') }, on: ['triggered'] };
  const settings = { ...whenInStock(site.address(path)), actions: [hook], schedule: { type: 'manual' }, ...more };
  const { id } = await installation.api.create(settings);
  await runOn(id, path, texts);
  return id;
}

async function runOn(id: string, path: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    site.serve(path, html(text));
    await installation.api.execute(id, 30);
  }
}

describe('an explanation', () => {
  it('of a moment names page, rule, decision and deliveries, whatever happened since', async () => {
    const id = await ranOn('/why', ['sold out', 'in stock']);
    const path = `/api/notifications/${id}/explain`;
    const why = await until('the delivery is over', async () => {
      const found = ok(explanation, await installation.api.send(path));
      return found.deliveries.some(({ finishedAt, state }) => finishedAt !== null || state === 'retrying')
        ? found
        : null;
    });
    expect(why).toMatchObject({ notified: true, decision: { reason: 'became_true' }, task: { id, status: 'active' } });
    expect(why.deliveries[0]?.attempts.length).toBeGreaterThan(0);
    await runOn(id, '/why', ['in stock']);
    const now = ok(explanation, await installation.api.send(path));
    expect(now).toMatchObject({ notified: false, decision: { reason: 'still_true' } });
    expect(now.lastNotified?.deliveryId).toBe(why.deliveries[0]?.id);
    const then = ok(explanation, await installation.api.send(`${path}?at=${why.at}`));
    expect(then.decision?.reason).toBe('became_true');
    expect((await installation.api.send(`${path}?at=2020-01-01T00:00:00Z`)).status).toBe(404);
  });

  it('of a task that is paused says that no run was due', async () => {
    const id = await ranOn('/paused', ['sold out'], { schedule: { type: 'interval', intervalSeconds: 3_600 } });
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { status: 'paused' } });
    const { noRun } = await until('the schedule knows of the pause', async () => {
      const found = ok(explanation, await installation.api.send(`/api/notifications/${id}/explain`));
      return found.noRun === null || found.noRun.reason === 'running' ? null : found;
    });
    expect(noRun).toMatchObject({ reason: 'paused', nextRunAt: null });
  });

  it('of a time ahead says when the next run is due, and blames nobody', async () => {
    const id = await ranOn('/ahead', ['sold out'], { schedule: { type: 'interval', intervalSeconds: 3_600 } });
    const path = `/api/notifications/${id}/explain?at=${new Date(Date.now() + 86_400_000).toISOString()}`;
    const { noRun, answer, decision } = await until('no run is under way', async () => {
      const found = ok(explanation, await installation.api.send(path));
      return found.noRun?.reason === 'running' ? null : found;
    });
    const message = `That time has not come; the next run is due at ${noRun?.nextRunAt ?? ''}.`;
    expect(noRun).toEqual({ reason: 'not_due', message, nextRunAt: expect.any(String) });
    expect(decision?.reason).toBe('not_true');
    expect(answer.startsWith(message)).toBe(true);
  });

  it('of a task whose run is still going says that the next slot is queued behind it', async () => {
    site.serve('/slow', silent);
    const schedule = { type: 'interval', intervalSeconds: 1, overlap: 'queue' };
    const { id } = await installation.api.create({ ...whenInStock(site.address('/slow')), schedule });
    const { noRun, answer } = await until('a slot waits', async () => {
      const found = ok(explanation, await installation.api.send(`/api/notifications/${id}/explain`));
      return found.noRun?.reason === 'queued' ? found : null;
    });
    expect(noRun?.message).toMatch(/^The slot of \S+ waited for the run before it to end/);
    expect(answer).toContain(noRun?.message);
    await installation.api.send(`/api/notifications/${id}?purge=true`, { method: 'DELETE' });
  });

  it('of a slot that was passed over because the task backs off says so', async () => {
    site.serve('/endless', html('sold out'));
    const code = "return new Array(1e9) + '';";
    const { id } = await installation.api.create({
      ...whenInStock(site.address('/endless')),
      evaluationFunction: code,
    });
    const path = `/api/notifications/${id}`;
    const slot = await until('a slot is passed over', async () => {
      const { body } = await installation.api.send(`${path}/executions?includeSkipped=true&limit=100`);
      return slots.parse(body).data.find(({ error }) => error?.reason === 'backs_off')?.scheduledFor;
    });
    const { noRun } = ok(explanation, await installation.api.send(`${path}/explain?at=${slot}`));
    expect(noRun?.reason).toBe('backs_off');
    expect(noRun?.message).toMatch(/^No run (?:happened|was due)/);
    await installation.api.send(`${path}?purge=true`, { method: 'DELETE' });
  });

  it('of a moment when nothing ran at all says that the slot was missed, and when it went on', async () => {
    site.serve('/missed', html('sold out'));
    const { id } = await installation.api.create(whenInStock(site.address('/missed')));
    await until('it runs', async () => (await installation.api.executions(id)).length > 1);
    expect(await installation.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const at = new Date(Date.now() + 7_000);
    await until('that moment is over', () => Date.now() > at.getTime());
    await installation.start();
    const { noRun, answer } = await until('it went on', async () => {
      const path = `/api/notifications/${id}/explain?at=${at.toISOString()}`;
      const found = ok(explanation, await installation.api.send(path));
      return /went on at|^No run happened for/.test(found.noRun?.message ?? '') ? found : null;
    });
    expect(noRun?.reason).toBe('missed');
    expect(noRun?.message).toMatch(/not running/);
    expect(answer.startsWith(noRun?.message ?? '-')).toBe(true);
  });
});

describe('a backtest', () => {
  it('judges the recorded pages by other code and another policy, and sends nothing', async () => {
    const id = await ranOn('/past', ['sold out', 'in stock', 'sold out', 'gone']);
    const path = `/api/notifications/${id}/backtest`;
    const same = ok(backtest, await installation.api.send(path, { method: 'POST', json: {} }));
    expect(same.summary).toEqual({
      snapshots: 4,
      wouldNotify: 1,
      didNotify: 1,
      onlyNew: 0,
      onlyOld: 0,
      complete: true,
    });
    const json = { evaluationFunction: `return document.body.textContent.includes('gone')` };
    const other = ok(backtest, await installation.api.send(path, { json }));
    expect(other.summary).toMatchObject({ wouldNotify: 1, onlyNew: 1, onlyOld: 1 });
    expect(other.snapshots.map(({ outcome }) => outcome)).toEqual([false, false, false, true]);
    expect(await installation.api.deliveries(id)).toHaveLength(1);
  });
});

describe('a shadow', () => {
  it('survives a kill, is compared with the live settings on each page, and becomes them', async () => {
    const id = await ranOn('/beside', ['sold out']);
    const path = `/api/notifications/${id}/shadow`;
    const json = { evaluationFunction: `return document.body.textContent.includes('gone')` };
    expect((await installation.api.send(path, { method: 'PUT', json })).status).toBe(200);
    await installation.kill('SIGKILL');
    await installation.start();
    await runOn(id, '/beside', ['in stock', 'gone', 'gone']);
    const figures = await until('every run is counted', async () => {
      const found = ok(shadowFigures, await installation.api.send(path));
      return found.runs === 3 ? found : null;
    });
    expect(figures).toMatchObject({ same: 1, onlyLive: 1, onlyShadow: 1, failed: 0 });
    expect(figures.differences).toHaveLength(2);
    expect(await installation.api.deliveries(id)).toHaveLength(1);
    const promoted = await installation.api.send(`${path}/promote`, { method: 'POST' });
    expect(promoted.status).toBe(200);
    expect(await installation.api.task(id)).toMatchObject(json);
    expect((await installation.api.send(path)).status).toBe(404);
  });
});
