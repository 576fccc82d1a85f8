/** Puts on record that a message was parked, in a stream per topic, so that audits and alerts need not look into the bus. */
import type { ParkedEvent } from '#contracts/parked';
import { encodeEvents } from './codec.js';
import type { EventStore } from '#event-store/event-store';
import { unavailable } from '#runtime/errors';
import type { ParkedMessage } from '#bus/bus';

/** Consumers that park into one topic at once. */
const rounds = 20;
/** What a handler says may be long; the whole of it is in the log. */
const reasonLimit = 500;

export type RecordParked = (parked: ParkedMessage) => Promise<void>;

/** Rejects where the event store is out of reach. A message that is parked again is recorded again. */
export function recordParked(eventStore: EventStore): RecordParked {
  return async ({ message, topic, group, reason, parkedAt }) => {
    const { id, type, key, metadata } = message;
    const event: ParkedEvent = {
      type: 'message.parked',
      data: { topic, group, messageId: id, messageType: type, key, reason: reason.slice(0, reasonLimit) },
    };
    const events = encodeEvents([event], {
      commandId: `${group}|${topic}|${id}|parked|${parkedAt}`,
      metadata: { ...metadata, actor: 'system:bus', causationId: id, at: parkedAt },
    });
    const stream = `parked-${topic}`;
    for (let round = 0; round < rounds; round += 1) {
      const last = await eventStore.readLast(stream);
      const appended = await eventStore.append(stream, events, last?.revision ?? 'none');
      if (appended.ok) return;
    }
    throw unavailable('too_many_writers', `That ${id} was parked could not be recorded.`);
  };
}
