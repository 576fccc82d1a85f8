/** What happens under the product: an event store that takes nothing, and takes it again. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf } from './kit/api.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import { canBreakEventStore, createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { faultsOnRecord, wrongArrivals } from './kit/invariants.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { pause, recordAtEnd } from './kit/record-at-end.js';
import { byHand, whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const path = '/api/notifications';
const createdId = z.object({ data: z.object({ id: z.string() }) });
const rarely = { type: 'interval', intervalSeconds: 3_600 };

if (canBreakEventStore) {
  describe('an installation with a failing event store', () => {
    let installation: Installation;
    let site: PageSite;
    let hooks: HookSink;
    let watchedId = '';
    let keptId = '';

    beforeAll(async () => {
      [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
      installation = await createInstallation();
      await installation.start();
      site.serve('/shop', html('sold out'));
      ({ id: keptId } = await installation.api.create({ ...byHand(site.address('/shop')), name: 'Kept' }));
      ({ id: watchedId } = await installation.api.create({
        ...whenInStock(site.address('/shop')),
        actions: [{ type: 'webhook', config: { url: hooks.address('/hook'), timeoutSeconds: 1 } }],
      }));
      await until(
        'a first run is recorded',
        async () => (await installation.api.task(watchedId)).condition === 'false',
      );
      await burst();
    });

    const burstSize = 40;
    const createOfBurst = (index: number) =>
      installation.api.send(path, {
        json: { ...whenInStock(site.address('/burst')), name: `Burst ${index}`, schedule: rarely },
        headers: { 'idempotency-key': `burst-${index}` },
      });

    /** Settings of many tasks come in while the event store is lost. */
    const taken: string[] = [];
    const refused: number[] = [];
    const burst = async (): Promise<void> => {
      const full: Promise<void>[] = [];
      await Promise.all(
        Array.from({ length: burstSize }, async (_, index) => {
          const reply = await createOfBurst(index);
          if (reply.status === 201) {
            taken.push(createdId.parse(reply.body).data.id);
            if (taken.length === 10) full.push(installation.breakEventStore());
          } else {
            expect([reply.status, errorOf(reply).code]).toEqual([503, 'SERVER_ERROR']);
            refused.push(index);
          }
        }),
      );
      expect(taken.length).toBeGreaterThanOrEqual(10);
      await Promise.all(full);
    };

    afterAll(async () => {
      await installation.remove();
      await Promise.all([site.close(), hooks.close()]);
    });

    it('answers writes with 503 and Retry-After, and still answers reads', async () => {
      for (const [method, at, json] of [
        ['POST', path, byHand(site.address('/shop'))],
        ['PATCH', `${path}/${keptId}`, { name: 'Changed' }],
        ['DELETE', `${path}/${keptId}`, undefined],
        ['POST', `${path}/${keptId}/execute`, {}],
        ['POST', '/api/keys', { name: 'Key', scopes: ['read'] }],
      ] as const) {
        const reply = await installation.api.send(at, { method, json });
        expect([at, reply.status, errorOf(reply).code]).toEqual([at, 503, 'SERVER_ERROR']);
        expect(errorOf(reply).reason).toMatch(/_unavailable$/);
        expect(errorOf(reply).message).not.toMatch(/sqlite|I\/O|errno/i);
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect((await installation.api.task(keptId)).name).toBe('Kept');
    });

    it('answers a write with an Idempotency-Key with 503 and Retry-After as well', async () => {
      const headers = { 'idempotency-key': 'during' };
      const reply = await installation.api.send(path, { json: byHand(site.address('/shop')), headers });
      expect([reply.status, errorOf(reply).code]).toEqual([503, 'SERVER_ERROR']);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    });

    it('recovers by itself, and notifies about changes that happened meanwhile', async () => {
      site.serve('/shop', html('in stock'));
      const before = site.loads('/shop');
      await installation.mendEventStore();
      await until(
        'writes are taken again',
        async () => (await installation.api.send(`${path}/${keptId}/execute?wait=5`, { json: {} })).status === 200,
      );
      await until('the watched page is loaded again', () => site.loads('/shop') > before);
      await until('the change is told', () => hooks.received('/hook').length === 1);
      const { id } = await installation.api.create(byHand(site.address('/shop')), { 'idempotency-key': 'during' });
      expect((await installation.api.task(id)).id).toBe(id);
    });

    it('accepts the failed writes once when they are repeated under the same keys', async () => {
      for (const index of refused) {
        const reply = await createOfBurst(index);
        expect(reply.status).toBe(201);
        taken.push(createdId.parse(reply.body).data.id);
      }
      expect(new Set(taken).size).toBe(burstSize);
    });

    it('runs every task that it accepted', async () => {
      for (const id of taken) {
        await until(`${id} has run`, async () =>
          (await installation.api.executions(id)).some(({ finishedAt }) => finishedAt !== null),
        );
      }
    });

    it('has no half-written data afterwards', async () => {
      await pause(installation, watchedId);
      await until('nothing is under way', async () => {
        const runs = [
          ...(await installation.api.executions(watchedId)),
          ...(await installation.api.executions(keptId)),
        ];
        const deliveries = await installation.api.deliveries(watchedId);
        return (
          runs.every(({ finishedAt }) => finishedAt !== null) &&
          deliveries.every(({ finishedAt }) => finishedAt !== null)
        );
      });
      const { body } = await installation.api.send(path);
      expect(body).toMatchObject({ pagination: { total: burstSize + 3 } });
      const events = await recordAtEnd(installation, [watchedId, keptId, ...taken]);
      expect(events.filter(({ type }) => type === 'task.created')).toHaveLength(burstSize + 3);
      const arrivals = hooks.received('/hook').map(({ id, body }) => ({ id, bytes: body }));
      expect([...faultsOnRecord(events), ...wrongArrivals(events, 'webhook', arrivals)]).toEqual([]);
    });
  });
}

describe('an installation that is stopped while it starts', () => {
  it('starts completely the next time', async () => {
    const installation = await createInstallation();
    try {
      const starting = installation.start().catch(() => undefined);
      await until('it has begun to write', async () => (await installation.stored()).length > 1);
      await installation.kill('SIGKILL');
      await starting;
      await installation.start();
      const { id } = await installation.api.create({ ...byHand('https://example.com/'), status: 'paused' });
      expect((await installation.api.task(id)).id).toBe(id);
    } finally {
      await installation.remove();
    }
  });
});
