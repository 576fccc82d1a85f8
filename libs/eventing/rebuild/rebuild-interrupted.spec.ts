import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ViewStore } from '#read-store/read-store';
import { unavailable } from '#runtime/errors';
import { found } from '#runtime/probe.kit';
import type { SharedState } from '#shared-state/shared-state';
import { list, requestedAt, RebuildKit, view } from './rebuild.kit.js';
import { rebuildOf, requestRebuild } from './requests.js';

describe('a rebuild that is interrupted', () => {
  let kit: RebuildKit;

  beforeEach(() => {
    kit = new RebuildKit();
  });
  afterEach(() => kit.close());

  /** Names under which anything was built. */
  const builds = new Set<string>();

  /** Fails from a certain call on, as where the process dies there: what was done stays, nothing more is done. */
  function dyingAt(step: number): {
    readonly store: ViewStore;
    readonly state: SharedState;
    readonly died: Promise<void>;
    readonly steps: () => number;
  } {
    let calls = 0;
    const death = Promise.withResolvers<void>();
    const guarded =
      <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        calls += 1;
        if (calls < step) return work(...args);
        death.resolve();
        return new Promise(() => undefined);
      };
    return {
      died: death.promise,
      steps: () => calls,
      state: { ...kit.sharedState, save: (target, writes) => guarded(kit.sharedState.save)(target, writes) },
      store: {
        ...kit.readStore,
        save: (target, ...more) => {
          if (target.name.includes('_build_')) builds.add(target.name);
          return target.name === view.name
            ? kit.readStore.save(target, ...more)
            : guarded(kit.readStore.save)(target, ...more);
        },
        reset: guarded(kit.readStore.reset),
        replace: guarded(kit.readStore.replace),
      },
    };
  }

  it('at any step leaves one whole view, and the next owner finishes it', async () => {
    const last = await kit.append(300);
    kit.projection = kit.start();
    await kit.caughtUp(last);
    await kit.projection.stop();
    const before = await kit.bytes();
    // How many steps a whole one takes.
    const whole = dyingAt(Infinity);
    kit.projection = kit.start(whole.store, whole.state);
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    await kit.ended();
    await kit.projection.stop();
    const steps = whole.steps();
    expect(steps).toBeGreaterThan(5);
    for (let step = 1; step <= steps; step += 1) {
      await requestRebuild(kit.sharedState, view.name, `${step}`);
      const dying = dyingAt(step);
      const dead = kit.start(dying.store, dying.state);
      await dying.died;
      expect(await kit.bytes()).toBe(before);
      kit.projection = kit.start();
      expect(await kit.ended()).toMatchObject({ state: 'done', requestedAt: `${step}` });
      expect(await kit.bytes()).toBe(before);
      await kit.projection.stop();
      // What is dead cannot be waited for; it is only kept from going on.
      void dead.stop();
      await kit.caughtUp(last);
    }
    expect(builds.size).toBeGreaterThan(2);
    for (const name of builds) {
      expect([name, await kit.readStore.checkpoint({ ...view, name })]).toEqual([name, null]);
      expect([name, (await kit.readStore.page({ ...view, name }, list)).total]).toEqual([name, 0]);
    }
  });

  it('by an outage of the store resumes after it', async () => {
    await kit.append(900);
    let failures = 3;
    const store: ViewStore = {
      ...kit.readStore,
      async save(target, ...more) {
        if (target.name.includes('_build_') && failures > 0) {
          failures -= 1;
          throw unavailable('read_store_unavailable', 'gone');
        }
        return kit.readStore.save(target, ...more);
      },
    };
    kit.projection = kit.start(store);
    await kit.caughtUp(kit.appended);
    const before = await kit.bytes();
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    expect((await kit.ended()).state).toBe('done');
    expect(failures).toBe(0);
    expect(await kit.bytes()).toBe(before);
  });

  it('by an orderly stop ends soon, and restarts at the next start', async () => {
    kit.projection = kit.start();
    await kit.caughtUp(await kit.append(2_000));
    const before = await kit.bytes();
    await requestRebuild(kit.sharedState, view.name, requestedAt);
    await found(async () => (await rebuildOf(kit.sharedState, view.name))?.state !== 'requested');
    await kit.projection.stop();
    expect(await kit.bytes()).toBe(before);
    kit.projection = kit.start();
    expect((await kit.ended()).state).toBe('done');
    expect(await kit.bytes()).toBe(before);
  });
});
