/** Finds what is due and fires it; finds runs without a result and emits them again. The sweep is what keeps the promise, not the bus. */
import type { Bus } from '#bus/bus';
import { backsOff as backsOffBy, runStream, type RunEvent } from '#contracts/run';
import { schedulesView, type ScheduleDocument, type ScheduleEvent } from '#contracts/schedule';
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

const tickMs = 100;
const firedAtOnce = 500;
const sweepEveryMs = 30_000;
/** A slot that is still found after so long is looked up in the log again: the view may have been made anew. */
const settledForMs = 2_000;
/** A run this long without a result is emitted again; the one who has it in hand ignores the repeat. */
const overdueMs = 30_000;

export const scheduleStream = (taskId: string): string => `schedule-${taskId}`;

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
 * What is due of the shards held here. Their number is no part of an index, and costs a server more than the documents of
 * others do; only where there are many of those are they left out by the server.
 */
async function findDue({ readStore, shards }: TimerParts, nowMs: number): Promise<readonly ScheduleDocument[]> {
  const due = async (filters: readonly FieldFilter[]): Promise<readonly ScheduleDocument[]> => {
    const { documents } = await readStore.page(schedulesView, {
      where: [{ field: 'nextDueAt', from: '', to: toTimestamp(nowMs) }, ...filters],
      sort: [{ field: 'nextDueAt', descending: false }],
      limit: firedAtOnce,
      offset: 0,
      count: false,
    });
    return documents;
  };
  const documents = await due([]);
  const held = new Set(shards.held());
  const own = documents.filter(({ shard }) => held.has(shard));
  return own.length < documents.length && documents.length === firedAtOnce ? due(ofShards(shards)) : own;
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

/** Fires every slot that is due now. Returns how many schedules were looked at. */
export async function fireDue(parts: TimerParts, settled: SettledSlots = new Map()): Promise<number> {
  const { eventStore, clock, logger } = parts;
  const nowMs = clock.now();
  for (const [taskId, { atMs }] of settled) if (nowMs - atMs >= settledForMs) settled.delete(taskId);
  const documents = await findDue(parts, nowMs);
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
  return documents.length;
}

/** Emits again the runs that have no result for too long. Returns how many. */
export async function sweepPending({ readStore, bus, clock, shards }: TimerParts): Promise<number> {
  const nowMs = clock.now();
  const before = toTimestamp(nowMs - overdueMs);
  const { documents } = await readStore.page(schedulesView, {
    where: [{ field: 'pendingSince', from: '', to: before }, ...ofShards(shards)],
    sort: [{ field: 'pendingSince', descending: false }],
    limit: firedAtOnce,
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

export function startTimer(parts: TimerParts): Timer {
  const { clock, logger } = parts;
  let stopping = false;
  let wake = (): void => undefined;
  const settled: SettledSlots = new Map();
  let lastSweepMs = clock.now() - sweepEveryMs + 5_000;

  const round = async (): Promise<void> => {
    await fireDue(parts, settled);
    if (clock.now() - lastSweepMs < sweepEveryMs) return;
    lastSweepMs = clock.now();
    const again = await sweepPending(parts);
    if (again > 0) logger.warn({ runs: again }, 'runs without a result were emitted again');
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      await round().catch((error: unknown) => {
        logger.error({ error: String(error) }, 'the timer could not look for due runs; trying again');
      });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, tickMs);
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
