/** Screenshots of runs in a browser: kept where the task asks for it, where something changed, and where the run failed. */
import { hash } from 'node:crypto';
import type { FetchSettings } from '#contracts/fetch';
import type { AlertState, RunEvent, RunResult } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import type { Rendering } from '#page-loader/page-loader';
import type { Clock } from '#runtime/clock';
import { derivedId } from '#runtime/ids';
import type { Logger } from '#runtime/logger';
import type { Snapshots } from '#snapshots/snapshots';

export interface TakenScreenshot {
  readonly png: Uint8Array;
  /** Whether it is kept whatever the run comes to. */
  readonly isAlwaysKept: boolean;
}

export function screenshotIn(rendering: Rendering | undefined, { browser }: FetchSettings): TakenScreenshot | null {
  const png = rendering?.screenshot ?? null;
  return png === null ? null : { png, isAlwaysKept: browser?.screenshot === 'always' };
}

type Recorded = Extract<RunEvent, { readonly type: 'run.recorded' }>['data'];

/** Whether the run says something that was not known before it. */
function isTransition({ result, decision, alert }: Recorded, before: AlertState): boolean {
  if (result.status !== 'succeeded' || decision.transition !== null) return true;
  return alert.condition !== before.condition || alert.health !== before.health;
}

interface ScreenshotDeps {
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps it once, however often the result is decided again. A store that does not answer costs the run its screenshot only. */
export function keepScreenshotOnce(
  { snapshots, clock, logger }: ScreenshotDeps,
  task: TaskDocument | null,
  taken: TakenScreenshot | null,
): (event: RunEvent, before: AlertState) => Promise<RunEvent> {
  let keeping: Promise<string | null> | null = null;

  async function keep({ organizationId, spec }: TaskDocument, png: Uint8Array, result: RunResult) {
    const { taskId, taskRevision, runId, page } = result;
    const takenMs = clock.now();
    const contentHash = `sha256:${hash('sha256', png, 'hex')}`;
    const id = derivedId('snp', takenMs, runId, 'screenshot', contentHash);
    try {
      const facts = { id, organizationId, taskId, taskRevision, takenAt: new Date(takenMs).toISOString() };
      await snapshots.save(
        {
          ...facts,
          url: spec.url,
          finalUrl: URL.parse(page?.finalUrl ?? '')?.href ?? spec.url,
          status: page?.status ?? 0,
          headers: {},
          contentKind: 'text',
          isScreenshot: true,
          encoding: 'png',
          contentHash,
          bytes: png.byteLength,
        },
        png,
      );
      return id;
    } catch (error) {
      logger.warn(
        { taskId, runId, error: String(error) },
        'a screenshot could not be kept; the run continues without it',
      );
      return null;
    }
  }

  return async (event, before) => {
    if (event.type !== 'run.recorded' || task === null || taken === null) return event;
    const { result } = event.data;
    if (!taken.isAlwaysKept && !isTransition(event.data, before)) return event;
    keeping ??= keep(task, taken.png, result);
    const screenshotId = await keeping;
    return screenshotId === null ? event : { ...event, data: { ...event.data, result: { ...result, screenshotId } } };
  };
}
