/** Puts dead letters on record, in a stream per topic, so that audits and alerts need not look into the bus. */
import type { RecordDeadLetter } from '#bus/bus';
import type { DeadLetterEvent } from '#contracts/dead-letter';
import type { EventStore } from '#event-store/event-store';
import { unavailable } from '#runtime/errors';
import { encodeEvents } from './codec.js';

/** Consumers that give up messages of one topic at the same time. */
const rounds = 20;
/** What a handler says may be long; the whole of it is in the log. */
const reasonLimit = 500;

/** Rejects where the event store is out of reach. A message that is given up again is recorded again. */
export function recordDeadLetters(eventStore: EventStore): RecordDeadLetter {
  return async ({ message, topic, group, reason, at }) => {
    const { id, type, key, metadata } = message;
    const event: DeadLetterEvent = {
      type: 'message.parked',
      data: { topic, group, messageId: id, messageType: type, key, reason: reason.slice(0, reasonLimit) },
    };
    const events = encodeEvents([event], {
      commandId: `${group}|${topic}|${id}|parked|${at}`,
      metadata: { ...metadata, actor: 'system:bus', causationId: id, at },
    });
    const stream = `parked-${topic}`;
    for (let round = 0; round < rounds; round += 1) {
      const last = await eventStore.readLast(stream);
      const appended = await eventStore.append(stream, events, last?.revision ?? 'none');
      if (appended.ok) return;
    }
    throw unavailable('too_many_writers', `The dead letter ${id} could not be recorded.`);
  };
}
