/** What every store of snapshots promises: an adapter's spec calls this with a way to open one. */
import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIds } from '#runtime/ids';
import { readPageOfRun, type Retention, type Snapshot, type Snapshots } from './snapshots.js';

export interface SnapshotsUnderTest {
  /** Again on the same place: what another process, or the next start of this one, sees. */
  open(retention: Retention): Promise<Snapshots>;
  /** How many contents lie in the store, whoever names them. */
  contents(): Promise<number>;
  /** Changes stored bytes of every content. */
  damage(): Promise<void>;
  /** Writes other facts in the place of those of every snapshot. */
  alter(change: (facts: string) => string): Promise<void>;
  /** Leaves behind what a process leaves that was killed in the middle of a `save`, long ago. */
  orphan(): Promise<void>;
  dispose(): Promise<void>;
  /** Whether two processes may hold it at once. */
  readonly isShared: boolean;
}

const ids = createIds();
const noon = Date.UTC(2026, 0, 1, 12);
const dayMs = 86_400_000;
const keepAll: Retention = { keepCount: 1_000, keepDays: 3_650 };
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export function snapshotOf(body: Uint8Array, more: Partial<Snapshot> = {}): Snapshot {
  return {
    id: ids.next('snp'),
    organizationId: 'org_00000000000000000000000001',
    taskId: 'ntf_00000000000000000000000001',
    taskRevision: 3,
    takenAt: new Date(noon).toISOString(),
    url: 'https://shop.example/#part',
    finalUrl: 'https://shop.example/d/#part',
    status: 200,
    headers: { 'content-type': 'text/html', etag: '"1"' },
    contentKind: 'html',
    encoding: 'utf-8',
    contentHash: `sha256:${hash('sha256', body, 'hex')}`,
    bytes: body.byteLength,
    ...more,
  };
}

export function describeSnapshots(name: string, create: () => Promise<SnapshotsUnderTest>): void {
  describe(`${name} as a store of snapshots`, () => {
    let place: SnapshotsUnderTest;
    let opened: Snapshots[];
    beforeEach(async () => {
      place = await create();
      opened = [];
    });
    afterEach(async () => {
      for (const store of opened) await store.close();
      await place.dispose();
    });

    async function open(retention = keepAll): Promise<Snapshots> {
      const store = await place.open(retention);
      opened.push(store);
      return store;
    }
    async function reopen(store: Snapshots, retention = keepAll): Promise<Snapshots> {
      await store.close();
      opened = opened.filter((one) => one !== store);
      return open(retention);
    }
    const at = (days: number): string => new Date(noon + days * dayMs).toISOString();
    const taskOf = (number: number): string => `ntf_${String(number).padStart(26, '0')}`;
    async function keep(store: Snapshots, text: string, more: Partial<Snapshot> = {}): Promise<Snapshot> {
      const body = bytesOf(text);
      const snapshot = snapshotOf(body, more);
      await store.save(snapshot, body);
      return snapshot;
    }

    it.each([
      ['nothing', ''],
      ['a page', '<p>tea 1.234,50 €</p>'],
      ['NUL and a lone surrogate as it arrives', 'a\0b\ufffd'],
      ['100 KB', '<p>price</p>'.repeat(8_400)],
      ['3 MB that repeats', 'x'.repeat(3_000_000)],
    ])('gives back what it was given: %s', async (_, text) => {
      const store = await open();
      const snapshot = await keep(store, text);
      const found = await store.read(snapshot.taskId, snapshot.id);
      expect(found?.snapshot).toEqual(snapshot);
      expect(textOf(found?.body ?? new Uint8Array(0)) === text).toBe(true);
      expect(await store.list(snapshot.taskId, 10)).toEqual([snapshot]);
    });

    it('gives back a megabyte that does not compress', async () => {
      const store = await open();
      const body = randomBytes(1_048_576);
      const snapshot = snapshotOf(body);
      await store.save(snapshot, body);
      expect(Buffer.compare((await store.read(snapshot.taskId, snapshot.id))?.body ?? new Uint8Array(0), body)).toBe(0);
    });

    it('has nothing of what it was not given', async () => {
      const store = await open();
      const snapshot = await keep(store, '<p>1');
      expect(await store.read(taskOf(1), ids.next('snp'))).toBe(null);
      expect(await store.read(taskOf(9), snapshot.id)).toBe(null);
      for (const id of ['../../etc/passwd', '..', '', '*', '{"$gt":""}', 'snp_\0']) {
        expect(await store.read(taskOf(1), id)).toBe(null);
        expect(await store.read(id, snapshot.id)).toBe(null);
        expect(await store.list(id, 10)).toEqual([]);
        await store.forget(id);
      }
      expect(await store.list(taskOf(9), 10)).toEqual([]);
      await store.forget(taskOf(9));
      expect(await store.sweep(noon)).toBe(0);
    });

    it('keeps what it has past the end of its process', async () => {
      const store = await open();
      const snapshot = await keep(store, '<p>1');
      const again = await reopen(store);
      expect(textOf((await again.read(snapshot.taskId, snapshot.id))?.body ?? new Uint8Array(0))).toBe('<p>1');
    });

    it('takes the same one twice to no effect', async () => {
      const store = await open();
      const snapshot = await keep(store, '<p>1');
      await store.save(snapshot, bytesOf('<p>1'));
      expect(await store.list(snapshot.taskId, 10)).toEqual([snapshot]);
      expect(await place.contents()).toBe(1);
    });

    it('lists the newest first, and no more than asked for', async () => {
      const store = await open();
      const taken = [];
      for (const day of [2, 0, 3, 1]) taken.push(await keep(store, `<p>${day}`, { takenAt: at(day) }));
      const newestFirst = taken.toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1)).map(({ id }) => id);
      expect((await store.list(taskOf(1), 10)).map(({ id }) => id)).toEqual(newestFirst);
      expect((await store.list(taskOf(1), 2)).map(({ id }) => id)).toEqual(newestFirst.slice(0, 2));
    });

    it('stores a content once, however many snapshots name it', async () => {
      const store = await open();
      for (const number of [1, 2, 3]) {
        await keep(store, '<p>same', { taskId: taskOf(number) });
        await keep(store, '<p>same', { taskId: taskOf(number), takenAt: at(1) });
      }
      expect(await place.contents()).toBe(1);
    });

    it('stores a content once for each organisation: none can tell what another has', async () => {
      const store = await open();
      await keep(store, '<p>same');
      await keep(store, '<p>same', { organizationId: 'org_00000000000000000000000002', taskId: taskOf(2) });
      expect(await place.contents()).toBe(2);
    });

    it('keeps a content until the last snapshot that names it goes', async () => {
      const store = await open();
      const [mine, other] = [await keep(store, '<p>same'), await keep(store, '<p>same', { taskId: taskOf(2) })];
      await store.forget(mine.taskId);
      expect(await store.read(mine.taskId, mine.id)).toBe(null);
      expect(textOf((await store.read(other.taskId, other.id))?.body ?? new Uint8Array(0))).toBe('<p>same');
      await store.forget(other.taskId);
      await store.sweep(noon + dayMs);
      expect(await place.contents()).toBe(0);
    });

    it('takes a content again after it was let go', async () => {
      const store = await open();
      const first = await keep(store, '<p>same');
      await store.forget(first.taskId);
      const second = await keep(store, '<p>same');
      await store.sweep(noon + dayMs);
      expect(textOf((await store.read(second.taskId, second.id))?.body ?? new Uint8Array(0))).toBe('<p>same');
    });

    it('lets go of the oldest where a task has too many, and leaves other tasks alone', async () => {
      const store = await open({ keepCount: 3, keepDays: 3_650 });
      const other = await keep(store, '<p>other', { taskId: taskOf(2), takenAt: at(-9) });
      for (const day of [0, 1, 2, 3, 4]) await keep(store, `<p>${day}`, { takenAt: at(day) });
      expect((await store.list(taskOf(1), 10)).map(({ takenAt }) => takenAt)).toEqual([at(4), at(3), at(2)]);
      expect(await store.read(other.taskId, other.id)).not.toBe(null);
      await store.sweep(noon + 5 * dayMs);
      expect(await place.contents()).toBe(4);
    });

    it('has at most a tenth more of a task than may be kept, and lists none of them', async () => {
      const [keepCount, saved] = [20, 31];
      const earlier = await open();
      for (let day = 0; day < saved; day += 1) await keep(earlier, `<p>${day}`, { takenAt: at(day) });
      // Another process, or the next start, that may keep less.
      const store = await reopen(earlier, { keepCount, keepDays: 3_650 });
      for (let day = saved; day < 2 * saved; day += 1) {
        await keep(store, `<p>${day}`, { takenAt: at(day) });
        const listed = (await store.list(taskOf(1), 1_000)).map(({ takenAt }) => takenAt);
        expect(listed).toEqual(Array.from({ length: keepCount }, (_, index) => at(day - index)));
        expect(await place.contents()).toBeLessThanOrEqual(keepCount + keepCount / 10);
      }
    });

    it('lets go of what is too old, with contents that nobody names any more', async () => {
      const store = await open({ keepCount: 10, keepDays: 30 });
      for (const day of [0, 10, 20]) await keep(store, `<p>${day}`, { takenAt: at(day) });
      await keep(store, '<p>0', { taskId: taskOf(2), takenAt: at(39) });
      expect(await store.sweep(noon + 40 * dayMs + 1)).toBe(2);
      expect((await store.list(taskOf(1), 10)).map(({ takenAt }) => takenAt)).toEqual([at(20)]);
      expect(await store.sweep(noon + 40 * dayMs + 1)).toBe(0);
      expect(await place.contents()).toBe(2);
    });

    it('sweeps many at once', async () => {
      const store = await open();
      for (let count = 0; count < 250; count += 1) await keep(store, `<p>${count % 7}`, { taskId: taskOf(count) });
      expect(await store.sweep(noon + 4_000 * dayMs)).toBe(250);
      expect(await place.contents()).toBe(0);
    });

    it('says of a damaged content that it is not there', async () => {
      const store = await open();
      const snapshot = await keep(store, '<p>whole '.repeat(50));
      await place.damage();
      expect(await store.read(snapshot.taskId, snapshot.id)).toBe(null);
    });

    it.each<[string, (facts: string) => string]>([
      ['no JSON', () => '{'],
      ['another document', () => '{"takenAt":"now"}'],
      ['a size that nothing has', (facts) => facts.replace(/"bytes":\d+/, '"bytes":9007199254740991')],
      [
        'a hash that names a file elsewhere',
        (facts) => facts.replace(/sha256:[0-9a-f]+/, 'sha256:../../../../outside'),
      ],
      ['an organisation that names a folder elsewhere', (facts) => facts.replace(/org_\w+/, '../../..')],
      ['the hash of other content', (facts) => facts.replace(/sha256:[0-9a-f]+/, `sha256:${'0'.repeat(64)}`)],
    ])('says of a snapshot whose facts became %s that it is not there, and lets go of it', async (_what, change) => {
      const store = await open();
      const snapshot = await keep(store, '<p>whole '.repeat(50));
      const again = await reopen(store);
      await place.alter(change);
      expect(await again.read(snapshot.taskId, snapshot.id)).toBe(null);
      await again.list(snapshot.taskId, 10);
      await again.sweep(noon + 4_000 * dayMs);
      expect(await again.list(snapshot.taskId, 10)).toEqual([]);
    });

    it('gives no page of a run that has another content on record, or that belongs to others', async () => {
      const store = await open();
      const { id: snapshotId, taskId, organizationId, contentHash } = await keep(store, '<p>seen');
      const run = { organizationId, taskId, snapshotId, contentHash };
      expect((await readPageOfRun(store, run))?.snapshot.id).toBe(snapshotId);
      expect(await readPageOfRun(store, { ...run, contentHash: `sha256:${'0'.repeat(64)}` })).toBe(null);
      expect(await readPageOfRun(store, { ...run, organizationId: 'org_00000000000000000000000002' })).toBe(null);
      expect(await readPageOfRun(store, { ...run, snapshotId: null })).toBe(null);
    });

    it('clears away what a killed process left half done, and nothing else', async () => {
      const store = await open();
      const snapshot = await keep(store, '<p>whole');
      const again = await reopen(store);
      await place.orphan();
      await again.sweep(noon + dayMs);
      expect(await place.contents()).toBe(1);
      expect(await again.read(snapshot.taskId, snapshot.id)).not.toBe(null);
    });

    it('is used by many at once', async () => {
      const stores = place.isShared ? [await open(), await open()] : [await open()];
      const [first] = stores;
      const kept = await Promise.all(
        Array.from({ length: 60 }, (_, number) => {
          const store = stores[number % stores.length] ?? first;
          if (store === undefined) throw new Error('no store');
          return keep(store, `<p>${number % 5}`, { taskId: taskOf(number % 20) });
        }),
      );
      await Promise.all([
        ...stores.map((store) => store.sweep(noon)),
        ...stores.map((store, index) => store.forget(taskOf(index))),
      ]);
      const gone = new Set(stores.map((_, index) => taskOf(index)));
      for (const { id, taskId } of kept) {
        expect([taskId, (await first?.read(taskId, id)) !== null]).toEqual([taskId, !gone.has(taskId)]);
      }
    });
  });
}
