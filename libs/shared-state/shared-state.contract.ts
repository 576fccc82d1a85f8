/** What every shared state must do, whatever engine it stands on. A spec calls this with a way to make one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { claimOnce, type Claim } from './claim-once.js';
import { compareAndSet, type Contended } from './compare-and-set.js';
import type { SharedState, StateCollection } from './shared-state.js';

interface Counter extends Contended {
  readonly count: number;
}

const counters: StateCollection<Counter> = { name: 'counters', indexedBy: 'expiresAtMs' };
const notes: StateCollection<{ readonly text: string }> = { name: 'notes', indexedBy: null };

export interface SharedStateUnderTest {
  readonly state: SharedState;
  /** The same data as another process sees it, or one after a restart. */
  second(): Promise<SharedState>;
  destroy(): Promise<void>;
}

export function sharedStateContract(name: string, create: () => Promise<SharedStateUnderTest>): void {
  describe(`shared state on ${name}`, () => {
    let test: SharedStateUnderTest;
    let state: SharedState;
    beforeEach(async () => {
      test = await create();
      state = test.state;
    });
    afterEach(() => test.destroy());

    const textOf = async (key: string): Promise<string | undefined> =>
      (await state.load(notes, [key])).get(key)?.value?.text;
    const count = (by: SharedState, key: string, expiresAtMs = 1_000): Promise<Counter | null> =>
      compareAndSet(by, counters, key, (current) => ({ count: (current?.count ?? 0) + 1, expiresAtMs }));

    it('a value is loaded by key with its version, also by another process', async () => {
      await state.save(notes, [{ key: 'a', version: 3, value: { text: 'é\u0000"' } }]);
      const loaded = await (await test.second()).load(notes, ['a', 'missing']);
      expect([...loaded.values()]).toEqual([{ key: 'a', version: 3, value: { text: 'é\u0000"' } }]);
    });

    it('a write at or below the stored version changes nothing', async () => {
      await state.save(notes, [{ key: 'a', version: 2, value: { text: 'first' } }]);
      await state.save(notes, [{ key: 'a', version: 2, value: { text: 'same version' } }]);
      await state.save(notes, [{ key: 'a', version: 1, value: null }]);
      expect(await textOf('a')).toBe('first');
    });

    it('of several writes each stands or falls by its own version', async () => {
      await state.save(notes, [{ key: 'a', version: 5, value: { text: 'kept' } }]);
      await state.save(notes, [
        { key: 'a', version: 4, value: { text: 'late' } },
        { key: 'b', version: 1, value: { text: 'new' } },
      ]);
      expect([await textOf('a'), await textOf('b')]).toEqual(['kept', 'new']);
    });

    it('a removed value is gone and can be written again at a later version', async () => {
      await state.save(notes, [{ key: 'a', version: 1, value: { text: 'one' } }]);
      await state.save(notes, [{ key: 'a', version: 2, value: null }]);
      expect(await textOf('a')).toBeUndefined();
      expect(await state.list(notes, 10)).toEqual([]);
      await state.save(notes, [{ key: 'a', version: 3, value: { text: 'again' } }]);
      expect(await textOf('a')).toBe('again');
    });

    it('a list holds every value up to its limit, in the order of keys', async () => {
      const keys = ['c', 'a', 'd', 'b'];
      await state.save(
        notes,
        keys.map((key) => ({ key, version: 1, value: { text: key } })),
      );
      expect((await state.list(notes, 10)).map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd']);
      expect(await state.list(notes, 3)).toHaveLength(3);
    });

    it('expired values are removed, however many, and the others stay', async () => {
      const values = Array.from({ length: 1_100 }, (_, index) => `key-${index}`).map((key, index) => ({
        key,
        version: 1,
        value: { id: key, writes: ['w'], count: 1, expiresAtMs: 2 * index },
      }));
      await state.save(counters, values);
      await state.removeExpired(counters, 2 * 1_050 - 1);
      const left = (await state.list(counters, 2_000)).map(({ expiresAtMs }) => expiresAtMs);
      expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => 2 * (1_050 + index)));
    });

    it('no concurrent compare-and-set of several processes is lost or applied twice', async () => {
      const processes = [state, await test.second(), await test.second()];
      await Promise.all(Array.from({ length: 30 }, (_, index) => count(processes[index % 3] ?? state, 'a')));
      expect((await state.load(counters, ['a'])).get('a')?.value?.count).toBe(30);
    });

    it('a compare-and-set that others write on top of before it looks is applied once', async () => {
      const slow: SharedState = {
        ...state,
        save: async (collection, writes) => {
          await state.save(collection, writes);
          await count(state, 'a');
          await count(state, 'a');
        },
      };
      await count(slow, 'a');
      expect((await state.load(counters, ['a'])).get('a')?.value?.count).toBe(3);
    });

    it('a claim is had by one of several processes, once', async () => {
      const claims: StateCollection<Claim> = { name: 'claims', indexedBy: 'expiresAtMs' };
      const processes = [state, await test.second()];
      const had = await Promise.all(
        Array.from({ length: 10 }, (_, index) => claimOnce(processes[index % 2] ?? state, claims, 'a', 1_000)),
      );
      expect(had.filter(Boolean)).toHaveLength(1);
      expect(await claimOnce(state, claims, 'a', 1_000)).toBe(false);
      expect(await claimOnce(state, claims, 'b', 1_000)).toBe(true);
    });

    it('a compare-and-set whose change is null writes nothing', async () => {
      await count(state, 'a');
      expect(await compareAndSet(state, counters, 'a', () => null)).toBeNull();
      expect((await state.load(counters, ['a'])).get('a')).toMatchObject({ version: 1, value: { count: 1 } });
    });

    it('a compare-and-set counts on after the value has expired and was removed', async () => {
      await count(state, 'a', 10);
      await state.removeExpired(counters, 11);
      expect(await count(state, 'a', 20)).toMatchObject({ id: 'a', count: 1, expiresAtMs: 20 });
    });
  });
}
