/** What every bus must do, whatever engine it stands on. An adapter's spec calls this with a way to make one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reject } from '#runtime/errors';
import type { Bus, BusMessage, RequestContext } from './bus.js';

export interface BusUnderTest {
  readonly bus: Bus;
  /** Closes it and opens another on the same data, as after a restart. */
  reopen(): Promise<Bus>;
  destroy(): Promise<void>;
}

const context: RequestContext = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };

function message(id: string, key = 'k', data: BusMessage['data'] = {}): BusMessage {
  return {
    id,
    type: 'thing.happened',
    key,
    data,
    metadata: { ...context, causationId: null, at: '2026-11-21T10:00:00.000Z' },
  };
}

/** Collects what was handled and lets a spec wait for a number of it. */
function collector() {
  const seen: string[] = [];
  let wake = (): void => undefined;
  return {
    seen,
    add(id: string): void {
      seen.push(id);
      wake();
    },
    async until(done: (ids: readonly string[]) => boolean): Promise<void> {
      while (!done(seen)) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

export function busContract(name: string, create: () => Promise<BusUnderTest>): void {
  describe(`bus on ${name}`, () => {
    let test: BusUnderTest;
    let bus: Bus;
    beforeEach(async () => {
      test = await create();
      bus = test.bus;
    });
    afterEach(() => test.destroy());
    const options = { topic: 'task', group: 'g', concurrency: 8, handlerTimeoutMs: 5_000 };

    it('hands each group every message, those from before it came too', async () => {
      const one = collector();
      const two = collector();
      await bus.publish('task', [message('m1'), message('m2')]);
      await bus.consume(options, async ({ id }) => one.add(id));
      await bus.consume({ ...options, group: 'h' }, async ({ id }) => two.add(id));
      await bus.publish('task', [message('m3')]);
      await Promise.all([one.until((ids) => ids.length >= 3), two.until((ids) => ids.length >= 3)]);
      expect(new Set(one.seen)).toEqual(new Set(['m1', 'm2', 'm3']));
      expect(new Set(two.seen)).toEqual(new Set(['m1', 'm2', 'm3']));
    });

    it('brings content and metadata unchanged', async () => {
      const sent = message('m1', 'k', { text: 'é\u0000"', nested: { list: [1, null, false] } });
      const received = Promise.withResolvers<BusMessage>();
      await bus.consume(options, async (got) => received.resolve(got));
      await bus.publish('task', [sent]);
      expect(await received.promise).toEqual(sent);
    });

    it('keeps the order within a key while other keys go on', async () => {
      const handled = collector();
      const blocked = Promise.withResolvers<void>();
      await bus.consume(options, async ({ id, key }) => {
        if (id === 'slow-0') await blocked.promise;
        handled.add(id);
        expect(key).toBeDefined();
      });
      await bus.publish('task', [
        message('slow-0', 'slow'),
        message('slow-1', 'slow'),
        message('fast-0', 'fast'),
        message('fast-1', 'fast'),
      ]);
      await handled.until((ids) => ids.includes('fast-1'));
      expect(handled.seen).not.toContain('slow-1');
      blocked.resolve();
      await handled.until((ids) => ids.includes('slow-1'));
      expect(handled.seen.indexOf('slow-0')).toBeLessThan(handled.seen.indexOf('slow-1'));
      expect(handled.seen.indexOf('fast-0')).toBeLessThan(handled.seen.indexOf('fast-1'));
    });

    it('runs no more handlers at once than it was told', async () => {
      let running = 0;
      let most = 0;
      const handled = collector();
      await bus.consume({ ...options, concurrency: 3 }, async ({ id }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => setImmediate(resolve));
        running -= 1;
        handled.add(id);
      });
      await bus.publish(
        'task',
        Array.from({ length: 50 }, (_, index) => message(`m${index}`, `k${index}`)),
      );
      await handled.until((ids) => ids.length >= 50);
      expect(most).toBe(3);
    });

    it('tries a failing handler again until it succeeds', async () => {
      const handled = collector();
      let failures = 4;
      await bus.consume(options, async ({ id }) => {
        if (failures > 0) {
          failures -= 1;
          throw new TypeError('not yet');
        }
        handled.add(id);
      });
      await bus.publish('task', [message('m1')]);
      await handled.until((ids) => ids.includes('m1'));
      expect(await bus.parked('task', 10)).toEqual([]);
    });

    it('lets the key go on when one of its messages keeps failing', async () => {
      const handled = collector();
      await bus.consume(options, async ({ id }) => {
        if (id === 'poison') throw new SyntaxError('never');
        handled.add(id);
      });
      await bus.publish('task', [message('poison'), message('m2')]);
      await handled.until((ids) => ids.includes('m2'));
    });

    it('hands over again after a restart what was not finished', async () => {
      const reached = Promise.withResolvers<void>();
      const consumer = await bus.consume(options, async ({ id }) => {
        if (id === 'm2') {
          reached.resolve();
          throw new Error('the process is about to end');
        }
      });
      await bus.publish('task', [message('m1'), message('m2', 'other')]);
      await reached.promise;
      await consumer.stop();
      const reopened = await test.reopen();
      const handled = collector();
      await reopened.consume(options, async ({ id }) => handled.add(id));
      await handled.until((ids) => ids.includes('m2'));
    });

    it('finishes what is in hand before a consumer stops, and takes nothing more', async () => {
      const entered = Promise.withResolvers<void>();
      const leave = Promise.withResolvers<void>();
      const handled = collector();
      const consumer = await bus.consume(options, async ({ id }) => {
        entered.resolve();
        await leave.promise;
        handled.add(id);
      });
      await bus.publish('task', [message('m1')]);
      await entered.promise;
      const stopped = consumer.stop();
      leave.resolve();
      await stopped;
      expect(handled.seen).toEqual(['m1']);
      await bus.publish('task', [message('m2')]);
      expect(handled.seen).toEqual(['m1']);
    });

    it('answers requests with what the answerer returns', async () => {
      await bus.respond('double', async (payload, asked) => ({ twice: Number(payload['n']) * 2, actor: asked.actor }));
      expect(await bus.request('double', { n: 21 }, context)).toEqual({ twice: 42, actor: 'key:key_1' });
    });

    it('brings an AppError back with code, reason and details', async () => {
      await bus.respond('refuse', async () => {
        throw reject('name_required', 'Give a name.', [{ field: 'name', rule: 'required', message: 'is missing' }]);
      });
      await expect(bus.request('refuse', {}, context)).rejects.toMatchObject({
        name: 'AppError',
        code: 'VALIDATION_ERROR',
        reason: 'name_required',
        details: [{ field: 'name', rule: 'required', message: 'is missing' }],
      });
    });

    it('ends a request at its deadline', async () => {
      await bus.respond('never', () => new Promise(() => undefined));
      await expect(bus.request('never', {}, context, 30)).rejects.toMatchObject({
        code: 'SERVER_ERROR',
        reason: 'deadline_exceeded',
      });
    });

    it('refuses a request that nobody answers', async () => {
      await expect(bus.request('nobody', {}, context, 200)).rejects.toMatchObject({ code: 'SERVER_ERROR' });
    });
  });
}
