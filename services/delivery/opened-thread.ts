/** What the first message of an action's episode was given when it arrived: later ones go under it, or end it. */
import type { Receipt } from '#channels/channel';
import { deliveriesView, threadOf, type NotificationRequest } from '#contracts/delivery';
import type { EventStore } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { loadDelivery } from './delivery-stream.js';
import { known } from './domain/delivery.js';

/** Reminders, at worst; the first that arrived is among the first. */
const mostLooked = 20;

/** The view says which deliveries there were, beside the one that opened the episode; the stream of each what it was given. */
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
  const shown = documents.flatMap(({ id, notificationId }) =>
    id === request.deliveryId || notificationId !== request.taskId ? [] : [id],
  );
  // What opened the episode stays while that is open, also where it is of a folded day that no view shows.
  const looked = request.openedBy === undefined ? shown : [request.openedBy, ...shown];
  for (const id of new Set(looked)) {
    const loaded = await loadDelivery(eventStore, id);
    const settled = loaded === null ? [] : (known(loaded.state)?.settled ?? []);
    for (const { receipt } of settled) if (receipt !== undefined) return receipt;
  }
  return null;
}
