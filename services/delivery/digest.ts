/** A digest: one message in place of several of one action. Derived from what was gathered, so that every attempt says the same. */
import type { GatheredMessage } from '#channels/channel';
import type { NotificationRequest } from '#contracts/delivery';
import type { KnownDelivery } from './domain/delivery.js';

/** A request as channels are given it: one that has gathered others tells of all of them. */
export type SentRequest = Omit<NotificationRequest, 'kind'> & {
  readonly kind: NotificationRequest['kind'] | 'digest';
  readonly items?: readonly GatheredMessage[];
};

function ofOneTask({ kind, executionId, context, createdAt, episode, openedBy }: NotificationRequest): GatheredMessage {
  return {
    kind,
    executionId,
    context,
    createdAt,
    ...(episode === undefined ? {} : { episode }),
    ...(openedBy === undefined ? {} : { openedBy }),
  };
}

/** Oldest first; of two at once the one that was there first. */
function byTime(one: GatheredMessage, other: GatheredMessage): number {
  return one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : 0;
}

/** `requests`: two or more, of one action. The first one gathers, and gives its id. */
export function digestOf(request: NotificationRequest, gathered: readonly NotificationRequest[]): SentRequest {
  const items = [request, ...gathered].map(ofOneTask).toSorted(byTime);
  const last = items.at(-1) ?? request;
  const { name } = last.context.task;
  const message = `"${name}": ${items.length} messages. The last one: ${last.context.message}`;
  return { ...request, kind: 'digest', executionId: last.executionId, items, context: { ...last.context, message } };
}

/** One alone goes as it is. */
export function asSent({ request, gathered }: KnownDelivery): SentRequest {
  return gathered.length === 0 ? request : digestOf(request, gathered);
}
