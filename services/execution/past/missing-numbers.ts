/**
 * Tasks that relied on what `page.number` and `page.report` took silently until now: a number that is not there. Their last
 * run is looked at once, by the page that was kept of it, so that their owners know before the next run fails.
 */
import type { StateCollection, SharedState } from '#shared-state/shared-state';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { Sweep } from '#eventing/service';
import type { PageQuery } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import type { RunDeps } from '../run.js';
import { replayRun } from './replay.js';

interface Notice {
  readonly at: string;
}
const notices: StateCollection<Notice> = { name: 'notices', indexedBy: null };
const noticeKey = 'missing_numbers';
const lookEveryMs = 5_000;
const tasksAtOnce = 200;

type Deps = RunDeps & { readonly sharedState: SharedState };

/** How their last run would end now; null: as it did, or it cannot be told any more. */
async function faultOf(deps: RunDeps, { organizationId, lastExecution, spec }: TaskDocument): Promise<string | null> {
  if (lastExecution?.status !== 'succeeded' || !/\bpage\s*\.\s*(?:number|report)\b/.test(spec.evaluationFunction)) {
    return null;
  }
  try {
    const { error } = await replayRun(deps, lastExecution.id, organizationId);
    return error?.reason === 'number_not_found' || error?.reason === 'not_a_number' ? error.message : null;
  } catch (error) {
    // Its page is not kept any more.
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

/** Returns how many it named. */
export async function nameMissingNumbers(deps: RunDeps): Promise<number> {
  const { readStore, logger } = deps;
  let named = 0;
  let query: PageQuery = { where: [], sort: [], limit: tasksAtOnce, offset: 0, count: false };
  for (;;) {
    const { documents } = await readStore.page(tasksView, query);
    for (const task of documents) {
      const fault = await faultOf(deps, task);
      if (fault === null) continue;
      named += 1;
      logger.warn(
        { taskId: task.id, fault },
        'the code of this task takes a number that is not there, which ends a run from now on; see page.number in docs/code.md',
      );
    }
    const last = documents.at(-1);
    if (last === undefined || documents.length < tasksAtOnce) return named;
    query = { ...query, behind: { values: [], id: last.id } };
  }
}

/** Once for each installation. */
export function missingNumbers(deps: Deps): Sweep {
  let isDone = false;
  return {
    name: 'missing-numbers',
    everyMs: lookEveryMs,
    async sweep() {
      if (isDone) return;
      const { sharedState, clock } = deps;
      const known = (await sharedState.load(notices, [noticeKey])).get(noticeKey);
      if (known?.value === undefined || known.value === null) {
        await nameMissingNumbers(deps);
        const value = { at: new Date(clock.now()).toISOString() };
        await sharedState.save(notices, [{ key: noticeKey, version: (known?.version ?? 0) + 1, value }]);
      }
      isDone = true;
    },
  };
}
