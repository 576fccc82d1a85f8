import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ViewStore } from '#read-store/read-store';
import { found, lasting } from '#runtime/probe.kit';
import type { SharedState } from '#shared-state/shared-state';
import { requestedAt, RebuildKit, view } from './rebuild.kit.js';
import { rebuildOf, requestRebuild } from './requests.js';

describe('a rebuild', () => {
  let kit: RebuildKit;

  beforeEach(() => {
    kit = new RebuildKit();
  });
  afterEach(() => kit.close());

  it('makes the same bytes as the live view, and leaves no temporary view', async () => {
    const last = await kit.append(1_500);
    kit.projection = kit.start();
    await kit.caughtUp(last);
    const before = await kit.bytes();
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    const rebuild = await kit.ended();
    expect(rebuild).toMatchObject({ state: 'done', events: 1_200, error: null });
    expect(rebuild.done).toBe(rebuild.total);
    expect(await kit.bytes()).toBe(before);
    expect(await kit.readStore.checkpoint({ ...view, name: rebuild.build ?? '' })).toBeNull();
  });

  it('repairs a view whose documents were changed or lost', async () => {
    const last = await kit.append(500);
    kit.projection = kit.start();
    await kit.caughtUp(last);
    const right = await kit.bytes();
    const stored = await kit.readStore.load(view, ['3', '4']);
    await kit.readStore.save(
      view,
      [
        { id: '3', revision: (stored.get('3')?.revision ?? 0) + 0.5, document: { count: -1 } },
        { id: '4', revision: (stored.get('4')?.revision ?? 0) + 0.5, document: null },
      ],
      null,
    );
    expect(await kit.bytes()).not.toBe(right);
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    await kit.ended();
    expect(await kit.bytes()).toBe(right);
  });

  it('includes events that arrive meanwhile, and the live view goes on', async () => {
    kit.projection = kit.start();
    await kit.caughtUp(await kit.append(1_000));
    let writing = true;
    const writer = (async () => {
      while (writing) {
        const last = await kit.append(20);
        await found(async () => ((await kit.readStore.checkpoint(view)) ?? 0) >= last - 200);
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      await requestRebuild(kit.sharedState, view.name, requestedAt);
      await found(async () => (await rebuildOf(kit.sharedState, view.name))?.state !== 'requested');
      expect((await kit.ended()).state).toBe('done');
    }
    writing = false;
    await writer;
    await kit.caughtUp(await kit.append(1));
    expect(await kit.bytes()).toBe(await kit.replayed());
  });

  it('of a view without events finishes at once', async () => {
    kit.projection = kit.start();
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    expect(await kit.ended()).toMatchObject({ state: 'done', events: 0 });
    await kit.caughtUp(await kit.append(3));
  });

  it('of a view without new events finishes while other streams grow', async () => {
    kit.projection = kit.start();
    await kit.caughtUp(await kit.append(4));
    for (let index = 0; index < 700; index += 1) {
      kit.appended += 1;
      const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: requestedAt };
      await kit.eventStore.append(
        `noise-${index}`,
        [{ id: crypto.randomUUID(), type: 'x', version: 1, data: {}, metadata }],
        'none',
      );
    }
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    expect(await kit.ended()).toMatchObject({ state: 'done', events: 4 });
    expect(JSON.parse(await kit.bytes())).toHaveLength(4);
  });

  describe('as the initial build of a view', () => {
    /** More than is handed over at once. */
    const much = 4_600;
    const appendMuch = async (): Promise<void> => {
      const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: requestedAt };
      const events = Array.from({ length: much }, (_, index) => ({
        id: crypto.randomUUID(),
        type: 'counted',
        version: 1,
        data: { note: `m${index}` },
        metadata,
      }));
      await kit.eventStore.append('count-many', events, 'none');
      kit.appended += much;
    };
    /** The store as it is, and which builds took the live view's place. */
    const watched = () => {
      const replaced: string[] = [];
      const states = new Set<unknown>();
      const state: SharedState = {
        ...kit.sharedState,
        async save(target, writes) {
          for (const { value } of writes) if (value !== null && 'state' in value) states.add(value.state);
          return kit.sharedState.save(target, writes);
        },
      };
      const store: ViewStore = {
        ...kit.readStore,
        async replace(target, built) {
          replaced.push(built.name);
          return kit.readStore.replace(target, built);
        },
      };
      return { store, state, replaced, states };
    };

    it('runs without a request, and answers one that is made meanwhile', async () => {
      await kit.append(40);
      await appendMuch();
      await requestRebuild(kit.sharedState, view.name, requestedAt);
      const { store, state, replaced, states } = watched();
      kit.projection = kit.start(store, state);
      const rebuild = await kit.ended();
      expect(rebuild).toMatchObject({ state: 'done', events: much + 32, requestedAt, error: null });
      expect(rebuild.done).toBe(rebuild.total);
      expect(states).toEqual(new Set(['building', 'done']));
      expect(await kit.bytes()).toBe(await kit.replayed());
      await kit.caughtUp(await kit.append(3));
      expect(replaced).toEqual([rebuild.build]);
    });

    it('reports its progress without a request', async () => {
      await appendMuch();
      kit.projection = kit.start();
      expect(await kit.ended()).toMatchObject({ state: 'done', events: much });
      await kit.caughtUp(kit.appended);
    });

    it('is skipped where there are few events to read', async () => {
      const last = await kit.append(300);
      const { store, replaced } = watched();
      kit.projection = kit.start(store);
      await kit.caughtUp(last);
      expect([replaced, await rebuildOf(kit.sharedState, view.name)]).toEqual([[], null]);
    });

    it('restarts after the process was killed, and leaves nothing of the first build', async () => {
      await appendMuch();
      const dying = watched();
      const death = Promise.withResolvers<void>();
      let built = '';
      const dead = kit.start({
        ...dying.store,
        replace: async (_, { name }) => {
          built = name;
          death.resolve();
          return new Promise(() => undefined);
        },
      });
      await death.promise;
      expect(await kit.readStore.checkpoint(view)).toBeNull();
      kit.projection = kit.start();
      await kit.caughtUp(kit.appended);
      expect(await kit.ended()).toMatchObject({ state: 'done', events: much });
      expect(await kit.readStore.checkpoint({ ...view, name: built })).toBeNull();
      // What is dead cannot be waited for.
      void dead.stop();
    });

    it('lets the view catch up as far as it can where an event is unreadable', async () => {
      await appendMuch();
      await kit.append(1, 'poison', { isDeadly: true });
      kit.projection = kit.start();
      expect(await kit.ended()).toMatchObject({ state: 'failed', error: expect.stringContaining('nobody can read') });
      // Its document is written and removed again on the way there, and written ahead of the checkpoint.
      const isAsFar = async () =>
        ((await kit.readStore.checkpoint(view)) ?? 0) >= 4_000 && (await kit.bytes()) !== '[]';
      expect(await found(isAsFar)).toBe(true);
    });
  });

  it('requested twice runs once', async () => {
    kit.projection = kit.start();
    await kit.caughtUp(await kit.append(50));
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    await requestRebuild(kit.sharedState, view.name, 'later');
    expect((await kit.ended()).requestedAt).toBe(requestedAt);
  });

  it('fails on an unreadable event: the live view stays, no temporary view is left, and it can be requested again', async () => {
    kit.projection = kit.start();
    await kit.caughtUp(await kit.append(100));
    const before = await kit.bytes();
    await kit.projection.stop();
    // Written while nobody looked, by a version that could read it.
    await kit.append(1, 'poison', { isDeadly: true });
    await kit.readStore.save(view, [], kit.appended);
    kit.projection = kit.start();
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    expect(await kit.ended()).toMatchObject({ state: 'failed', error: expect.stringContaining('nobody can read') });
    expect(await kit.bytes()).toBe(before);
    await requestRebuild(kit.sharedState, view.name, 'again');
    expect(await found(async () => (await rebuildOf(kit.sharedState, view.name))?.requestedAt === 'again')).toBe(true);
  });

  it('beside a second projector of the same view converges', async () => {
    await kit.append(600);
    kit.projection = kit.start();
    const other = kit.start();
    await kit.caughtUp(kit.appended);
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    let writing = true;
    const writer = (async () => {
      while (writing) {
        await kit.append(10);
        await lasting(5);
      }
    })();
    await kit.ended();
    writing = false;
    await writer;
    await kit.caughtUp(await kit.append(1));
    expect(await kit.bytes()).toBe(await kit.replayed());
    await other.stop();
  });
});
