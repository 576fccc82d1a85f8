/** Fires slots at their time, and emits again the runs without a result. The sweep is what keeps the promise, not the bus. */
import type { Bus } from '#bus/bus';
import { sleep } from '#concurrency/sleep';
import { schedulesView } from '#contracts/schedule';
import type { BackgroundWork } from '#eventing/service';
import { toTimestamp } from '#runtime/clock';
import { DueSlots, foundAtOnce, ofShards, type DueSlotsDeps } from './due-slots.js';
import { runDue } from './publish.js';

export interface TimerDeps extends DueSlotsDeps {
  readonly bus: Bus;
}

const lookEveryMs = 250;
/** Slots that become due before the next look are found by this one and fired at their time; a look may take as long again. */
const lookAheadMs = 500;
/**
 * Slots that become due within so long of one another are fired together: so late they are at most. Many together cost less
 * each, so that the more there are, the longer it is.
 */
const tickMs = { least: 20, most: 100, forEach: 2 };
const sweepEveryMs = 30_000;
const firstSweepMs = 5_000;
/** A run this long without a result is emitted again; a worker that is running it ignores the repeat. */
const overdueMs = 30_000;

/** Emits again the runs that have no result for too long. Returns how many. */
export async function sweepPending({ readStore, bus, clock, shards }: TimerDeps): Promise<number> {
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

/**
 * Looks ahead, so that a slot is fired at its time and the read store is asked four times a second. `stop` waits for the
 * round in progress.
 */
export function startTimer(deps: TimerDeps): BackgroundWork {
  const { clock, logger } = deps;
  const slots = new DueSlots(deps);
  const stopping = new AbortController();
  // By a clock that never goes back: where the machine's own is set back, looks and sweeps go on.
  let lookAtMs = performance.now();
  let sweepAtMs = lookAtMs + firstSweepMs;
  /** In the last round. */
  let fired = 0;

  const look = async (): Promise<void> => {
    const startedMs = performance.now();
    lookAtMs = startedMs + lookEveryMs;
    // There are more of them than were found.
    if ((await slots.look(lookAheadMs)) === foundAtOnce) lookAtMs = startedMs;
  };

  const round = async (): Promise<void> => {
    fired = await slots.fire();
    if (performance.now() >= lookAtMs) {
      await look();
      fired += await slots.fire();
    }
    if (performance.now() < sweepAtMs) return;
    sweepAtMs = performance.now() + sweepEveryMs;
    const again = await sweepPending(deps);
    if (again > 0) logger.warn({ runs: again }, 'runs without a result were emitted again');
  };

  const untilNextRoundMs = (): number => {
    const dueAt = slots.nextDueAt;
    const untilDueMs = dueAt === null ? Infinity : Date.parse(dueAt) - clock.now();
    const together = Math.min(tickMs.most, Math.max(tickMs.least, fired * tickMs.forEach));
    return Math.max(together, Math.min(untilDueMs, lookAtMs - performance.now()));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) => {
        logger.error({ error: String(error) }, 'the timer could not look for due runs; trying again');
      });
      await sleep(untilNextRoundMs(), stopping.signal);
    }
  };

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
