/** Finds what is due and fires it; finds runs without a result and emits them again. The sweep is what keeps the promise, not the bus. */
import type { Bus } from '#bus/bus';
import { schedulesView, type ScheduleDocument, type ScheduleEvent } from '#contracts/schedule';
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

/** Fires every slot that is due now. Returns how many schedules were looked at. */
export async function fireDue({ eventStore, readStore, clock, logger, shards }: TimerParts): Promise<number> {
  const nowMs = clock.now();
  const { documents } = await readStore.page(schedulesView, {
    where: [{ field: 'nextDueAt', from: '', to: toTimestamp(nowMs) }, ...ofShards(shards)],
    sort: [{ field: 'nextDueAt', descending: false }],
    limit: firedAtOnce,
    offset: 0,
    count: false,
  });
  await Promise.all(
    documents.map(async (document) => {
      const { taskId, pending, backsOff = false } = document;
      const { nextDueAt } = document.plan;
      if (nextDueAt === null) return;
      const commandId = `slot.${taskId}.${Date.parse(nextDueAt)}`;
      const busy = pending.some(({ trigger }) => trigger === 'schedule');
      try {
        await runCommand<ScheduleState, ScheduleCommand, ScheduleEvent>(eventStore, scheduleDecider, {
          stream: scheduleStream(taskId),
          command: { type: 'fireSlot', dueAt: nextDueAt, busy, late: backsOff, nowMs },
          commandId,
          metadata: metadataOf(document, commandId, nowMs),
          from: 'last',
        });
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
  let lastSweepMs = clock.now() - sweepEveryMs + 5_000;

  const round = async (): Promise<void> => {
    await fireDue(parts);
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
