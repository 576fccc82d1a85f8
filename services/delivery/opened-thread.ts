/** What the first message of an action's episode was given when it arrived: later ones go under it, or end it. */
import type { Receipt } from '#channels/channel';
import { deliveriesView, threadOf, type NotificationRequest } from '#contracts/delivery';
import type { EventStore } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { loadDelivery } from './delivery-stream.js';

/** Reminders, at worst; the first that arrived is among the first. */
const mostLooked = 20;

/** The view says which deliveries there were, and the stream of each what it was given. */
export async function openedBy(
  { readStore, eventStore }: { readonly readStore: Pick<ReadStore, 'page'>; readonly eventStore: EventStore },
  request: NotificationRequest,
): Promise<Receipt | null> {
  const thread = threadOf(request);
  if (thread === null) return null;
  const { documents } = await readStore.page(deliveriesView, {
    where: [{ field: 'thread', equals: thread }],
    sort: [{ field: 'createdAt', descending: false }],
    limit: mostLooked,
    offset: 0,
    count: false,
  });
  for (const { id, notificationId } of documents) {
    if (id === request.deliveryId || notificationId !== request.taskId) continue;
    const state = (await loadDelivery(eventStore, id))?.state;
    const settled = state === undefined || state.status === 'none' ? [] : state.settled;
    for (const { receipt } of settled) if (receipt !== undefined) return receipt;
  }
  return null;
}
