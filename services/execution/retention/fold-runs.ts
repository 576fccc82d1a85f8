/** Folds one day of a task's runs: its events into the archive, what they add up to into one event. Nothing is dropped here. */
import { createHash } from 'node:crypto';
import { lastMomentOf, statsStream, type FoldState } from '#contracts/retention';
import { claimStream, runStream, type RunEvent } from '#contracts/run';
import { scheduleStream, schedulesView, type ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent, StoredStreams } from '#event-store/event-store';
import { runCommand } from '#eventing/run-command';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { createDayOfRuns } from '../domain/fold/day-of-runs.js';
import { foldDecider } from '../domain/fold/fold.js';
import { undeliveredView } from '../undelivered-view.js';
import { foldStateOf } from './fold-state.js';
import { archiveLine, openArchiveFile, type ArchiveWriter } from './archive.js';
import { eachOfDay } from './day-events.js';

export interface FoldDeps {
  readonly eventStore: EventStore;
  readonly stored: Pick<StoredStreams, 'read' | 'open'>;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  /** null: folded days are archived nowhere. */
  readonly archiveDir: string | null;
}

/** `waits`: something of that day is still open. `nothing`: it is folded, or there was nothing. */
export type Folding = { readonly kind: 'folded'; readonly events: number } | { readonly kind: 'waits' | 'nothing' };

/** An archive that cannot be written; nothing was folded. */
export class ArchiveFailed extends Error {
  constructor(cause: unknown) {
    super(`the archive cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'ArchiveFailed';
  }
}

/** Runs without a result and notifications without a delivery are seen through first, however old they are. */
async function isOpen(readStore: ReadStore, taskId: string, day: string): Promise<boolean> {
  const until = lastMomentOf(day);
  const schedule = await readStore.get(schedulesView, taskId);
  if (schedule?.pending.some(({ queuedAt }) => queuedAt <= until) === true) return true;
  const { documents } = await readStore.page(undeliveredView, {
    where: [
      { field: 'taskId', equals: taskId },
      { field: 'since', from: '', to: until },
    ],
    sort: [],
    limit: 1,
    offset: 0,
    count: false,
  });
  return documents.length > 0;
}

/** Events on their way: each into the hash and, where there is one, the archive. */
export function createDayRecord(archive: ArchiveWriter | null) {
  const hash = createHash('sha256');
  let count = 0;
  return {
    async add(event: RecordedEvent): Promise<void> {
      const line = archiveLine(event);
      hash.update(line);
      count += 1;
      if (archive === null) return;
      try {
        await archive.write(line);
      } catch (error) {
        throw new ArchiveFailed(error);
      }
    },
    finish: () => ({ count, hash: hash.digest('hex'), archived: archive !== null }),
    count: () => count,
  };
}

export async function archiveFor(
  { archiveDir }: Pick<FoldDeps, 'archiveDir'>,
  archived: Parameters<typeof openArchiveFile>[1],
): Promise<ArchiveWriter | null> {
  if (archiveDir === null) return null;
  return openArchiveFile(archiveDir, archived).catch((error: unknown) => {
    throw new ArchiveFailed(error);
  });
}

export async function finishArchive(archive: ArchiveWriter | null): Promise<void> {
  await archive?.finish().catch((error: unknown) => {
    throw new ArchiveFailed(error);
  });
}

/** What of the schedule has to stay: the slots of the last run, and of the first one that is left, as the views need both. */
function stayingSlot(
  fired: ReadonlyMap<string, number>,
  before: FoldState,
  upTo: number,
  { last, next }: { readonly last: string | null; readonly next: string | null },
): number {
  const needed = next ?? last;
  const slot = needed === null ? undefined : fired.get(needed);
  if (slot !== undefined) return Math.min(slot, upTo);
  // Nothing newer says how it stood.
  return next === null ? before.stays.schedule : upTo;
}

interface ReadDay {
  readonly taskId: string;
  readonly day: string;
  readonly state: FoldState;
}

/** Reads the day through; null where nothing is in it. */
async function readDay(
  { stored }: Pick<FoldDeps, 'stored'>,
  { taskId, day, state }: ReadDay,
  record: ReturnType<typeof createDayRecord>,
) {
  const runs = createDayOfRuns(day, state);
  const fired = new Map<string, number>();
  let organizationId: string | null = null;
  let lastRunId: string | null = null;
  const sources = [
    { stream: runStream(taskId), from: state.upTo.run },
    { stream: scheduleStream(taskId), from: state.upTo.schedule },
    { stream: claimStream(taskId), from: state.upTo.claim },
  ];
  const ends = await eachOfDay(stored, sources, day, async (event) => {
    await record.add(event);
    organizationId ??= event.metadata.organizationId;
    const [opened] = await stored.open([event]);
    // Its contents were purged.
    if (opened === undefined || Object.keys(opened.data).length === 0) return;
    const known = decodeEvent<RunEvent | ScheduleEvent>(opened);
    runs.add(known);
    if (known.type === 'slot.fired' || known.type === 'run.requested') fired.set(known.data.run.runId, event.revision);
    if (known.type === 'run.recorded') lastRunId = known.data.result.runId;
  });
  if (organizationId === null) return null;
  const [run, schedule, claim] = ends.map(({ upTo }) => upTo);
  const upTo = { run: run ?? 0, schedule: schedule ?? 0, claim: claim ?? 0 };
  const behind = ends[0]?.behind ?? null;
  const [openedBehind] = behind === null ? [] : await stored.open([behind]);
  const nextEvent = openedBehind === undefined ? null : decodeEvent<RunEvent>(openedBehind);
  const next = nextEvent?.type === 'run.recorded' ? nextEvent.data : null;
  const stays = {
    ...upTo,
    schedule: stayingSlot(fired, state, upTo.schedule, { last: lastRunId, next: next?.result.runId ?? null }),
  };
  return {
    organizationId: String(organizationId),
    figures: runs.figures(),
    after: { upTo, stays, ...runs.left(next) },
  };
}

/** The days before it must be folded. Rejects with `ArchiveFailed`, and as the stores do; then nothing was folded. */
export async function foldDayOfRuns(deps: FoldDeps, taskId: string, day: string): Promise<Folding> {
  const state = await foldStateOf(deps.eventStore, taskId);
  if (state.runsThrough !== null && day <= state.runsThrough) return { kind: 'nothing' };
  if (await isOpen(deps.readStore, taskId, day)) return { kind: 'waits' };
  const archive = await archiveFor(deps, { taskId, day, kind: 'runs' });
  const record = createDayRecord(archive);
  let found: Awaited<ReturnType<typeof readDay>>;
  try {
    found = await readDay(deps, { taskId, day, state }, record);
  } catch (error) {
    await archive?.abandon();
    throw error;
  }
  if (found === null) {
    await archive?.abandon();
    return { kind: 'nothing' };
  }
  // On disk before anything says so.
  await finishArchive(archive);
  const { organizationId, figures, after } = found;
  const folded = await runCommand(deps.eventStore, foldDecider, {
    stream: statsStream(taskId),
    command: { type: 'foldRuns', day: { taskId, day, ...figures, events: record.finish() }, after },
    commandId: `${taskId}|runs.folded|${day}`,
    metadata: {
      organizationId,
      actor: 'system:folding',
      requestId: `fold-${day}`,
      causationId: null,
      at: toTimestamp(deps.clock.now()),
    },
    from: 'last',
  });
  return folded.events.length === 0 ? { kind: 'nothing' } : { kind: 'folded', events: record.count() };
}
