/** What messages show besides what was decided: read once, when it is decided, so that every attempt shows the same. */
import { changedExcerpt, pageTitle } from '#hints/changed-excerpt';
import type { NotificationRequest } from '#contracts/delivery';
import { recentRunsView, mostRecentValues } from '#contracts/recent-runs';
import type { AlertState, RunEvent, RunResult } from '#contracts/run';
import type { ViewStore } from '#read-store/read-store';
import { jsonEquals } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { Snapshots } from '#snapshots/snapshots';

export interface ContentDeps {
  readonly readStore: Pick<ViewStore, 'get'>;
  readonly snapshots: Pick<Snapshots, 'read'>;
  readonly logger: Logger;
}

/** What was known before the run. */
export interface KnownBefore {
  readonly snapshotId: string | null;
  readonly previous: AlertState['previous'];
}

type Content = Pick<NotificationRequest['context'], 'before' | 'title' | 'excerpt' | 'points'>;

/** Fewer make no line. */
const fewestPoints = 2;
/** The beginning of a page is enough. */
const lookedAtBytes = 262_144;

async function textOf({ snapshots }: ContentDeps, taskId: string, id: string | null): Promise<string | null> {
  const kept = id === null ? null : await snapshots.read(taskId, id);
  if (kept === null || kept.snapshot.contentKind !== 'html' || kept.snapshot.isUnproven === true) return null;
  return new TextDecoder().decode(kept.body.subarray(0, lookedAtBytes));
}

async function pageContent(
  deps: ContentDeps,
  { taskId, snapshotId }: RunResult,
  before: KnownBefore,
): Promise<Pick<Content, 'title' | 'excerpt'>> {
  const now = await textOf(deps, taskId, snapshotId);
  if (now === null) return {};
  const title = pageTitle(now);
  const old = before.snapshotId === snapshotId ? null : await textOf(deps, taskId, before.snapshotId);
  const excerpt = old === null ? null : changedExcerpt(old, now);
  return { ...(title === null ? {} : { title }), ...(excerpt === null ? {} : { excerpt: { ...excerpt } }) };
}

async function pointsOf({ readStore }: ContentDeps, result: RunResult): Promise<Pick<Content, 'points'>> {
  const { value } = result.values;
  if (typeof value !== 'number' || !Number.isFinite(value)) return {};
  const known = await readStore.get(recentRunsView, result.taskId);
  const earlier = (known?.values ?? []).map(([atMs, number]) => ({ at: new Date(atMs).toISOString(), value: number }));
  const points = [...earlier.filter(({ at }) => at < result.finishedAt), { at: result.finishedAt, value }];
  return points.length < fewestPoints ? {} : { points: points.slice(-mostRecentValues) };
}

/** The event with what its messages show. Where that cannot be read, they go out without it. */
export async function withMessageContent(deps: ContentDeps, event: RunEvent, before: KnownBefore): Promise<RunEvent> {
  if (event.type !== 'run.recorded' || event.data.notifications.length === 0) return event;
  const { result, notifications } = event.data;
  const { previous } = before;
  const isSame = previous === null || jsonEquals(previous.values, result.values);
  let content: Content = isSame ? {} : { before: previous.values };
  try {
    content = { ...content, ...(await pageContent(deps, result, before)), ...(await pointsOf(deps, result)) };
  } catch (error) {
    deps.logger.warn({ taskId: result.taskId, error: String(error) }, 'messages go out without what the page said');
  }
  const withContent = notifications.map((one) => ({ ...one, context: { ...one.context, ...content } }));
  return { type: 'run.recorded', data: { ...event.data, notifications: withContent } };
}
