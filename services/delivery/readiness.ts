/**
 * Whether a delivery that is due may be sent for the first time. What was decided together has an order: no message of an
 * episode goes out after its own end, what is to be gathered goes with the message that gathers, and what was held is sent
 * only where it still holds.
 */
import {
  deliveriesView,
  deliveryStream,
  threadOf,
  type DeliveryDocument,
  type NotificationRequest,
} from '#contracts/delivery';
import { runStream, type AlertState, type RunEvent } from '#contracts/run';
import { foldedDaysView } from '#contracts/retention';
import { tasksView } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { changeDelivery, loadDelivery, type LoadedDelivery } from './delivery-stream.js';
import { isEnded, known, type Delivery } from './domain/delivery.js';

export interface ReadinessDeps {
  readonly eventStore: EventStore;
  readonly readStore: Pick<ReadStore, 'get' | 'page'>;
  readonly clock: Clock;
  /** A delivery that was begun, as this process knows without asking; false says nothing. */
  readonly isBegun: (id: string) => boolean;
}

export type Readiness =
  | { readonly kind: 'ready' }
  /** Another delivery has to end first. */
  | { readonly kind: 'behind'; readonly id: string; readonly lookAtMs: number }
  | { readonly kind: 'suppressed'; readonly reason: string }
  /** It went into another one. */
  | { readonly kind: 'gathered'; readonly by: string }
  | { readonly kind: 'postponed'; readonly reason: string; readonly until: string };

type WaitingDelivery = LoadedDelivery & { readonly state: Extract<Delivery, { readonly status: 'waiting' }> };

const ready: Readiness = { kind: 'ready' };
/** The message before this one may still be on its way to this service. One that is older than that was never asked for. */
const arrivesWithinMs = 10 * 60_000;
const shortestWaitMs = 500;
const longestWaitMs = 60_000;
/** Chains of messages that went into others. */
const maxHops = 5;
const onTheWay = ['pending', 'sending', 'retrying'] as const;
const isOnTheWay = ({ state }: DeliveryDocument): boolean => onTheWay.some((one) => one === state);

/** Waits longer the longer it has waited; the end of the other one is heard of in the same process anyway. */
function lookAgain(nowMs: number, createdAt: string): number {
  const waitedMs = nowMs - Date.parse(createdAt);
  return nowMs + Math.min(longestWaitMs, Math.max(shortestWaitMs, waitedMs / 8));
}

/** The delivery that carries the content of this one. */
async function carrierOf(eventStore: EventStore, id: string): Promise<LoadedDelivery | null> {
  let found = await loadDelivery(eventStore, id);
  for (let hop = 0; hop < maxHops && found?.state.status === 'suppressed' && found.state.by !== null; hop += 1) {
    found = await loadDelivery(eventStore, found.state.by);
  }
  return found;
}

/** Whether anybody may have been told by it: what was tried without an answer counts. */
function mayHaveArrived(state: Delivery): boolean {
  switch (state.status) {
    case 'delivered':
    case 'unknown':
    // Nobody knows any more.
    case 'folded':
      return true;
    case 'expired':
      return state.attempts > 0;
    case 'failed':
      return state.attempts > 1 || state.settled.some(({ refused }) => refused === null);
    default:
      return false;
  }
}

async function lastAlert(eventStore: EventStore, taskId: string): Promise<AlertState | null> {
  const last = await eventStore.readLast(runStream(taskId));
  const event = last === null ? null : decodeEvent<RunEvent>(last);
  return event?.type === 'run.recorded' ? event.data.alert : null;
}

function stillHolds({ kind, is }: NonNullable<NotificationRequest['provided']>, alert: AlertState | null): boolean {
  if (alert === null) return false;
  switch (kind) {
    case 'condition':
      return alert.condition === 'true' && String(alert.episode) === is;
    case 'health':
      return alert.health !== 'ok' && String(alert.healthEpisode) === is;
    case 'value':
      return alert.lastValue === is;
  }
}

/** Of a message that was held: it is sent where what it says still holds, and nobody has taken it on meanwhile. */
async function afterHold(
  { eventStore, readStore, clock }: ReadinessDeps,
  { taskId, action, episode, provided, expiresAt }: NotificationRequest,
): Promise<Readiness> {
  if (provided === undefined) return ready;
  const task = await readStore.get(tasksView, taskId);
  if (task === null) return { kind: 'suppressed', reason: 'archived' };
  if (task.status === 'paused') return { kind: 'suppressed', reason: 'paused' };
  const now = task.spec.actions.find(({ id }) => id === action.id);
  if (now === undefined || !now.enabled) return { kind: 'suppressed', reason: 'action_disabled' };
  if (!stillHolds(provided, await lastAlert(eventStore, taskId))) return { kind: 'suppressed', reason: 'over' };
  const { acknowledged } = task;
  if (acknowledged === undefined || episode === undefined || !acknowledged.episodes.includes(episode)) return ready;
  const { until } = acknowledged;
  if (until === null) return { kind: 'suppressed', reason: 'acknowledged' };
  if (Date.parse(until) <= clock.now()) return ready;
  return until < expiresAt
    ? { kind: 'postponed', reason: 'acknowledged', until }
    : { kind: 'suppressed', reason: 'acknowledged' };
}

/** Puts the message into the one that gathers, as long as nothing of that was sent. */
async function intoDigest(deps: ReadinessDeps, delivery: WaitingDelivery, by: string): Promise<Readiness> {
  const { eventStore, clock } = deps;
  const now = clock.now();
  const { request } = delivery.state;
  const gathering = await loadDelivery(eventStore, by);
  if (gathering === null) {
    const isAwaited = now - Date.parse(request.createdAt) < arrivesWithinMs;
    return isAwaited ? { kind: 'behind', id: by, lookAtMs: lookAgain(now, request.createdAt) } : ready;
  }
  const command = { type: 'gatherMessage', at: toTimestamp(now), request } as const;
  const { state } = await changeDelivery(eventStore, gathering, command, `${by}|gather|${delivery.id}`);
  const isIn = known(state)?.gathered.some(({ deliveryId }) => deliveryId === request.deliveryId) === true;
  return isIn ? { kind: 'gathered', by } : ready;
}

/** Messages of the same episode by the same action that were decided before and are not over. */
async function othersOnTheWay({ readStore }: ReadinessDeps, request: NotificationRequest): Promise<readonly string[]> {
  const { documents } = await readStore.page(deliveriesView, {
    where: [
      { field: 'thread', equals: threadOf(request) },
      { field: 'createdAt', to: request.createdAt },
      { field: 'state', oneOf: [...onTheWay] },
    ],
    sort: [{ field: 'createdAt', descending: false }],
    limit: 2,
    offset: 0,
    count: false,
  });
  return documents.map(({ id }) => id).filter((id) => id !== request.deliveryId);
}

/** All of its day had ended. */
async function isOfFoldedDay(
  { readStore }: ReadinessDeps,
  { organizationId }: NotificationRequest,
  deliveryId: string,
): Promise<boolean> {
  const where = [
    { field: 'organizationId', equals: organizationId },
    { field: 'ids', has: deliveryId },
  ];
  const { documents } = await readStore.page(foldedDaysView, { where, sort: [], limit: 1, offset: 0, count: false });
  return documents.length > 0;
}

/** The end of an episode: after everything of it, and only where somebody may have been told about it. */
async function afterEpisode(deps: ReadinessDeps, request: NotificationRequest, follows: string): Promise<Readiness> {
  const { eventStore, clock } = deps;
  const now = clock.now();
  const lookAtMs = lookAgain(now, request.createdAt);
  const before = await carrierOf(eventStore, follows);
  if (before === null) {
    const isAwaited = now - Date.parse(request.createdAt) < arrivesWithinMs;
    return isAwaited ? { kind: 'behind', id: follows, lookAtMs } : ready;
  }
  const { state } = before;
  if (state.status === 'waiting' && state.attempts === 0 && state.request.provided !== undefined && !state.isWanted) {
    // It was held back to be sent only if this did not come.
    const command = { type: 'suppressDelivery', at: toTimestamp(now), reason: 'over' } as const;
    const { state: after } = await changeDelivery(
      eventStore,
      before,
      command,
      `${before.id}|over|${request.deliveryId}`,
    );
    if (!isEnded(after)) return { kind: 'behind', id: before.id, lookAtMs };
    return (await othersOnTheWay(deps, request)).some((id) => id !== before.id)
      ? { kind: 'behind', id: before.id, lookAtMs }
      : { kind: 'suppressed', reason: 'over' };
  }
  if (!isEnded(state) && state.status !== 'unknown') return { kind: 'behind', id: before.id, lookAtMs };
  // Once the view shows this end, it shows all that was asked for before.
  const shown = await deps.readStore.get(deliveriesView, before.id);
  const isShown = shown === null ? await isOfFoldedDay(deps, request, before.id) : !isOnTheWay(shown);
  // It ended a moment ago, and views are a moment behind: however long was waited for it, this is not.
  if (!isShown) return { kind: 'behind', id: before.id, lookAtMs: now + shortestWaitMs };
  const [other] = await othersOnTheWay(deps, request);
  if (other !== undefined) return { kind: 'behind', id: other, lookAtMs };
  if (mayHaveArrived(state)) return ready;
  const first = request.openedBy === undefined ? null : await carrierOf(eventStore, request.openedBy);
  return first !== null && mayHaveArrived(first.state) ? ready : { kind: 'suppressed', reason: 'not_told' };
}

/** So that the end of an episode, which waits for its last message, finds all of them. */
async function wasAskedFor(
  { eventStore, clock, isBegun }: ReadinessDeps,
  { createdAt }: NotificationRequest,
  follows: string,
): Promise<boolean> {
  if (isBegun(follows) || clock.now() - Date.parse(createdAt) >= arrivesWithinMs) return true;
  return (await eventStore.readLast(deliveryStream(follows))) !== null;
}

export async function readinessOf(deps: ReadinessDeps, delivery: WaitingDelivery): Promise<Readiness> {
  const { state } = delivery;
  const { request, attempts, isWanted } = state;
  const { gatheredBy, kind, follows } = request;
  if (attempts > 0 || isWanted) return ready;
  if (gatheredBy !== undefined) {
    const gathered = await intoDigest(deps, delivery, gatheredBy);
    if (gathered.kind !== 'ready') return gathered;
  }
  if (kind === 'recovered' && follows !== undefined) return afterEpisode(deps, request, follows);
  if (follows !== undefined && !(await wasAskedFor(deps, request, follows))) {
    const now = deps.clock.now();
    return { kind: 'behind', id: follows, lookAtMs: lookAgain(now, request.createdAt) };
  }
  return afterHold(deps, request);
}
