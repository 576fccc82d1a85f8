/** What requests promise on every bus. An adapter's spec calls this beside `busContract`. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reject } from '#runtime/errors';
import { busContext as context, type BusSupports, type BusUnderTest } from './bus.contract.js';
import type { OpenedBus } from './bus.js';

export function busRequestsContract(name: string, create: () => Promise<BusUnderTest>, supports: BusSupports): void {
  describe(`requests on ${name}`, () => {
    let test: BusUnderTest;
    let bus: OpenedBus;
    beforeEach(async () => {
      test = await create();
      bus = test.bus;
    });
    afterEach(() => test.destroy());

    it('answers a request with what its responder returns', async () => {
      await bus.respond('double', async (payload, asked) => ({ twice: Number(payload['n']) * 2, actor: asked.actor }));
      expect(await bus.request('double', { n: 21 }, context)).toEqual({ twice: 42, actor: 'key:key_1' });
    });

    it('returns a responder’s AppError with code, reason and details', async () => {
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

    it('gives each of many concurrent requests its own answer', async () => {
      await bus.respond('echo', async (payload) => payload['n'] ?? null);
      const numbers = Array.from({ length: 50 }, (_, index) => index);
      expect(await Promise.all(numbers.map((n) => bus.request('echo', { n }, context)))).toEqual(numbers);
      expect(await bus.request('echo', {}, context)).toBeNull();
    });

    it('answers several names of one service, each by its own handler', async () => {
      const first = await bus.respond('desk.one', async () => 1);
      await bus.respond('desk.two', async () => 2);
      expect(await Promise.all([bus.request('desk.one', {}, context), bus.request('desk.two', {}, context)])).toEqual([
        1, 2,
      ]);
      await first.stop();
      await expect(bus.request('desk.one', {}, context, 300)).rejects.toMatchObject({ code: 'SERVER_ERROR' });
      expect(await bus.request('desk.two', {}, context)).toBe(2);
    });

    it('does not take a late answer for the answer to the next request', async () => {
      const late = Promise.withResolvers<void>();
      await bus.respond('echo', async (payload) => {
        if (payload['n'] === 1) await late.promise;
        return payload['n'] ?? null;
      });
      await expect(bus.request('echo', { n: 1 }, context, 200)).rejects.toMatchObject({ reason: 'deadline_exceeded' });
      const next = bus.request('echo', { n: 2 }, context);
      late.resolve();
      expect(await next).toBe(2);
      expect(await bus.request('echo', { n: 3 }, context)).toBe(3);
    });

    it('never executes a request whose deadline passed before a responder came', async () => {
      const asked: unknown[] = [];
      await expect(bus.request('desk', { n: 1 }, context, 100)).rejects.toMatchObject({ code: 'SERVER_ERROR' });
      await bus.respond('desk', async (payload) => {
        asked.push(payload['n']);
        return null;
      });
      await bus.request('desk', { n: 2 }, context);
      expect(asked).toEqual([2]);
    });

    it('rejects a request whose responder fails', async () => {
      await bus.respond('break', () => {
        throw new TypeError('a bug');
      });
      await expect(bus.request('break', {}, context)).rejects.toBeInstanceOf(Error);
    });

    it('refuses a second responder of one name in one process', async () => {
      const first = await bus.respond('one', async () => 1);
      await expect(bus.respond('one', async () => 2)).rejects.toBeInstanceOf(Error);
      await first.stop();
      await bus.respond('one', async () => 3);
      expect(await bus.request('one', {}, context)).toBe(3);
    });

    it('refuses a request without a responder', async () => {
      await expect(bus.request('nobody', {}, context, 200)).rejects.toMatchObject({ code: 'SERVER_ERROR' });
    });

    if (!supports.replicas) return;

    it('answers each request by exactly one of its responders, in any process', async () => {
      const second = await test.another();
      const asked: string[] = [];
      const answer = (who: string) => async (payload: { readonly [key: string]: unknown }) => {
        asked.push(`${String(payload['n'])}`);
        return who;
      };
      await bus.respond('desk', answer('one'));
      await second.respond('desk', answer('two'));
      await Promise.all([bus.ready(), second.ready()]);
      const numbers = Array.from({ length: 40 }, (_, index) => index);
      const answers = await Promise.all(
        numbers.map((n) => (n % 2 === 0 ? bus : second).request('desk', { n }, context)),
      );
      expect(new Set(answers)).toEqual(new Set(['one', 'two']));
      expect(asked.toSorted()).toEqual(numbers.map(String).toSorted());
    });

    it('goes on answering when one of two responders stops', async () => {
      const second = await test.another();
      const leaving = await bus.respond('desk', async () => 'one');
      await second.respond('desk', async () => 'two');
      await Promise.all([bus.ready(), second.ready()]);
      await leaving.stop();
      const answers = await Promise.all(Array.from({ length: 20 }, () => bus.request('desk', {}, context)));
      expect(new Set(answers)).toEqual(new Set(['two']));
    });
  });
}
