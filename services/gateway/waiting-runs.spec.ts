import { describe, expect, it } from '@jest/globals';
import type { DocumentWrite, ReadStore } from '#read-store/read-store';
import { createWaitingRuns, type PlaceInLine } from './waiting-runs.js';

/** A view that shows so many pending runs of the task `a`, as of a revision. */
function setUp() {
  const shown: { pending: number; revision: number; checkpoint: number | null } = {
    pending: 0,
    revision: 0,
    checkpoint: null,
  };
  const time = { nowMs: 1_000 };
  const load = async (_view: unknown, [id = '']: readonly string[]) => {
    const pending = Array.from({ length: shown.pending }, (_, n) => ({ runId: `exe_${n}` }));
    return new Map(
      id === 'a' && shown.revision >= 0 ? [[id, { id, revision: shown.revision, document: { pending } }]] : [],
    );
  };
  const readStore = { load: load as unknown as ReadStore['load'], checkpoint: async () => shown.checkpoint };
  return { shown, time, waiting: createWaitingRuns(readStore, { now: () => time.nowMs }) };
}

const reasonOf = (error: unknown): unknown => (error as { reason?: unknown }).reason;

async function takeAll(waiting: ReturnType<typeof createWaitingRuns>, times: number) {
  const places: PlaceInLine[] = [];
  const refused: unknown[] = [];
  await Promise.all(
    Array.from({ length: times }, () =>
      waiting.take('a').then(
        (place) => void places.push(place),
        (error: unknown) => void refused.push(reasonOf(error)),
      ),
    ),
  );
  return { places, refused };
}

describe('runs that wait for their turn', () => {
  it('are twenty, however many ask in the same instant', async () => {
    const { waiting } = setUp();
    const { places, refused } = await takeAll(waiting, 60);
    expect(places).toHaveLength(20);
    expect(refused).toEqual(Array.from({ length: 40 }, () => 'too_many_runs_waiting'));
  });

  it('are as many fewer as the view shows', async () => {
    const { waiting, shown } = setUp();
    shown.pending = 17;
    expect((await takeAll(waiting, 60)).places).toHaveLength(3);
  });

  it('count once, whether the view shows them yet or not', async () => {
    const { waiting, shown } = setUp();
    const { places } = await takeAll(waiting, 12);
    places.forEach((place, index) => place.recorded(index + 1));
    Object.assign(shown, { pending: 12, revision: 12 });
    expect((await takeAll(waiting, 60)).places).toHaveLength(8);
  });

  it('are still counted after the view showed only some of them', async () => {
    const { waiting, shown } = setUp();
    const { places } = await takeAll(waiting, 20);
    places.forEach((place, index) => place.recorded(index + 1));
    // Of the five that it has seen, three are over.
    Object.assign(shown, { pending: 2, revision: 5 });
    expect((await takeAll(waiting, 60)).places).toHaveLength(3);
  });

  it('leave their place where no run came of it', async () => {
    const { waiting } = setUp();
    const { places } = await takeAll(waiting, 20);
    for (const place of places.slice(0, 4)) place.free();
    expect((await takeAll(waiting, 60)).places).toHaveLength(4);
  });

  it('leave their place once they are over, whatever the view still shows', async () => {
    const { waiting, shown } = setUp();
    const { places } = await takeAll(waiting, 20);
    places.forEach((place, index) => place.recorded(index + 1));
    Object.assign(shown, { pending: 20, revision: 20 });
    for (const [index, place] of places.slice(0, 6).entries()) place.over(`exe_${index}`);
    expect((await takeAll(waiting, 60)).places).toHaveLength(6);
  });

  it('are none where the view has come past them and shows no document', async () => {
    const { waiting, shown } = setUp();
    const { places } = await takeAll(waiting, 20);
    places.forEach((place, index) => place.recorded(index + 1));
    Object.assign(shown, { revision: -1, checkpoint: 19 });
    expect((await takeAll(waiting, 60)).places).toHaveLength(19);
  });

  it('are counted for each task by itself', async () => {
    const { waiting } = setUp();
    await takeAll(waiting, 20);
    await expect(waiting.take('b')).resolves.toBeDefined();
  });

  it('are counted without the view for ten seconds at most', async () => {
    const { waiting, time } = setUp();
    await takeAll(waiting, 20);
    time.nowMs += 9_999;
    expect((await takeAll(waiting, 1)).places).toHaveLength(0);
    time.nowMs += 1;
    expect((await takeAll(waiting, 60)).places).toHaveLength(20);
  });

  it('take no place where the view cannot be read', async () => {
    const gone = new Error('gone');
    let isAway = true;
    const load = async () => (isAway ? Promise.reject(gone) : new Map<string, DocumentWrite<object>>());
    const readStore = { load: load as unknown as ReadStore['load'], checkpoint: async () => null };
    const waiting = createWaitingRuns(readStore, { now: () => 0 });
    for (let time = 0; time < 30; time += 1) await expect(waiting.take('a')).rejects.toBe(gone);
    isAway = false;
    expect((await takeAll(waiting, 30)).places).toHaveLength(20);
  });
});
