/** What every bus must do, whatever engine it stands on. An adapter's spec calls this with a way to make one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BusMessage, OpenedBus, RequestContext } from './bus.js';

export interface BusUnderTest {
  readonly bus: OpenedBus;
  /** As a second process on the same data would open it. */
  another(): Promise<OpenedBus>;
  /** Closes it and opens another on the same data, as after a restart. */
  reopen(): Promise<OpenedBus>;
  destroy(): Promise<void>;
}

export const busContext: RequestContext = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };

function message(id: string, key = 'k', data: BusMessage['data'] = {}): BusMessage {
  return {
    id,
    type: 'thing.happened',
    key,
    data,
    metadata: { ...busContext, causationId: null, at: '2026-11-21T10:00:00.000Z' },
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

/** How engines differ. */
export interface BusSupports {
  /** Several processes share one bus. */
  readonly replicas: boolean;
}

export function busContract(name: string, create: () => Promise<BusUnderTest>, supports: BusSupports): void {
  describe(`bus on ${name}`, () => {
    let test: BusUnderTest;
    let bus: OpenedBus;
    beforeEach(async () => {
      test = await create();
      bus = test.bus;
    });
    afterEach(() => test.destroy());
    const options = { topic: 'task', group: 'g', concurrency: 8, handlerTimeoutMs: 5_000 };

    it('hands each group every message, including those published before it existed', async () => {
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

    it('hands a group the types alone that it asks for, and goes on behind the others after a restart', async () => {
      const handled = collector();
      const wanted = { ...options, types: ['thing.wanted'] };
      const consumer = await bus.consume(wanted, async ({ id }) => handled.add(id));
      await bus.publish('task', [message('m1'), { ...message('m2'), type: 'thing.wanted' }, message('m3')]);
      await handled.until((ids) => ids.includes('m2'));
      await consumer.stop();
      const reopened = await test.reopen();
      await reopened.consume(wanted, async ({ id }) => handled.add(id));
      await reopened.publish('task', [{ ...message('m4'), type: 'thing.wanted' }]);
      await handled.until((ids) => ids.includes('m4'));
      expect(handled.seen).toEqual(['m2', 'm4']);
    });

    it('delivers content and metadata unchanged', async () => {
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

    it('goes on with other keys while one message takes long, however many follow it', async () => {
      const handled = collector();
      const blocked = Promise.withResolvers<void>();
      await bus.consume({ ...options, handlerTimeoutMs: 60_000 }, async ({ id }) => {
        if (id === 'slow') await blocked.promise;
        handled.add(id);
      });
      const others = Array.from({ length: 1_500 }, (_, index) => message(`m${index}`, `k${index % 50}`));
      await bus.publish('task', [message('slow', 'slow'), ...others]);
      await handled.until((ids) => ids.length >= 1_500);
      expect(handled.seen).not.toContain('slow');
      blocked.resolve();
      await handled.until((ids) => ids.includes('slow'));
    });

    it('runs no more handlers at once than its concurrency allows', async () => {
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
      expect(await bus.deadLetters('task', 10)).toEqual([]);
    });

    it('keeps the order within a key while its first message is tried again', async () => {
      const handled = collector();
      let failures = 2;
      await bus.consume(options, async ({ id }) => {
        if (id === 'm1' && failures > 0) {
          failures -= 1;
          throw new Error('not yet');
        }
        handled.add(id);
      });
      await bus.publish('task', [message('m1'), message('m2'), message('m3')]);
      await handled.until((ids) => ids.length >= 3);
      expect(handled.seen).toEqual(['m1', 'm2', 'm3']);
    });

    it('keeps the order of messages that were published one after the other', async () => {
      const handled = collector();
      await bus.consume(options, async ({ id }) => handled.add(id));
      const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
      await Promise.all(ids.map((id) => bus.publish('task', [message(id)])));
      await handled.until((seen) => seen.length >= ids.length);
      expect(handled.seen).toEqual(ids);
    });

    it('delivers both copies of a message published twice, under one id', async () => {
      const handled = collector();
      await bus.consume(options, async ({ id }) => handled.add(id));
      await bus.publish('task', [message('m1')]);
      await bus.publish('task', [message('m1'), message('m2')]);
      await handled.until((ids) => ids.length >= 3);
      expect(handled.seen).toEqual(['m1', 'm1', 'm2']);
    });

    it('treats a handler that exceeds its timeout as failed', async () => {
      const handled = collector();
      let isFirst = true;
      await bus.consume({ ...options, handlerTimeoutMs: 40 }, async ({ id }) => {
        if (isFirst) {
          isFirst = false;
          await new Promise(() => undefined);
        }
        handled.add(id);
      });
      await bus.publish('task', [message('m1'), message('m2')]);
      await handled.until((ids) => ids.includes('m2'));
      expect(handled.seen).toEqual(['m1', 'm2']);
    });

    it('treats a synchronous throw of a handler as a failure', async () => {
      const handled = collector();
      let isFirst = true;
      await bus.consume(options, ({ id }) => {
        if (isFirst) {
          isFirst = false;
          throw new ReferenceError('at once');
        }
        handled.add(id);
        return Promise.resolve();
      });
      await bus.publish('task', [message('m1')]);
      await handled.until((ids) => ids.includes('m1'));
    });

    it('resumes after a restart behind the last handled message', async () => {
      const before = collector();
      const consumer = await bus.consume(options, async ({ id }) => before.add(id));
      await bus.publish('task', [message('m1'), message('m2', 'other')]);
      await before.until((ids) => ids.length >= 2);
      await consumer.stop();
      const reopened = await test.reopen();
      await reopened.publish('task', [message('m3')]);
      const after = collector();
      await reopened.consume(options, async ({ id }) => after.add(id));
      await after.until((ids) => ids.includes('m3'));
      expect(after.seen).toEqual(['m3']);
    });

    it('delivers a message to the consumers of its topic only', async () => {
      const handled = collector();
      await bus.consume(options, async ({ id }) => handled.add(`task ${id}`));
      await bus.consume({ ...options, topic: 'run' }, async ({ id }) => handled.add(`run ${id}`));
      await bus.publish('run', [message('m1')]);
      await bus.publish('task', [message('m2')]);
      await handled.until((ids) => ids.length >= 2);
      expect(new Set(handled.seen)).toEqual(new Set(['run m1', 'task m2']));
    });

    it('publishes nothing for an empty list, and refuses to publish once closed', async () => {
      await bus.publish('task', []);
      await bus.close();
      await bus.close();
      await expect(bus.publish('task', [message('m1')])).rejects.toMatchObject({
        code: 'SERVER_ERROR',
        reason: 'bus_unavailable',
      });
    });

    it('is healthy as soon as it is ready, where it only asks too', async () => {
      await bus.ready();
      expect(await bus.health()).toBe('ok');
    });

    it('is healthy once its consumers are ready, and not after it was closed', async () => {
      await bus.consume(options, async () => undefined);
      await bus.respond('desk', async () => null);
      await bus.ready();
      expect(await bus.health()).toBe('ok');
      await bus.close();
      expect(await bus.health()).toBe('unreachable');
    });

    it('finishes what is being handled when it drains, and takes nothing more', async () => {
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
      bus.drain();
      await bus.publish('task', [message('m2')]);
      leave.resolve();
      await consumer.stop();
      expect(handled.seen).toEqual(['m1']);
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

    it('delivers an unfinished message again after a restart', async () => {
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

    it('finishes the message being handled before a consumer stops, and takes nothing more', async () => {
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

    it('leaves queued messages to the next start when a consumer stops', async () => {
      const entered = Promise.withResolvers<void>();
      const leave = Promise.withResolvers<void>();
      const handled = collector();
      const consumer = await bus.consume({ ...options, concurrency: 1 }, async ({ id }) => {
        entered.resolve();
        await leave.promise;
        handled.add(id);
      });
      await bus.publish('task', [message('m1'), message('m2'), message('m3', 'other')]);
      await entered.promise;
      const stopped = consumer.stop();
      leave.resolve();
      await stopped;
      expect(handled.seen).toHaveLength(1);
      const reopened = await test.reopen();
      const after = collector();
      await reopened.consume(options, async ({ id }) => after.add(id));
      await after.until((ids) => new Set([...ids, ...handled.seen]).size === 3);
    });

    if (!supports.replicas) {
      it('refuses a second process', async () => {
        await expect(test.another()).rejects.toBeInstanceOf(Error);
      });
      return;
    }

    it('spreads the messages of a group over its members', async () => {
      const second = await test.another();
      const handled = collector();
      const count = { one: 0, two: 0 };
      const take = (who: keyof typeof count) => async (got: BusMessage) => {
        count[who] += 1;
        handled.add(got.id);
      };
      await bus.consume(options, take('one'));
      await second.consume(options, take('two'));
      await Promise.all([bus.ready(), second.ready()]);
      const ids = Array.from({ length: 120 }, (_, index) => `m${index}`);
      await bus.publish(
        'task',
        ids.map((id) => message(id, `key of ${id}`)),
      );
      await handled.until((seen) => new Set(seen).size >= ids.length);
      expect(count.one).toBeGreaterThan(0);
      expect(count.two).toBeGreaterThan(0);
      expect(handled.seen.toSorted()).toEqual(ids.toSorted());
    });

    it('moves the share of a stopped member to the others', async () => {
      const second = await test.another();
      const handled = collector();
      await bus.consume(options, async ({ id }) => handled.add(`one ${id}`));
      const leaving = await second.consume(options, async ({ id }) => handled.add(`two ${id}`));
      await Promise.all([bus.ready(), second.ready()]);
      await leaving.stop();
      const keys = Array.from({ length: 40 }, (_, index) => `m${index}`);
      await second.publish(
        'task',
        keys.map((key) => message(key, key)),
      );
      await handled.until((seen) => seen.length >= keys.length);
      expect(new Set(handled.seen)).toEqual(new Set(keys.map((key) => `one ${key}`)));
    });

    it('retries in another process a message that a stopped member set aside', async () => {
      const second = await test.another();
      const reached = Promise.withResolvers<void>();
      const leaving = await bus.consume(options, async () => {
        reached.resolve();
        throw new Error('not here');
      });
      await second.publish('task', [message('m1')]);
      await reached.promise;
      await leaving.stop();
      const handled = collector();
      await second.consume(options, async ({ id }) => handled.add(id));
      await handled.until((ids) => ids.includes('m1'));
    });
  });
}
