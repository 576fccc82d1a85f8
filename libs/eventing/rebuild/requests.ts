/**
 * Requests to rebuild a view, and how far each rebuild is: one value per view, under the view's name. Any process may ask;
 * the process that runs the view's projection carries the request out.
 */
import type { SharedState, StateCollection, Versioned } from '#shared-state/shared-state';

export interface Rebuild {
  readonly view: string;
  readonly requestedAt: string;
  readonly state: 'requested' | 'building' | 'done' | 'failed';
  /** Name under which it is built; null where no process began. */
  readonly build: string | null;
  /** Position up to which it is built, and the one it has to reach. */
  readonly done: number;
  readonly total: number;
  readonly events: number;
  readonly tookMs: number;
  /** Why it failed. */
  readonly error: string | null;
}

export const rebuildsCollection: StateCollection<Rebuild> = { name: 'rebuilds', indexedBy: null };

const reportEveryMs = 250;
/** A build that reports no progress for so many polls was cut off. */
const maxSilentPolls = 3;

export async function writeRebuild(
  sharedState: SharedState,
  rebuild: Rebuild,
  before: Versioned<Rebuild> | undefined,
): Promise<void> {
  const version = (before?.version ?? 0) + 1;
  await sharedState.save(rebuildsCollection, [{ key: rebuild.view, version, value: rebuild }]);
}

export const findRebuild = async (sharedState: SharedState, view: string): Promise<Versioned<Rebuild> | undefined> =>
  (await sharedState.load(rebuildsCollection, [view])).get(view);

/** Asks for a rebuild. Where one is requested or under way already, that one answers this request too. */
export async function requestRebuild(sharedState: SharedState, view: string, requestedAt: string): Promise<void> {
  const known = await findRebuild(sharedState, view);
  if (known?.value?.state === 'requested' || known?.value?.state === 'building') return;
  const nothing = { build: null, done: 0, total: 0, events: 0, tookMs: 0, error: null };
  await writeRebuild(sharedState, { view, requestedAt, state: 'requested', ...nothing }, known);
}

/** The view's latest rebuild; null where none was ever requested. */
export async function rebuildOf(sharedState: SharedState, view: string): Promise<Rebuild | null> {
  return (await findRebuild(sharedState, view))?.value ?? null;
}

/** Another process has taken the rebuild over. */
export class TakenOver extends Error {}

export type ProgressReporter = (
  progress: Pick<Rebuild, 'state' | 'done' | 'total' | 'events'> & { readonly error?: string },
) => Promise<void>;

/** Writes the progress of `build`, at most every `reportEveryMs`. Rejects with `TakenOver` where another build has replaced it. */
export function createProgressReporter(sharedState: SharedState, view: string, build: string): ProgressReporter {
  const startedMs = performance.now();
  let reportedMs = -Infinity;
  return async (progress) => {
    const nowMs = performance.now();
    if (progress.state === 'building' && nowMs - reportedMs < reportEveryMs) return;
    reportedMs = nowMs;
    const known = await findRebuild(sharedState, view);
    if (known?.value?.build !== build) throw new TakenOver();
    const tookMs = Math.round(nowMs - startedMs);
    await writeRebuild(sharedState, { ...known.value, error: null, ...progress, tookMs }, known);
  };
}

export type Request = Versioned<Rebuild> & { readonly value: Rebuild };

/** Whether this process may carry a request out: it has no builder yet, or the builder has stopped. */
export function createRequestClaim(): (request: Request, own: string | null) => boolean {
  let version = -1;
  let silentPolls = 0;
  return (request, own) => {
    const { state, build } = request.value;
    silentPolls = request.version === version ? silentPolls + 1 : 0;
    ({ version } = request);
    if (state === 'requested') return true;
    return state === 'building' && (build === own || silentPolls >= maxSilentPolls);
  };
}
