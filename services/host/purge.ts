/** Purges a task wherever this installation keeps something of it: events, views, pages, sessions. */
import { auditView } from '#contracts/audit';
import { taskStream } from '#contracts/task';
import { createPositionWaiter } from '#read-store/await-position';
import type { ViewStore } from '#read-store/read-store';
import { unavailable } from '#runtime/errors';
import type { SharedState } from '#shared-state/shared-state';
import type { Snapshots } from '#snapshots/snapshots';
import type { ContentEraser, ContentPurger } from '#vault/content-eraser';
import { forgetSession } from '../execution/sessions.js';
import { keptViews } from './projections.js';

export interface PurgePorts {
  readonly eraser: ContentEraser;
  readonly readStore: ViewStore;
  readonly snapshots: Snapshots;
  readonly sharedState: SharedState;
}

const viewsWaitMs = 20_000;

/** Each forgets the task when it comes to the event. */
const forgetting = [...keptViews.filter(({ isFedBy }) => isFedBy(taskStream(''))).map(({ view }) => view), auditView];

export function createContentPurger({ eraser, readStore, snapshots, sharedState }: PurgePorts): ContentPurger {
  const waiters = forgetting.map((view) => ({ view, waiter: createPositionWaiter(readStore, view) }));
  return {
    async purge(taskId, position) {
      await eraser.erase(taskId);
      await snapshots.forget(taskId);
      await forgetSession({ sharedState }, taskId);
      const reached = await Promise.all(waiters.map(({ waiter }) => waiter.reached(position, viewsWaitMs)));
      const behind = waiters.filter((_, index) => reached[index] !== true).map(({ view }) => view.name);
      if (behind.length > 0) {
        throw unavailable('views_behind', `These views have not forgotten ${taskId} yet: ${behind.join(', ')}.`);
      }
      await readStore.scrub();
    },
  };
}
