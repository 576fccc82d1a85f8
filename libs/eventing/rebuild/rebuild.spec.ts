import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { LeasedWork } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { unavailable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { found, lasting } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { startProjection } from '../projection.js';
import type { ViewDefinition, ViewStore } from '#read-store/read-store';
import { rebuildOf, requestRebuild, type Rebuild } from './requests.js';
import { createSqliteReadStore } from '#read-store/sqlite';

const view: ViewDefinition = { name: 'counts', fields: ['count'], indexes: [['count']] };
const prefixes = ['count-'];
const requestedAt = '2026-01-01T00:00:00.000Z';
const list = { where: [], sort: [], limit: 10_000, offset: 0, count: true };

function idOf({ stream }: RecordedEvent): string {
  return stream.slice('count-'.length);
}

/** Keeps a count and the last note; every seventh event removes the document. */
function reduce(document: JsonObject | null, event: RecordedEvent): JsonObject | null {
  if (event.type === 'poison' && event.data['isDeadly'] === true) throw new Error('an event that nobody can read');
  if (event.revision % 7 === 6) return null;
  const note: unknown = event.revision % 3 === 0 ? undefined : event.data['note'];
  return { ...document, count: Number(document?.['count'] ?? 0) + 1, note, at: event.position } as JsonObject;
}

describe('a rebuild', () => {
  let eventStore: EventStore;
  let readStore: ViewStore;
  let sharedState: SharedState;
  let projection: LeasedWork;
  let appended = 0;
  const revisions = new Map<string, number>();

  const append = async (count: number, type = 'counted', data: JsonObject = {}): Promise<number> => {
    let position = 0;
    for (let index = 0; index < count; index += 1) {
      appended += 1;
      // Now and then a stream that the view does not follow: positions have gaps.
      const stream = appended % 5 === 0 ? `other-${appended}` : `count-${appended % 37}`;
      const revision = revisions.get(stream);
      const result = await eventStore.append(
        stream,
        [
          {
            id: crypto.randomUUID(),
            type,
            version: 1,
            data: { note: `n${appended}`, ...data },
            metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: requestedAt },
          },
        ],
        revision ?? 'none',
      );
      if (!result.ok) throw new Error('a lost race');
      revisions.set(stream, result.revision);
      position = result.position;
    }
    return position;
  };

  const start = (store: ViewStore = readStore, state: SharedState = sharedState): LeasedWork =>
    startProjection({
      view,
      prefixes,
      eventStore,
      readStore: store,
      sharedState: state,
      leases: createSoleLeases(),
      logger: silentLogger,
      lookEveryMs: 500,
      idOf,
      reduce,
    });

  const ended = (): Promise<Rebuild> =>
    found(async () => {
      const rebuild = await rebuildOf(sharedState, view.name);
      return rebuild?.state === 'done' || rebuild?.state === 'failed' ? rebuild : null;
    });
  const caughtUp = (position: number): Promise<boolean> =>
    found(
      async () => ((await readStore.checkpoint(view)) ?? 0) >= position - 1 && (await bytes()) === (await replayed()),
    );

  const bytes = async (store: ViewStore = readStore): Promise<string> =>
    JSON.stringify((await store.page(view, list)).documents);
  /** What the events say, applied one by one, each document stored and read between. */
  const replayed = async (): Promise<string> => {
    const documents = new Map<string, string | null>();
    const ending = new AbortController();
    let last = 0;
    for await (const { events, position } of eventStore.subscribe({
      prefixes: [''],
      after: null,
      signal: ending.signal,
    })) {
      for (const event of events) {
        if (!event.stream.startsWith('count-')) continue;
        const known = documents.get(idOf(event)) ?? null;
        const next = reduce(known === null ? null : (JSON.parse(known) as JsonObject), event);
        documents.set(idOf(event), next === null ? null : JSON.stringify(next));
      }
      last += events.length;
      if (last >= appended || position >= appended) break;
    }
    ending.abort();
    const kept = [...documents].filter(([, text]) => text !== null).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `[${kept.map(([, text]) => text).join(',')}]`;
  };

  beforeEach(() => {
    appended = 0;
    revisions.clear();
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    sharedState = createDocumentState(readStore);
  });
  afterEach(async () => {
    await projection.stop();
    await readStore.close();
    await eventStore.close();
  });

  it('makes the same bytes as the live view, and leaves no temporary view', async () => {
    const last = await append(1_500);
    projection = start();
    await caughtUp(last);
    const before = await bytes();
    await requestRebuild(sharedState, view.name, requestedAt);
    const rebuild = await ended();
    expect(rebuild).toMatchObject({ state: 'done', events: 1_200, error: null });
    expect(rebuild.done).toBe(rebuild.total);
    expect(await bytes()).toBe(before);
    expect(await readStore.checkpoint({ ...view, name: rebuild.build ?? '' })).toBeNull();
  });

  it('repairs a view whose documents were changed or lost', async () => {
    const last = await append(500);
    projection = start();
    await caughtUp(last);
    const right = await bytes();
    const stored = await readStore.load(view, ['3', '4']);
    await readStore.save(
      view,
      [
        { id: '3', revision: (stored.get('3')?.revision ?? 0) + 0.5, document: { count: -1 } },
        { id: '4', revision: (stored.get('4')?.revision ?? 0) + 0.5, document: null },
      ],
      null,
    );
    expect(await bytes()).not.toBe(right);
    await requestRebuild(sharedState, view.name, requestedAt);
    await ended();
    expect(await bytes()).toBe(right);
  });

  it('includes events that arrive meanwhile, and the live view goes on', async () => {
    projection = start();
    await caughtUp(await append(1_000));
    let writing = true;
    const writer = (async () => {
      while (writing) {
        const last = await append(20);
        await found(async () => ((await readStore.checkpoint(view)) ?? 0) >= last - 200);
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      await requestRebuild(sharedState, view.name, requestedAt);
      await found(async () => (await rebuildOf(sharedState, view.name))?.state !== 'requested');
      expect((await ended()).state).toBe('done');
    }
    writing = false;
    await writer;
    await caughtUp(await append(1));
    expect(await bytes()).toBe(await replayed());
  });

  it('of a view without events finishes at once', async () => {
    projection = start();
    await requestRebuild(sharedState, view.name, requestedAt);
    expect(await ended()).toMatchObject({ state: 'done', events: 0 });
    await caughtUp(await append(3));
  });

  it('of a view without new events finishes while other streams grow', async () => {
    projection = start();
    await caughtUp(await append(4));
    for (let index = 0; index < 700; index += 1) {
      appended += 1;
      const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: requestedAt };
      await eventStore.append(
        `noise-${index}`,
        [{ id: crypto.randomUUID(), type: 'x', version: 1, data: {}, metadata }],
        'none',
      );
    }
    await requestRebuild(sharedState, view.name, requestedAt);
    expect(await ended()).toMatchObject({ state: 'done', events: 4 });
    expect(JSON.parse(await bytes())).toHaveLength(4);
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
      await eventStore.append('count-many', events, 'none');
      appended += much;
    };
    /** The store as it is, and which builds took the live view's place. */
    const watched = () => {
      const replaced: string[] = [];
      const states = new Set<unknown>();
      const state: SharedState = {
        ...sharedState,
        async save(target, writes) {
          for (const { value } of writes) if (value !== null && 'state' in value) states.add(value.state);
          return sharedState.save(target, writes);
        },
      };
      const store: ViewStore = {
        ...readStore,
        async replace(target, built) {
          replaced.push(built.name);
          return readStore.replace(target, built);
        },
      };
      return { store, state, replaced, states };
    };

    it('runs without a request, and answers one that is made meanwhile', async () => {
      await append(40);
      await appendMuch();
      await requestRebuild(sharedState, view.name, requestedAt);
      const { store, state, replaced, states } = watched();
      projection = start(store, state);
      const rebuild = await ended();
      expect(rebuild).toMatchObject({ state: 'done', events: much + 32, requestedAt, error: null });
      expect(rebuild.done).toBe(rebuild.total);
      expect(states).toEqual(new Set(['building', 'done']));
      expect(await bytes()).toBe(await replayed());
      await caughtUp(await append(3));
      expect(replaced).toEqual([rebuild.build]);
    });

    it('reports its progress without a request', async () => {
      await appendMuch();
      projection = start();
      expect(await ended()).toMatchObject({ state: 'done', events: much });
      await caughtUp(appended);
    });

    it('is skipped where there are few events to read', async () => {
      const last = await append(300);
      const { store, replaced } = watched();
      projection = start(store);
      await caughtUp(last);
      expect([replaced, await rebuildOf(sharedState, view.name)]).toEqual([[], null]);
    });

    it('restarts after the process was killed, and leaves nothing of the first build', async () => {
      await appendMuch();
      const dying = watched();
      const death = Promise.withResolvers<void>();
      let built = '';
      const dead = start({
        ...dying.store,
        replace: async (_, { name }) => {
          built = name;
          death.resolve();
          return new Promise(() => undefined);
        },
      });
      await death.promise;
      expect(await readStore.checkpoint(view)).toBeNull();
      projection = start();
      await caughtUp(appended);
      expect(await ended()).toMatchObject({ state: 'done', events: much });
      expect(await readStore.checkpoint({ ...view, name: built })).toBeNull();
      // What is dead cannot be waited for.
      void dead.stop();
    });

    it('lets the view catch up as far as it can where an event is unreadable', async () => {
      await appendMuch();
      await append(1, 'poison', { isDeadly: true });
      projection = start();
      expect(await ended()).toMatchObject({ state: 'failed', error: expect.stringContaining('nobody can read') });
      expect(await found(async () => ((await readStore.checkpoint(view)) ?? 0) >= 4_000)).toBe(true);
      expect(JSON.parse(await bytes())).toHaveLength(1);
    });
  });

  it('requested twice runs once', async () => {
    projection = start();
    await caughtUp(await append(50));
    await requestRebuild(sharedState, view.name, requestedAt);
    await requestRebuild(sharedState, view.name, 'later');
    expect((await ended()).requestedAt).toBe(requestedAt);
  });

  it('fails on an unreadable event: the live view stays, no temporary view is left, and it can be requested again', async () => {
    projection = start();
    await caughtUp(await append(100));
    const before = await bytes();
    await projection.stop();
    // Written while nobody looked, by a version that could read it.
    await append(1, 'poison', { isDeadly: true });
    await readStore.save(view, [], appended);
    projection = start();
    await requestRebuild(sharedState, view.name, requestedAt);
    expect(await ended()).toMatchObject({ state: 'failed', error: expect.stringContaining('nobody can read') });
    expect(await bytes()).toBe(before);
    await requestRebuild(sharedState, view.name, 'again');
    expect(await found(async () => (await rebuildOf(sharedState, view.name))?.requestedAt === 'again')).toBe(true);
  });

  describe('that is interrupted', () => {
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
        state: { ...sharedState, save: (target, writes) => guarded(sharedState.save)(target, writes) },
        store: {
          ...readStore,
          save: (target, ...more) => {
            if (target.name.includes('_build_')) builds.add(target.name);
            return target.name === view.name
              ? readStore.save(target, ...more)
              : guarded(readStore.save)(target, ...more);
          },
          reset: guarded(readStore.reset),
          replace: guarded(readStore.replace),
        },
      };
    }

    it('at any step leaves one whole view, and the next owner finishes it', async () => {
      const last = await append(300);
      projection = start();
      await caughtUp(last);
      await projection.stop();
      const before = await bytes();
      // How many steps a whole one takes.
      const whole = dyingAt(Infinity);
      projection = start(whole.store, whole.state);
      await requestRebuild(sharedState, view.name, requestedAt);
      await ended();
      await projection.stop();
      const steps = whole.steps();
      expect(steps).toBeGreaterThan(5);
      for (let step = 1; step <= steps; step += 1) {
        await requestRebuild(sharedState, view.name, `${step}`);
        const dying = dyingAt(step);
        const dead = start(dying.store, dying.state);
        await dying.died;
        expect(await bytes()).toBe(before);
        projection = start();
        expect(await ended()).toMatchObject({ state: 'done', requestedAt: `${step}` });
        expect(await bytes()).toBe(before);
        await projection.stop();
        // What is dead cannot be waited for; it is only kept from going on.
        void dead.stop();
        await caughtUp(last);
      }
      expect(builds.size).toBeGreaterThan(2);
      for (const name of builds) {
        expect([name, await readStore.checkpoint({ ...view, name })]).toEqual([name, null]);
        expect([name, (await readStore.page({ ...view, name }, list)).total]).toEqual([name, 0]);
      }
    });

    it('by an outage of the store resumes after it', async () => {
      await append(900);
      let failures = 3;
      const store: ViewStore = {
        ...readStore,
        async save(target, ...more) {
          if (target.name.includes('_build_') && failures > 0) {
            failures -= 1;
            throw unavailable('read_store_unavailable', 'gone');
          }
          return readStore.save(target, ...more);
        },
      };
      projection = start(store);
      await caughtUp(appended);
      const before = await bytes();
      await requestRebuild(sharedState, view.name, requestedAt);
      expect((await ended()).state).toBe('done');
      expect(failures).toBe(0);
      expect(await bytes()).toBe(before);
    });

    it('by an orderly stop ends soon, and restarts at the next start', async () => {
      projection = start();
      await caughtUp(await append(2_000));
      const before = await bytes();
      await requestRebuild(sharedState, view.name, requestedAt);
      await found(async () => (await rebuildOf(sharedState, view.name))?.state !== 'requested');
      await projection.stop();
      expect(await bytes()).toBe(before);
      projection = start();
      expect((await ended()).state).toBe('done');
      expect(await bytes()).toBe(before);
    });
  });

  it('beside a second projector of the same view converges', async () => {
    await append(600);
    projection = start();
    const other = start();
    await caughtUp(appended);
    await requestRebuild(sharedState, view.name, requestedAt);
    let writing = true;
    const writer = (async () => {
      while (writing) {
        await append(10);
        await lasting(5);
      }
    })();
    await ended();
    writing = false;
    await writer;
    await caughtUp(await append(1));
    expect(await bytes()).toBe(await replayed());
    await other.stop();
  });
});
