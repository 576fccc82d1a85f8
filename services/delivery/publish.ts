/** What this service publishes of deliveries: that a receiver is gone, which disables its action. Nobody waits for the rest. */
import type { DeliveryEvent } from '#contracts/delivery';
import type { BusMessage } from '#bus/bus';
import { goneReason } from '#channels/channel';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { deliveryIdOf } from './delivery-stream.js';

export function toMessages(recorded: RecordedEvent): readonly BusMessage[] {
  if (recorded.type !== 'attempt.ended') return [];
  const event = decodeEvent<Extract<DeliveryEvent, { readonly type: 'attempt.ended' }>>(recorded);
  const { next } = event.data;
  if (next.state !== 'failed' || next.reason !== goneReason) return [];
  const { id, stream, metadata, revision } = recorded;
  const deliveryId = deliveryIdOf(stream);
  // Nothing of what was sent and answered: it stands in the event, sealed.
  return [{ id, type: event.type, key: deliveryId, data: { next, deliveryId, revision }, metadata }];
}
