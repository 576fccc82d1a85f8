/** Documents of the organisation that asks; another's are as unknown as those that do not exist. */
import type { OrganizationDocument } from '#contracts/account';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import { executionsView, skippedSlotsView, type ExecutionDocument } from '#contracts/run';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { ReadStore } from '#read-store/read-store';
import { refuseFolded } from './folded.js';
import { notFound } from '#runtime/errors';
import { readPageOfRun, readScreenshotOfRun, type KeptPage, type Snapshots } from '#snapshots/snapshots';

type Owned = { readonly organizationId: OrganizationDocument['id'] };

function owned<Document extends Owned>(document: Document | null, organizationId: string, what: string): Document {
  if (document === null || document.organizationId !== organizationId) throw notFound(what);
  return document;
}

/** Throws the same 404 for an unknown task and another organisation's. */
export async function findTask(readStore: ReadStore, organizationId: string, id: string): Promise<TaskDocument> {
  return owned(await readStore.get(tasksView, id), organizationId, 'notification');
}

export async function findExecution(
  readStore: ReadStore,
  organizationId: string,
  id: string,
): Promise<ExecutionDocument> {
  const found = (await readStore.get(executionsView, id)) ?? (await readStore.get(skippedSlotsView, id));
  if (found === null) await refuseFolded(readStore, organizationId, 'execution', id);
  return owned(found, organizationId, 'execution');
}

/** The page that it was made on; null where it is not kept any more. */
export function readPageOfExecution(
  snapshots: Snapshots,
  { organizationId, notificationId: taskId, snapshotId, page }: ExecutionDocument,
): Promise<KeptPage | null> {
  return readPageOfRun(snapshots, { organizationId, taskId, snapshotId, contentHash: page?.contentHash ?? null });
}

/** null where there is none, or it is not kept any more. */
export function readScreenshotOfExecution(
  snapshots: Snapshots,
  { organizationId, notificationId: taskId, screenshotId }: ExecutionDocument,
): Promise<KeptPage | null> {
  return readScreenshotOfRun(snapshots, { organizationId, taskId, screenshotId: screenshotId ?? null });
}

export async function findDelivery(
  readStore: ReadStore,
  organizationId: string,
  id: string,
): Promise<DeliveryDocument> {
  const found = await readStore.get(deliveriesView, id);
  if (found === null) await refuseFolded(readStore, organizationId, 'delivery', id);
  return owned(found, organizationId, 'delivery');
}
