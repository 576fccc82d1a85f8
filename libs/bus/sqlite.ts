/** Bus in one SQLite file, for one process: messages in a durable log, requests straight from caller to responder. */
import { withTimeout } from '#concurrency/timeout';
import { unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { inTransaction, openDatabase } from '#sqlite/database';
import { createGroupCommit } from '#sqlite/group-commit';
import type { BusMessage, OpenedBus, RecordDeadLetter, Relay, RequestHandler } from './bus.js';
import { createMessageHandling } from './handle-message.js';
import { startSqliteConsumer, type SqliteConsumer } from './sqlite-consumer.js';
import { createMessageLog, schema } from './sqlite-log.js';

const defaultDeadlineMs = 10_000;
/** Most messages never come here: they are relayed. */
const cacheKb = 2_000;

interface Published {
  readonly topic: string;
  readonly messages: readonly BusMessage[];
}

export interface SqliteBusOptions {
  readonly recordDeadLetter?: RecordDeadLetter;
  /** Relay messages once all consumers are there, which `ready` says. By default they are stored. */
  readonly relays?: boolean;
  readonly laterRoundsMs?: readonly number[];
}

/** Rejects with the signal's reason where it aborts first. */
function withAbort(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void awaited.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file. */
export function createSqliteBus(
  file: string,
  logger: Logger,
  { recordDeadLetter = async () => undefined, relays = false, laterRoundsMs }: SqliteBusOptions = {},
): OpenedBus {
  // The bus may be wiped: sweepers emit again what has no result. So a commit need not reach the disk at once.
  const database = openDatabase({ file, durability: 'normal', schema, cacheKb });
  const messageLog = createMessageLog(database);
  const responders = new Map<string, RequestHandler>();
  const consumers = new Map<SqliteConsumer, string>();
  const allJoined = Promise.withResolvers<void>();
  let closed = false;

  const relay: Relay = async (topic, messages, settled, signal) => {
    await withAbort(allJoined.promise, signal);
    const groups = [...consumers].flatMap(([consumer, its]) => (its === topic ? [consumer] : []));
    let open = groups.length * messages.length;
    if (open === 0) return settled();
    const onDone = (): void => {
      open -= 1;
      if (open === 0) settled();
    };
    for (const consumer of groups) consumer.take(messages, onDone);
    for (const consumer of groups) {
      for (let room = consumer.room(); room !== null; room = consumer.room()) await withAbort(room, signal);
    }
  };

  const group = createGroupCommit<Published, string>(
    database,
    ({ topic, messages }) => {
      messageLog.append(topic, messages);
      return topic;
    },
    (written) => {
      const topics = new Set(written);
      for (const [consumer, topic] of consumers) if (topics.has(topic)) consumer.onAppended();
    },
  );

  return {
    async publish(topic, messages) {
      if (messages.length === 0) return;
      if (closed) throw unavailable('bus_unavailable', 'The bus is closed; try again after the restart.');
      try {
        await group.submit({ topic, messages });
      } catch (error) {
        throw unavailable('bus_unavailable', 'The bus could not be written; nothing was published.', 5, error);
      }
    },

    async consume(options, handler) {
      const rounds = laterRoundsMs === undefined ? {} : { laterRoundsMs };
      const handleMessage = createMessageHandling({ ...options, ...rounds, handler, recordDeadLetter, logger });
      const consumer = startSqliteConsumer(messageLog, options, handleMessage, logger);
      consumers.set(consumer, options.topic);
      return {
        async stop() {
          await consumer.stop();
          consumers.delete(consumer);
        },
      };
    },

    async request(name, payload, context, deadlineMs = defaultDeadlineMs) {
      const handler = responders.get(name);
      if (handler === undefined || closed) {
        throw unavailable('no_answerer', `Nobody answers ${name} now; try again.`);
      }
      return withTimeout(handler(payload, context), deadlineMs, () =>
        unavailable(
          'deadline_exceeded',
          `${name} was not answered within ${deadlineMs} ms; it may still have been done.`,
        ),
      );
    },

    async respond(name, handler) {
      if (responders.has(name)) throw new Error(`${name} is answered already`);
      responders.set(name, handler);
      return {
        async stop() {
          if (responders.get(name) === handler) responders.delete(name);
        },
      };
    },

    deadLetters: async (topic, limit) => messageLog.deadLetters(topic, limit),

    relay: relays ? relay : null,

    async ready() {
      allJoined.resolve();
    },

    async health() {
      try {
        messageLog.deadLetters('', 1);
        return 'ok';
      } catch {
        return 'unreachable';
      }
    },

    drain() {
      for (const consumer of consumers.keys()) void consumer.stop();
    },

    async close() {
      if (closed) return;
      await Promise.all([...consumers.keys()].map((consumer) => consumer.stop()));
      group.flush();
      closed = true;
      inTransaction(database, () => undefined);
      database.close();
    },
  };
}
