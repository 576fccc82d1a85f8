/** Changes as server-sent events: the documents as the lists give them, read at once for all readers of an organisation. */
import { deliveriesView } from '#contracts/delivery';
import { recentRunsView, toRecentRuns } from '#contracts/recent-runs';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import type { Vault } from '#vault/vault';
import { toExecutionAnswer } from '../execution-answer.js';
import { without } from '../json-casts.js';
import { openSettings, toTaskAnswer } from '../task-answer.js';
import type { Change, StreamKind } from './changes.js';

export interface Frame {
  readonly kind: StreamKind;
  /** Of the task that it is about; null where that is not known any more. */
  readonly notificationId: string | null;
  readonly event: string;
  readonly data: string;
}

interface Owned {
  readonly id: string;
  readonly organizationId: string;
}

async function framesOf<Document extends Owned>(
  readStore: ReadStore,
  view: ViewDefinition<Document>,
  organizationId: string,
  kind: StreamKind,
  ids: readonly string[],
  show: (document: Document) => Promise<object>,
  taskOf: (document: Document) => string,
): Promise<readonly Frame[]> {
  if (ids.length === 0) return [];
  const loaded = await readStore.load(view, ids);
  const frames = await Promise.all(
    ids.map(async (id): Promise<Frame | null> => {
      const document = loaded.get(id)?.document ?? null;
      if (document === null) {
        // Only tasks go; what else is not there has not come yet, or is not shown.
        if (kind !== 'task') return null;
        return { kind, notificationId: id, event: 'removed', data: JSON.stringify({ kind, id }) };
      }
      if (document.organizationId !== organizationId) return null;
      return { kind, notificationId: taskOf(document), event: kind, data: JSON.stringify(await show(document)) };
    }),
  );
  return frames.filter((frame) => frame !== null);
}

/** Of changes of which each is there once. Tasks first, as their executions and deliveries follow from them. */
export async function framesFor(
  { readStore, vault }: { readonly readStore: ReadStore; readonly vault: Vault },
  organizationId: string,
  changes: readonly Change[],
): Promise<readonly Frame[]> {
  const idsOf = (kind: StreamKind): readonly string[] =>
    changes.filter((change) => change.kind === kind).map(({ id }) => id);
  const taskIds = idsOf('task');
  const recent = taskIds.length === 0 ? null : await readStore.load(recentRunsView, taskIds);
  const [tasks, executions, deliveries] = await Promise.all([
    framesOf(
      readStore,
      tasksView,
      organizationId,
      'task',
      taskIds,
      async (task) => ({
        ...toTaskAnswer(task, await openSettings(vault, task), task),
        recent: toRecentRuns(recent?.get(task.id)?.document ?? null, true),
      }),
      ({ id }) => id,
    ),
    framesOf(
      readStore,
      executionsView,
      organizationId,
      'execution',
      idsOf('execution'),
      async (execution) => toExecutionAnswer(execution),
      ({ notificationId }) => notificationId,
    ),
    framesOf(
      readStore,
      deliveriesView,
      organizationId,
      'delivery',
      idsOf('delivery'),
      async (delivery) => without(delivery, 'organizationId', 'dueAt', 'thread'),
      ({ notificationId }) => notificationId,
    ),
  ]);
  return [...tasks, ...executions, ...deliveries];
}
