/** What holds after any crash, computed from the recorded events and the receivers' logs alone. Each finding is a sentence; none is good. */
import { runRecorded, runStream } from '#contracts/run';
import type { ScheduleEvent } from '#contracts/schedule';
import { checkEvent, decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';

type Recorded = ReturnType<typeof runRecorded.schema.parse>;

const groupBy = <Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> =>
  Map.groupBy(items, key);

function results(events: readonly RecordedEvent[]): Recorded[] {
  return events.filter(({ type }) => type === 'run.recorded').map(({ data }) => runRecorded.schema.parse(data));
}

function scheduleEvent(recorded: RecordedEvent): ScheduleEvent {
  checkEvent(recorded);
  return decodeEvent<ScheduleEvent>(recorded);
}

/** Ids of the runs that were fired or asked for. */
function dueRuns(events: readonly RecordedEvent[]): string[] {
  return events
    .filter(({ stream }) => stream.startsWith('schedule-'))
    .map(scheduleEvent)
    .flatMap((event) => ('run' in event.data ? [event.data.run.runId] : []));
}

/** What the last run of a task found; undefined: it has none. */
export function lastOutcome(
  events: readonly RecordedEvent[],
  taskId: string,
): Recorded['result']['outcome'] | undefined {
  return results(events.filter(({ stream }) => stream === runStream(taskId))).at(-1)?.result.outcome;
}

/** Streams without gaps, no event twice. */
export function brokenStreams(events: readonly RecordedEvent[]): string[] {
  const found: string[] = [];
  for (const [stream, own] of groupBy(events, (event) => event.stream)) {
    for (const [index, { revision }] of own.entries()) {
      if (revision !== index) found.push(`${stream} has revision ${revision} in place ${index}`);
    }
  }
  for (const [id, same] of groupBy(events, (event) => event.id)) {
    if (same.length > 1) {
      found.push(
        `event ${id} is there ${same.length} times: ${same.map(({ stream, type }) => `${type} in ${stream}`).join()}`,
      );
    }
  }
  return found;
}

/** Every run on record was made due by a slot or a request on record. */
export function unplannedRuns(events: readonly RecordedEvent[]): string[] {
  const planned = new Set(dueRuns(events));
  return results(events)
    .filter(({ result }) => !planned.has(result.runId))
    .map(({ result }) => `${result.runId} of ${result.scheduledFor} has no slot and no request`);
}

/** Every slot of a schedule from its plan on was fired or is in a range that was passed over, none is in two. */
export function uncoveredSlots(events: readonly RecordedEvent[]): string[] {
  const found: string[] = [];
  const schedules = events.filter(({ stream }) => stream.startsWith('schedule-'));
  for (const [stream, own] of groupBy(schedules, (event) => event.stream)) {
    let dueAt: string | null = null;
    let everyMs = 0;
    for (const { type, data } of own.map(scheduleEvent)) {
      if (type === 'schedule.planned' || type === 'schedule.stopped' || type === 'schedule.forgotten') {
        const { plan } = data;
        dueAt = plan.nextDueAt;
        everyMs = plan.schedule.type === 'interval' ? plan.schedule.intervalSeconds * 1_000 : 0;
        continue;
      }
      if (type !== 'slot.fired' && type !== 'slots.skipped') continue;
      const skipped = 'slots' in data ? data.slots : data.skipped;
      const covered = [
        ...(skipped === null
          ? []
          : Array.from({ length: skipped.count }, (_, index) => Date.parse(skipped.from) + index * everyMs)),
        ...('run' in data ? [Date.parse(data.run.scheduledFor)] : []),
      ];
      if (skipped !== null && Date.parse(skipped.from) + (skipped.count - 1) * everyMs !== Date.parse(skipped.to)) {
        found.push(`${stream}: the range ${JSON.stringify(skipped)} does not hold what it counts`);
      }
      for (const [index, slotMs] of covered.entries()) {
        if (slotMs !== Date.parse(dueAt ?? '') + index * everyMs) {
          found.push(`${stream}: ${new Date(slotMs).toISOString()} was covered where ${dueAt} was due`);
        }
      }
      dueAt = data.plan.nextDueAt;
      const next = (covered.at(-1) ?? 0) + everyMs;
      if (Date.parse(dueAt ?? '') !== next) found.push(`${stream}: after ${covered.at(-1)} comes ${dueAt}`);
    }
  }
  return found;
}

/** Ids of the runs that were fired or asked for and have no result. */
export function runsWithoutResult(events: readonly RecordedEvent[]): string[] {
  const recorded = new Set(results(events).map(({ result }) => result.runId));
  return dueRuns(events).filter((runId) => !recorded.has(runId));
}

/** Every run that was fired or asked for has one result. To be asked once nothing is under way. */
export function unansweredRuns(events: readonly RecordedEvent[]): string[] {
  const recorded = groupBy(results(events), ({ result }) => result.runId);
  return [
    ...runsWithoutResult(events).map((runId) => `${runId} has no result`),
    ...[...recorded].flatMap(([runId, all]) => (all.length > 1 ? [`${runId} was recorded ${all.length} times`] : [])),
  ];
}

/**
 * Notifications follow from the outcomes alone: once when a condition became true, not again while it stays so, unless a
 * person forces it. A run that ends while its task is being paused notifies nobody; a condition that is still true
 * afterwards notifies again.
 */
export function wrongDecisions(events: readonly RecordedEvent[]): string[] {
  const found: string[] = [];
  const paused = new Set(events.filter(({ type }) => type === 'task.paused').map(({ stream }) => stream));
  for (const [taskId, runs] of groupBy(results(events), ({ result }) => result.taskId)) {
    let told = false;
    for (const { result, late, notifications, decision } of runs) {
      if (late || result.outcome === null) continue;
      if (decision.reason === 'paused' && paused.has(`task-${taskId}`)) continue;
      // Decisions are made even where no action subscribes; the end of an error is none of the condition.
      const { reason, transition } = decision;
      const unheard = result.outcome && reason === 'no_actions' && transition?.kind !== 'health';
      const decided = unheard || notifications.some(({ kind }) => kind === 'triggered');
      const tells = result.outcome && (result.force || !told);
      if (tells !== decided) {
        found.push(
          `${taskId}: ${result.runId} found ${result.outcome} and told ${notifications.length} (${decision.reason})`,
        );
      }
      told = result.outcome;
    }
  }
  return found;
}

/** All that a record can show by itself; what was received is held against it by `wrongArrivals`. */
export function faultsOnRecord(events: readonly RecordedEvent[]): string[] {
  const invariants = [brokenStreams, uncoveredSlots, unplannedRuns, unansweredRuns, wrongDecisions];
  return invariants.flatMap((invariant) => invariant(events));
}

/** A message as its receiver saw it: the delivery's id, and all that must be the same when it comes again. */
export interface Arrival {
  readonly id: string;
  readonly bytes: string;
}

/** Every notification arrived, nothing else did, and what came again was the same. */
export function wrongArrivals(
  events: readonly RecordedEvent[],
  type: 'email' | 'webhook',
  arrivals: readonly Arrival[],
): string[] {
  const wanted = new Set(
    results(events).flatMap(({ notifications }) =>
      notifications.filter(({ action }) => action.type === type).map(({ deliveryId }) => deliveryId),
    ),
  );
  const byId = groupBy(arrivals, ({ id }) => id);
  return [
    ...[...wanted].filter((id) => !byId.has(id)).map((id) => `${id} never arrived`),
    ...[...byId.keys()].filter((id) => !wanted.has(id)).map((id) => `${id} arrived and was never decided`),
    ...[...byId].flatMap(([id, same]) =>
      new Set(same.map(({ bytes }) => bytes)).size > 1 ? [`${id} came again with other bytes`] : [],
    ),
  ];
}
