/** Finds what is due and fires it; finds runs without a result and emits them again. The sweep is what keeps the promise, not the bus. */
import type { Bus } from '#bus/bus';
import { backsOff as backsOffBy, runStream, type RunEvent } from '#contracts/run';
import { scheduleStream, schedulesView, type ScheduleDocument, type ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#event-store/codec';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { runCommand } from '#event-store/run-command';
import { shardCount, type Shards } from '#leases/leases';
import type { FieldFilter, ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { scheduleDecider, type ScheduleCommand, type ScheduleState } from './domain/schedule.js';
import { runDue } from './publish.js';

export interface TimerParts {
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the schedules: those of other shards are another process's. */
  readonly shards: Shards;
}

const lookEveryMs = 250;
/** Slots that become due before the next look are found by this one and fired at their time; a look may take as long again. */
const lookAheadMs = 500;
/** Slots that become due within so long of one another are fired together. */
const tickMs = 100;
const foundAtOnce = 500;
const sweepEveryMs = 30_000;
const firstSweepMs = 5_000;
/** A slot that is still found after so long is looked up in the log again: the view may have been made anew. */
const settledForMs = 2_000;
/** A run this long without a result is emitted again; the one who has it in hand ignores the repeat. */
const overdueMs = 30_000;

function metadataOf(document: ScheduleDocument, requestId: string, nowMs: number): EventMetadata {
  return {
    organizationId: document.organizationId,
    actor: 'system:scheduling',
    requestId,
    causationId: null,
    at: toTimestamp(nowMs),
  };
}

/** None where all are held; `oneOf` nothing matches nothing. */
function ofShards(shards: Shards): readonly FieldFilter[] {
  const held = shards.held();
  return held.length === shardCount ? [] : [{ field: 'shard', oneOf: held }];
}

/**
 * What is due by then of the shards held here. Their number is no part of an index, and costs a server more than the documents
 * of others do; only where there are many of those are they left out by the server.
 */
async function findDue({ readStore, shards }: TimerParts, untilMs: number): Promise<readonly ScheduleDocument[]> {
  const due = async (filters: readonly FieldFilter[]): Promise<readonly ScheduleDocument[]> => {
    const { documents } = await readStore.page(schedulesView, {
      where: [{ field: 'nextDueAt', from: '', to: toTimestamp(untilMs) }, ...filters],
      sort: [{ field: 'nextDueAt', descending: false }],
      limit: foundAtOnce,
      offset: 0,
      count: false,
    });
    return documents;
  };
  const documents = await due([]);
  const held = new Set(shards.held());
  const own = documents.filter(({ shard }) => held.has(shard));
  return own.length < documents.length && documents.length === foundAtOnce ? due(ofShards(shards)) : own;
}

/**
 * Whether the run of an earlier slot is still going. The view may not know yet of its result: the log does. `unclear` where
 * the view has to know of that result first, since it changes the pace.
 */
async function isBusy({ eventStore }: TimerParts, { taskId, pending }: ScheduleDocument): Promise<boolean | 'unclear'> {
  const open = pending.filter(({ trigger }) => trigger === 'schedule');
  if (open.length === 0) return false;
  const last = await eventStore.readLast(runStream(taskId));
  const event = last === null ? null : decodeEvent<RunEvent>(last);
  if (event?.type !== 'run.recorded') return true;
  const { recentRuns } = event.data.alert;
  if (!open.every(({ runId }) => recentRuns.includes(runId))) return true;
  return backsOffBy(event.data.alert) ? 'unclear' : false;
}

/** Slots that were fired or passed over a moment ago, by task: until the view knows of it they are found again. */
export type SettledSlots = Map<string, { readonly dueAt: string; readonly atMs: number }>;

/** Fires the next slots of these schedules. */
async function fire(
  parts: TimerParts,
  documents: readonly ScheduleDocument[],
  nowMs: number,
  settled: SettledSlots,
): Promise<void> {
  const { eventStore, logger } = parts;
  for (const [taskId, { atMs }] of settled) if (nowMs - atMs >= settledForMs) settled.delete(taskId);
  await Promise.all(
    documents.map(async (document) => {
      const { taskId, backsOff = false } = document;
      const { nextDueAt } = document.plan;
      if (nextDueAt === null || settled.get(taskId)?.dueAt === nextDueAt) return;
      const commandId = `slot.${taskId}.${Date.parse(nextDueAt)}`;
      try {
        const busy = await isBusy(parts, document);
        if (busy === 'unclear') return;
        await runCommand<ScheduleState, ScheduleCommand, ScheduleEvent>(eventStore, scheduleDecider, {
          stream: scheduleStream(taskId),
          command: { type: 'fireSlot', dueAt: nextDueAt, busy, late: backsOff, nowMs },
          commandId,
          metadata: metadataOf(document, commandId, nowMs),
          from: 'last',
        });
        settled.set(taskId, { dueAt: nextDueAt, atMs: nowMs });
      } catch (error) {
        logger.error({ taskId, error: String(error) }, 'a slot could not be fired; trying again');
      }
    }),
  );
}

/** Fires every slot that is due now. Returns how many schedules were looked at. */
export async function fireDue(parts: TimerParts, settled: SettledSlots = new Map()): Promise<number> {
  const nowMs = parts.clock.now();
  const documents = await findDue(parts, nowMs);
  await fire(parts, documents, nowMs, settled);
  return documents.length;
}

/** Emits again the runs that have no result for too long. Returns how many. */
export async function sweepPending({ readStore, bus, clock, shards }: TimerParts): Promise<number> {
  const nowMs = clock.now();
  const before = toTimestamp(nowMs - overdueMs);
  const { documents } = await readStore.page(schedulesView, {
    where: [{ field: 'pendingSince', from: '', to: before }, ...ofShards(shards)],
    sort: [{ field: 'pendingSince', descending: false }],
    limit: foundAtOnce,
    offset: 0,
    count: false,
  });
  const messages = documents.flatMap((document) =>
    document.pending.filter(({ queuedAt }) => queuedAt <= before).map((run) => runDue(run, document.metadata, null)),
  );
  await bus.publish('schedule', messages);
  return messages.length;
}

export interface Timer {
  /** Ends after the round in hand. */
  stop(): Promise<void>;
}

/** Looks ahead, so that a slot is fired at its time and the read store is asked four times a second. */
export function startTimer(parts: TimerParts): Timer {
  const { clock, shards, logger } = parts;
  let stopping = false;
  let wake = (): void => undefined;
  const settled: SettledSlots = new Map();
  /** What the last look found and is not fired yet, the first one due first. */
  let upcoming: readonly ScheduleDocument[] = [];
  // By a clock that never goes back: where the machine's own is set back, looks and sweeps go on.
  let lookAtMs = performance.now();
  let sweepAtMs = lookAtMs + firstSweepMs;

  const look = async (): Promise<void> => {
    const startedMs = performance.now();
    lookAtMs = startedMs + lookEveryMs;
    upcoming = await findDue(parts, clock.now() + lookAheadMs);
    // There are more of them than were found.
    if (upcoming.length === foundAtOnce) lookAtMs = startedMs;
  };

  const fireUpcoming = async (): Promise<void> => {
    const nowMs = clock.now();
    const later = upcoming.findIndex(({ nextDueAt }) => nextDueAt === null || Date.parse(nextDueAt) > nowMs);
    const due = later === -1 ? upcoming : upcoming.slice(0, later);
    upcoming = upcoming.slice(due.length);
    // A shard may have gone to another process since the look.
    const own = due.filter(({ taskId }) => shards.holds(taskId));
    await fire(parts, own, nowMs, settled);
  };

  const round = async (): Promise<void> => {
    await fireUpcoming();
    if (performance.now() >= lookAtMs) {
      await look();
      await fireUpcoming();
    }
    if (performance.now() < sweepAtMs) return;
    sweepAtMs = performance.now() + sweepEveryMs;
    const again = await sweepPending(parts);
    if (again > 0) logger.warn({ runs: again }, 'runs without a result were emitted again');
  };

  const untilNextRoundMs = (): number => {
    const dueAt = upcoming[0]?.nextDueAt ?? null;
    const untilDueMs = dueAt === null ? Infinity : Date.parse(dueAt) - clock.now();
    return Math.max(tickMs, Math.min(untilDueMs, lookAtMs - performance.now()));
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      await round().catch((error: unknown) => {
        logger.error({ error: String(error) }, 'the timer could not look for due runs; trying again');
      });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, untilNextRoundMs());
        wake = () => (clearTimeout(timer), resolve());
      });
    }
  };

  const running = run();
  return {
    async stop() {
      stopping = true;
      wake();
      await running;
    },
  };
}
