/** Folds one day of a task's deliveries: those that were decided on it, once all of them have ended. */
import {
  dayEnd,
  dayStart,
  figuresView,
  lastMomentOf,
  mostDeliveriesOfADay,
  statsStream,
  type DeliveriesFolded,
} from '#contracts/retention';
import { deliveriesView, deliveryStream, type DeliveryDocument } from '#contracts/delivery';
import { runStream, type RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import { runCommand } from '#eventing/run-command';
import type { EventStore } from '#event-store/event-store';
import type { PageQuery, ReadStore } from '#read-store/read-store';
import { toTimestamp } from '#runtime/clock';
import { foldStateOf } from './fold-state.js';
import { foldDecider } from '../domain/fold/fold.js';
import { archiveFor, createDayRecord, finishArchive, type FoldDeps, type Folding } from './fold-runs.js';

const deliveriesAtOnce = 200;

/**
 * The deliveries of a task behind the last day that is folded, which the view may still show, up to the end of a day, the oldest
 * first.
 */
async function* deliveriesUntil(
  readStore: ReadStore,
  { taskId, after, day }: { readonly taskId: string; readonly after: string | null; readonly day: string },
): AsyncGenerator<DeliveryDocument> {
  let query: PageQuery = {
    where: [
      { field: 'notificationId', equals: taskId },
      { field: 'createdAt', from: after === null ? '' : dayEnd(after), to: lastMomentOf(day) },
    ],
    sort: [{ field: 'createdAt', descending: false }],
    limit: deliveriesAtOnce,
    offset: 0,
    count: false,
  };
  for (;;) {
    const { documents } = await readStore.page(deliveriesView, query);
    yield* documents;
    const last = documents.at(-1);
    if (last === undefined || documents.length < deliveriesAtOnce) return;
    query = { ...query, behind: { values: [last.createdAt], id: last.id } };
  }
}

type Counted = Pick<DeliveriesFolded, 'states' | 'actionTypes' | 'reasons' | 'attempts'>;

function counted(before: Counted, { state, actionType, reason, attempts }: DeliveryDocument): Counted {
  const plus = (counts: Counted['states'], name: string) => ({ ...counts, [name]: (counts[name] ?? 0) + 1 });
  return {
    states: plus(before.states, state),
    actionTypes: plus(before.actionTypes, actionType),
    reasons: reason === null ? before.reasons : plus(before.reasons, reason),
    attempts: before.attempts + attempts.length,
  };
}

/** Runs that are not folded may ask for their deliveries once more. */
async function hasRuns(readStore: ReadStore, taskId: string, day: string): Promise<boolean> {
  const where = [
    { field: 'notificationId', equals: taskId },
    { field: 'from', to: lastMomentOf(day) },
    { field: 'hour', from: '', to: lastMomentOf(day) },
  ];
  const { documents } = await readStore.page(figuresView, { where, sort: [], limit: 1, offset: 0, count: false });
  return documents.length > 0;
}

/** The messages that a later one of the open episode goes under, or ends. */
async function openMessages(eventStore: EventStore, taskId: string): Promise<ReadonlySet<string>> {
  const last = await eventStore.readLast(runStream(taskId));
  const event = last === null ? null : decodeEvent<RunEvent>(last);
  const sent = event?.type === 'run.recorded' ? (event.data.alert.sent ?? {}) : {};
  const messages = [sent.condition, sent.health].flatMap((episode) => Object.values(episode?.actions ?? {}));
  return new Set(messages.flatMap(({ first, last: newest }) => [first, ...(newest === undefined ? [] : [newest])]));
}

/** The days before it must be folded; a day whose runs are not waits. Rejects as `foldDayOfRuns` does. */
export async function foldDayOfDeliveries(deps: FoldDeps, taskId: string, day: string): Promise<Folding> {
  const { eventStore, readStore, stored, clock } = deps;
  const state = await foldStateOf(eventStore, taskId);
  if (state.deliveriesThrough !== null && day <= state.deliveriesThrough) return { kind: 'nothing' };
  const runsAreFolded = state.runsThrough !== null && day <= state.runsThrough;
  if (!runsAreFolded && (await hasRuns(readStore, taskId, day))) return { kind: 'waits' };
  const deliveries: DeliveryDocument[] = [];
  for await (const delivery of deliveriesUntil(readStore, { taskId, after: state.deliveriesThrough, day })) {
    if (delivery.finishedAt === null) return { kind: 'waits' };
    deliveries.push(delivery);
  }
  const [first] = deliveries;
  if (first === undefined) return { kind: 'nothing' };
  const archive = await archiveFor(deps, { taskId, day, kind: 'deliveries' });
  const record = createDayRecord(archive);
  let counts: Counted = { states: {}, actionTypes: {}, reasons: {}, attempts: 0 };
  try {
    for (const delivery of deliveries) {
      for await (const event of stored.read(deliveryStream(delivery.id))) await record.add(event);
      counts = counted(counts, delivery);
    }
  } catch (error) {
    await archive?.abandon();
    throw error;
  }
  await finishArchive(archive);
  const deliveryIds = deliveries.slice(0, mostDeliveriesOfADay).map(({ id }) => id);
  const idsLeftOut = deliveries.length - deliveryIds.length;
  const folded = await runCommand(eventStore, foldDecider, {
    stream: statsStream(taskId),
    command: {
      type: 'foldDeliveries',
      day: { taskId, day, ...counts, deliveryIds, idsLeftOut, events: record.finish() },
      pointedTo: await openMessages(eventStore, taskId),
    },
    commandId: `${taskId}|deliveries.folded|${day}`,
    metadata: {
      organizationId: first.organizationId,
      actor: 'system:folding',
      requestId: `fold-${dayStart(day)}`,
      causationId: null,
      at: toTimestamp(clock.now()),
    },
    from: 'last',
  });
  return folded.events.length === 0 ? { kind: 'nothing' } : { kind: 'folded', events: record.count() };
}
