/** Puts dead letters on record, in a stream per topic, so that audits and alerts need not look into the bus. */
import { unreadableType, type RecordDeadLetter } from '#bus/bus';
import type { DeadLetterEvent } from '#contracts/dead-letter';
import type { EventStore } from '#event-store/event-store';
import { unavailable } from '#runtime/errors';
import { encodeEvents } from './codec.js';

/** Consumers that give up messages of one topic at the same time. */
const rounds = 20;
/** What a handler says may be long; the whole of it is in the log. */
const reasonLimit = 500;
const keyLimit = 200;

/** What cannot be read may be written by anybody who reaches the broker, as often as he likes; events are for ever. */
const unreadablePerHour = 100;
const hourMs = 3_600_000;

/**
 * Rejects where the event store is out of reach. A message that is given up again is recorded again. Of those that cannot be
 * read the first of each hour are recorded; the others stand among the dead letters of the bus and in the log.
 */
export function recordDeadLetters(eventStore: EventStore): RecordDeadLetter {
  let unreadable = { hour: 0, count: 0 };
  return async ({ message, topic, group, reason, at }) => {
    const { id, type, key, metadata } = message;
    if (type === unreadableType) {
      const hour = Math.floor(Date.parse(at) / hourMs);
      unreadable = { hour, count: unreadable.hour === hour ? unreadable.count + 1 : 1 };
      if (unreadable.count > unreadablePerHour) return;
    }
    const event: DeadLetterEvent = {
      type: 'message.parked',
      data: {
        topic,
        group,
        messageId: id,
        messageType: type,
        key: key.slice(0, keyLimit),
        reason: reason.slice(0, reasonLimit),
      },
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
