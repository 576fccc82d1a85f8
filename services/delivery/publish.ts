/** What this service publishes of deliveries: each event under its own name on the topic `delivery`. */
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
      const { id, stream, data, metadata, revision } = recorded;
      const deliveryId = deliveryIdOf(stream);
      return [{ id, type: event.type, key: deliveryId, data: { ...data, deliveryId, revision }, metadata }];
    }
    default:
      return unreachable(event);
  }
}
