import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { snapshotOf } from './snapshots.contract.js';
import { readPageOfRun, readScreenshotOfRun, type Snapshots } from './snapshots.js';
import { createSqliteSnapshots } from './sqlite.js';
import { withScreenshots } from './with-screenshots.js';

const dayMs = 86_400_000;
let store: Snapshots;
beforeEach(() => {
  const retention = { keepCount: 2, keepDays: 30 };
  store = withScreenshots(createSqliteSnapshots(':memory:', retention), createSqliteSnapshots(':memory:', retention));
});
afterEach(() => store.close());

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]);

async function keep(body: Uint8Array, isScreenshot: boolean, takenAt = '2026-01-01T12:00:00.000Z') {
  const snapshot = snapshotOf(body, { takenAt, ...(isScreenshot ? { isScreenshot: true } : {}) });
  await store.save(snapshot, body);
  return snapshot;
}

describe('a screenshot', () => {
  it('comes back as it was, and is neither listed among the pages nor taken for one', async () => {
    const page = await keep(Buffer.from('<p>1'), false);
    const { id, taskId, organizationId, contentHash } = await keep(png, true);
    const read = await store.read(taskId, id);
    expect([read?.snapshot.isScreenshot, Buffer.from(read?.body ?? []).equals(png)]).toEqual([true, true]);
    expect(await store.list(taskId, 10)).toEqual([page]);
    const run = { organizationId, taskId, contentHash };
    expect(await readPageOfRun(store, { ...run, snapshotId: id })).toBe(null);
    expect(await readScreenshotOfRun(store, { ...run, screenshotId: page.id })).toBe(null);
    expect((await readScreenshotOfRun(store, { ...run, screenshotId: id }))?.snapshot.id).toBe(id);
    const foreign = { ...run, organizationId: 'org_00000000000000000000000002', screenshotId: id };
    expect(await readScreenshotOfRun(store, foreign)).toBe(null);
  });

  it('takes no place of a page, and goes by count, by age, and with its task', async () => {
    const page = await keep(Buffer.from('<p>1'), false);
    const { taskId } = page;
    const shots: { readonly id: string }[] = [];
    for (const hour of [1, 2, 3])
      shots.push(await keep(Buffer.of(...png, hour), true, `2026-01-01T0${hour}:00:00.000Z`));
    const kept = async () => Promise.all(shots.map(async ({ id }) => (await store.read(taskId, id)) !== null));
    expect([await kept(), (await store.list(taskId, 10)).length]).toEqual([[false, true, true], 1]);
    await store.forget(taskId, { takenBefore: '2026-01-01T03:30:00.000Z', except: [shots[1]?.id ?? ''] });
    expect([await kept(), (await store.list(taskId, 10)).length]).toEqual([[false, true, false], 1]);
    expect(await store.sweep(Date.parse('2026-01-01T00:00:00.000Z') + 31 * dayMs)).toBe(2);
    await keep(png, true);
    await store.forget(taskId);
    expect([await kept(), await store.list(taskId, 10)]).toEqual([[false, false, false], []]);
  });
});
