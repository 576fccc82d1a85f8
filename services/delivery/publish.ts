/** What this service publishes of deliveries: each event under its own name on the topic `delivery`, and how an attempt ended. */
import type { DeliveryEvent } from '#contracts/delivery';
import type { BusMessage } from '#bus/bus';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { unreachable } from '#runtime/errors';
import { deliveryIdOf } from './delivery-stream.js';

export function toMessages(recorded: RecordedEvent): readonly BusMessage[] {
  const event = decodeEvent<DeliveryEvent>(recorded);
  switch (event.type) {
    case 'delivery.requested':
    case 'attempt.started':
    case 'attempt.ended':
    case 'attempt.lost':
    case 'delivery.expired':
    case 'delivery.suppressed':
    case 'delivery.postponed':
    case 'delivery.gathered':
    case 'delivery.resent': {
      const { id, stream, metadata, revision } = recorded;
      const deliveryId = deliveryIdOf(stream);
      // Nothing of what was sent and answered: it stands in the event, sealed.
      const told = event.type === 'attempt.ended' ? { next: event.data.next } : {};
      return [{ id, type: event.type, key: deliveryId, data: { ...told, deliveryId, revision }, metadata }];
    }
    default:
      return unreachable(event);
  }
}
