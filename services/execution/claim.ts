/**
 * Claims of runs: who has begun which, so that of several workers one carries a run out. All claims of a task stand in one
 * stream: a store may keep a record of each stream for ever, and runs are many.
 */
import { claimStream, type RunEvent } from '#contracts/run';
import type { DueRun } from '#contracts/schedule';
import { encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore, NewEvent, RecordedEvent } from '#event-store/event-store';
import type { Leases } from '#leases/leases';
import { toTimestamp, type Clock } from '#runtime/clock';
import { unavailable, type AppError } from '#runtime/errors';
import { derivedEventId } from '#runtime/ids';
import { isPurged } from './purged-run.js';

export interface ClaimDeps {
  readonly eventStore: EventStore;
  readonly clock: Clock;
  /** Names this process in claims, and says which other workers are dead. */
  readonly leases: Leases;
}

/** A claim is renewed this often, and counts no longer than that without: its worker lives, but has given the run up. */
const renewEveryMs = 10_000;
const claimHoldsMs = 30_000;
/** Most pages are loaded and judged within it: of their runs one event is written and not two. */
const claimLaterMs = 2_000;
/** Other runs of the task may be claimed at the same moment; more rounds mean a loop. */
const appendRounds = 25;
/** Events that are read at first where the last one is about another run; twice as many each time. */
const firstLookedBack = 8;

export interface Claim {
  readonly startedAt: string;
  /** Lets the claim run out: from now on another process may take the run over. */
  release(): void;
}

const claimedElsewhere = ({ runId }: DueRun): AppError =>
  unavailable('run_claimed', `Another worker has claimed ${runId}.`);

/** Whether the worker of this claim still holds it, as far as another process can see. */
function isHeld({ type, data, metadata }: RecordedEvent, { clock, leases }: ClaimDeps): boolean {
  if (type === 'run.cancelled' || type === 'run.forgotten') return false;
  const holder = data['worker'];
  if (typeof holder !== 'string' || holder === leases.memberId || !leases.isLiving(holder)) return false;
  return clock.now() - Date.parse(metadata.at) < claimHoldsMs;
}

const isAbout = ({ data }: RecordedEvent, runId: string): boolean =>
  (data['run'] as { readonly runId?: unknown } | undefined)?.runId === runId;

interface LastClaim {
  /** Of the stream; null where it does not exist. */
  readonly revision: number | null;
  /** What was claimed of this run last, where that may count still. */
  readonly ofRun: RecordedEvent | null;
}

/** Claims that have run out count for nothing, so that the stream is read as far back as the last ones that have not. */
async function lastClaim({ eventStore, clock }: ClaimDeps, { taskId, runId }: DueRun): Promise<LastClaim> {
  const stream = claimStream(taskId);
  const last = await eventStore.readLast(stream);
  if (last === null) return { revision: null, ofRun: null };
  const { revision } = last;
  if (isAbout(last, runId)) return { revision, ofRun: last };
  const countsFromMs = clock.now() - claimHoldsMs;
  if (Date.parse(last.metadata.at) < countsFromMs) return { revision, ofRun: null };
  for (let lookedBack = firstLookedBack; ; lookedBack *= 2) {
    const events = await Array.fromAsync(eventStore.read(stream, Math.max(0, revision - lookedBack)));
    const ofRun = events.findLast((event) => isAbout(event, runId)) ?? null;
    const newest = events.at(-1)?.revision ?? revision;
    const [oldest] = events;
    // A stream whose older events are gone begins with what is left.
    const isWhole = oldest === undefined || oldest.revision > revision - lookedBack || oldest.revision === 0;
    if (ofRun !== null || isWhole || Date.parse(oldest.metadata.at) < countsFromMs) return { revision: newest, ofRun };
  }
}

interface Written {
  readonly event: NewEvent;
  readonly revision: number;
}

/** `mayWrite` is asked about the last claim of the run, again where another append came in between. null: it said no. */
async function write(
  deps: ClaimDeps,
  run: DueRun,
  mayWrite: (last: RecordedEvent | null) => boolean,
  toEvent: (revision: number) => NewEvent,
): Promise<Written | null> {
  for (let round = 0; round < appendRounds; round += 1) {
    const { revision, ofRun } = await lastClaim(deps, run);
    if (!mayWrite(ofRun)) return null;
    const event = toEvent(revision ?? -1);
    const appended = await deps.eventStore.append(claimStream(run.taskId), [event], revision ?? 'none');
    if (appended.ok) return { event, revision: appended.revision };
  }
  throw unavailable('too_many_writers', `The claim of ${run.runId} could not be written.`);
}

function eventOf(event: RunEvent, commandId: string, metadata: EventMetadata): NewEvent {
  const [encoded] = encodeEvents([event], { commandId, metadata });
  if (encoded === undefined) throw new Error('a claim without an event');
  return encoded;
}

/** A view would show the run of a purged task once more. null: it was purged. */
async function unlessPurged<T>(
  { eventStore }: ClaimDeps,
  { taskId }: DueRun,
  step: () => Promise<T>,
): Promise<T | null> {
  return (await isPurged(eventStore, taskId)) ? null : step();
}

/** Renews the claim from time to time, until another worker takes it over. */
function renew(deps: ClaimDeps, run: DueRun, claimed: NewEvent): () => void {
  const { clock, leases } = deps;
  const stream = claimStream(run.taskId);
  const isOurs = (last: RecordedEvent | null): boolean => last === null || last.data['worker'] === leases.memberId;
  const again = (revision: number): NewEvent => ({
    ...claimed,
    id: derivedEventId(`${stream}|renewed|${run.runId}|${revision}|${leases.memberId}`, '0'),
    metadata: { ...claimed.metadata, at: toTimestamp(clock.now()) },
  });
  const renewed = (): Promise<Written | null> => unlessPurged(deps, run, () => write(deps, run, isOurs, again));
  let isRenewing = false;
  const timer = setInterval(() => {
    if (isRenewing) return;
    isRenewing = true;
    renewed().then(
      (written) => {
        isRenewing = false;
        if (written === null) clearInterval(timer);
      },
      // The next round tries again; should none come through, the claim runs out.
      () => void (isRenewing = false),
    );
  }, renewEveryMs).unref();
  return () => clearInterval(timer);
}

/**
 * Claims the run for this process. A claim of a process that died, or gave up, is taken over. Rejects where another worker
 * holds it: the message comes again until there is a result, since that worker may give up, which the sweep notices later.
 */
export async function claim(deps: ClaimDeps, run: DueRun, metadata: EventMetadata, startedAt: string): Promise<Claim> {
  const { clock, leases } = deps;
  const worker = leases.memberId;
  const written = await write(
    deps,
    run,
    (last) => last === null || !isHeld(last, deps),
    (revision) =>
      eventOf({ type: 'run.started', data: { run, startedAt, worker } }, `${run.runId}|started|${revision}|${worker}`, {
        ...metadata,
        at: toTimestamp(clock.now()),
      }),
  );
  if (written === null) throw claimedElsewhere(run);
  return { startedAt, release: renew(deps, run, written.event) };
}

/** In a single process a claim only shows that the run has started: a run that is over by then needs none. */
export function claimLater(deps: ClaimDeps, run: DueRun, metadata: EventMetadata, startedAt: string): Claim {
  let isOver = false;
  let release = (): void => undefined;
  const timer = setTimeout(() => {
    unlessPurged(deps, run, () => claim(deps, run, metadata, startedAt)).then(
      (claimed) => {
        if (claimed === null) return;
        ({ release } = claimed);
        if (isOver) release();
      },
      // The result will show what the claim would have.
      () => undefined,
    );
  }, claimLaterMs).unref();
  return {
    startedAt,
    release() {
      isOver = true;
      clearTimeout(timer);
      release();
    },
  };
}

/** Puts on record that this worker ends without a result: another may begin the run at once. */
export async function giveUp(deps: ClaimDeps, run: DueRun, metadata: EventMetadata, startedAt: string): Promise<void> {
  const { clock, leases } = deps;
  const worker = leases.memberId;
  const cancelled = (revision: number): NewEvent =>
    eventOf(
      { type: 'run.cancelled', data: { run, startedAt, worker, reason: 'shutdown' } },
      `${run.runId}|cancelled|${revision}|${worker}`,
      { ...metadata, at: toTimestamp(clock.now()) },
    );
  await unlessPurged(deps, run, () => write(deps, run, () => true, cancelled));
}

/** Puts on record that there is no such run: its task was purged, and it was due a moment later, or is shown as if it were. */
export async function forgetRun(deps: ClaimDeps, run: DueRun, metadata: EventMetadata): Promise<void> {
  const isNew = (last: RecordedEvent | null): boolean => last?.type !== 'run.forgotten';
  const forgotten = (): NewEvent =>
    eventOf({ type: 'run.forgotten', data: { run } }, `${run.runId}|forgotten`, {
      ...metadata,
      at: toTimestamp(deps.clock.now()),
    });
  await write(deps, run, isNew, forgotten);
}
