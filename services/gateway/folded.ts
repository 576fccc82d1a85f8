/** Runs and deliveries of folded days: 404 as for what never was, but with the way to what is left of them. */
import { dayAfter, dayMs, dayOf, dayStart, foldedDaysView, type FoldedDayDocument } from '#contracts/retention';
import { slotRunId } from '#contracts/schedule';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { timeOfId } from '#runtime/ids';
import { everyDocument } from './paging.js';

export type FoldedKind = 'execution' | 'delivery';

/** A run may end, and be folded with, days after the slot that its id tells. */
const mostDaysLate = 2;

/** The day that a run or delivery was folded with; null: none is known. */
async function foldedDayOf(
  readStore: ReadStore,
  organizationId: string,
  kind: FoldedKind,
  id: string,
): Promise<FoldedDayDocument | null> {
  const owner = { field: 'organizationId', equals: organizationId };
  const { documents } = await readStore.page(foldedDaysView, {
    where: [owner, { field: 'ids', has: id }],
    sort: [{ field: 'from', descending: false }],
    limit: 1,
    offset: 0,
    count: false,
  });
  const [listed] = documents;
  if (listed !== undefined || kind === 'delivery') return listed ?? null;
  // The id of a slot's run follows from task and time: of the tasks that folded that day it is one, or none.
  const dueMs = timeOfId(id);
  if (!Number.isSafeInteger(dueMs) || dueMs > Date.parse('9999-01-01T00:00:00Z')) return null;
  const first = dayStart(dayOf(toTimestamp(dueMs)));
  const last = toTimestamp(Date.parse(first) + mostDaysLate * dayMs - 1);
  const where = [owner, { field: 'kind', equals: 'runs' }, { field: 'from', from: first, to: last }];
  for await (const folded of everyDocument(readStore, foldedDaysView, 'from', where)) {
    if (slotRunId(folded.notificationId, dueMs) === id) return folded;
  }
  return null;
}

/** Throws where it was folded. */
export async function refuseFolded(
  readStore: ReadStore,
  organizationId: string,
  kind: FoldedKind,
  id: string,
): Promise<void> {
  const folded = await foldedDayOf(readStore, organizationId, kind, id);
  if (folded === null) return;
  const day = dayOf(folded.from);
  const href = `/api/notifications/${folded.notificationId}/stats?from=${dayStart(day)}&to=${dayStart(dayAfter(day))}&bucket=day`;
  const message = `This ${kind} is of ${day}, which is kept as one record of the day; its statistics are at ${href}.`;
  throw new AppError('NOT_FOUND', `${kind}_folded`, message, {
    details: [{ field: 'id', rule: 'folded', message, href }],
  });
}
