/** Bus in one SQLite file: a durable log per topic, cursors per group, retries and a parking place for what cannot be handled. */
import { EventEmitter } from 'node:events';
import type { EventMetadata } from '#event-store/event-store';
import { AppError, unavailable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import { inTransaction, openDatabase } from '#sqlite/database';
import { createGroupCommit } from '#sqlite/group-commit';
import type {
  Bus,
  BusMessage,
  ConsumeOptions,
  Consumer,
  MessageHandler,
  ParkedMessage,
  RequestHandler,
} from './bus.js';
import type { RecordParked } from '#eventing/record-dead-letters';

const schema = `
  CREATE TABLE IF NOT EXISTS messages (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS messages_by_topic ON messages (topic, sequence);
  CREATE TABLE IF NOT EXISTS cursors (
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (topic, consumers)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS retries (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    message TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    due_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS retries_by_due ON retries (topic, consumers, due_ms);
  CREATE TABLE IF NOT EXISTS parked (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    message TEXT NOT NULL,
    reason TEXT NOT NULL,
    parked_at TEXT NOT NULL
  ) STRICT;
`;

/** Three tries at once, with full jitter up to these waits; then the message steps aside and its key goes on. */
const fastTriesMs = [50, 200] as const;
/** Rounds of later tries; after the last the message is parked, unless a part is out of reach: then the last is repeated. */
const defaultLaterRoundsMs: readonly number[] = [1_000, 5_000, 15_000];
const defaultDeadlineMs = 10_000;
const readAhead = 256;
const notesEveryMs = 50;
const retriesEveryMs = 250;
const pruneEvery = 2_000;
/** Before a message is tried again that can neither be handled nor be set aside, as on a full disk. */
const stuckMs = 1_000;

interface Published {
  readonly topic: string;
  readonly messages: readonly BusMessage[];
}

interface Failure {
  readonly reason: string;
  /** A part is out of reach: that goes by, so the message is tried until then. */
  readonly isOutage: boolean;
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof AppError)) return { reason: String(error), isOutage: false };
  return { reason: `${error.reason}: ${error.message}`, isOutage: error.code === 'SERVER_ERROR' };
}

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

export interface SqliteBusOptions {
  /** Told of each message that is given up. */
  readonly onParked?: RecordParked;
  readonly laterRoundsMs?: readonly number[];
}

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file. */
export function createSqliteBus(
  file: string,
  logger: Logger,
  { onParked = async () => undefined, laterRoundsMs = defaultLaterRoundsMs }: SqliteBusOptions = {},
): Bus {
  // The bus may be wiped: sweepers emit again what has no result. So a commit need not reach the disk at once.
  const database = openDatabase({ file, durability: 'normal', schema });
  const add = database.prepare('INSERT INTO messages (topic, message) VALUES (?, ?)');
  const behind = database.prepare(
    'SELECT sequence, message FROM messages WHERE topic = ? AND sequence > ? ORDER BY sequence LIMIT ?',
  );
  const getCursor = database.prepare('SELECT sequence FROM cursors WHERE topic = ? AND consumers = ?');
  const setCursor = database.prepare(
    'INSERT INTO cursors (topic, consumers, sequence) VALUES (?, ?, ?) ON CONFLICT (topic, consumers) DO UPDATE SET sequence = excluded.sequence',
  );
  const prune = database.prepare(
    'DELETE FROM messages WHERE topic = ? AND sequence <= (SELECT min(sequence) FROM cursors WHERE topic = ?)',
  );
  const addRetry = database.prepare(
    'INSERT INTO retries (topic, consumers, message, rounds, due_ms) VALUES (?, ?, ?, ?, ?)',
  );
  const dueRetries = database.prepare(
    'SELECT id, message, rounds FROM retries WHERE topic = ? AND consumers = ? AND due_ms <= ? ORDER BY due_ms LIMIT ?',
  );
  const dropRetry = database.prepare('DELETE FROM retries WHERE id = ?');
  const addParked = database.prepare(
    'INSERT INTO parked (topic, consumers, message, reason, parked_at) VALUES (?, ?, ?, ?, ?)',
  );
  const getParked = database.prepare('SELECT * FROM parked WHERE topic = ? ORDER BY id DESC LIMIT ?');

  const published = new EventEmitter().setMaxListeners(0);
  const responders = new Map<string, RequestHandler>();
  const consumers = new Set<Consumer>();
  let closed = false;
  let sincePrune = 0;

  const group = createGroupCommit<Published, string>(
    database,
    ({ topic, messages }) => {
      for (const message of messages) add.run(topic, JSON.stringify(message));
      sincePrune += messages.length;
      return topic;
    },
    (written) => {
      for (const topic of new Set(written)) published.emit(topic);
    },
  );

  const withDeadline = async <T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, refuse) => {
      timer = setTimeout(() => refuse(late()), milliseconds);
    });
    try {
      return await Promise.race([work, deadline]);
    } finally {
      clearTimeout(timer);
    }
  };

  const consume = (
    { topic, group: name, concurrency, handlerTimeoutMs }: ConsumeOptions,
    handler: MessageHandler,
  ): Consumer => {
    let stopping = false;
    /** Everything up to here is done. */
    let cursor = (getCursor.get(topic, name)?.['sequence'] as number | undefined) ?? 0;
    let storedCursor = cursor;
    let readUpTo = cursor;
    const inHand: { readonly sequence: number; done: boolean }[] = [];
    const retriesInHand = new Set<number>();
    /** Handled, and still to be taken out of the file. */
    const retriesDone = new Set<number>();
    let isUnwritable = false;
    const tails = new Map<string, Promise<void>>();
    let running = 0;
    let waiting = 0;
    const idle: (() => void)[] = [];
    const slots: (() => void)[] = [];

    const handleOnce = (message: BusMessage): Promise<void> =>
      withDeadline(
        handler(message),
        handlerTimeoutMs,
        () => new Error(`the handler took longer than ${handlerTimeoutMs} ms`),
      );

    const park = (message: BusMessage, reason: string): void => {
      const parkedAt = new Date().toISOString();
      addParked.run(topic, name, JSON.stringify(message), reason, parkedAt);
      const fields = { topic, group: name, messageId: message.id, type: message.type, reason };
      logger.error(fields, 'a message was parked');
      onParked({ message, topic, group: name, reason, parkedAt }).catch((error: unknown) => {
        logger.error({ ...fields, error: String(error) }, 'that a message was parked could not be recorded');
      });
    };

    const setAside = (message: BusMessage, round: number, { reason, isOutage }: Failure): void => {
      const laterMs = laterRoundsMs[round] ?? (isOutage ? laterRoundsMs.at(-1) : undefined);
      if (laterMs === undefined) return park(message, reason);
      logger.warn(
        { topic, group: name, messageId: message.id, type: message.type, reason },
        'a message will be tried again',
      );
      addRetry.run(topic, name, JSON.stringify(message), round + 1, Date.now() + laterMs);
    };

    /**
     * True once the message is handled or set aside. What can be neither, as on a full disk, stays in hand and is tried
     * on; false where the consumer stops before: then it comes again after the next start.
     */
    const handle = async (message: BusMessage, round: number): Promise<boolean> => {
      for (;;) {
        let failure: Failure = { reason: '', isOutage: false };
        for (const waitMs of [0, ...fastTriesMs]) {
          if (waitMs > 0) await wait(Math.random() * waitMs);
          try {
            await handleOnce(message);
            return true;
          } catch (error) {
            failure = failureOf(error);
          }
        }
        try {
          setAside(message, round, failure);
          return true;
        } catch (error) {
          const fields = { topic, group: name, messageId: message.id, reason: failure.reason, error: String(error) };
          logger.error(fields, 'a message can be neither handled nor set aside; trying again');
        }
        if (stopping) return false;
        await wait(stuckMs);
        if (stopping) return false;
      }
    };

    /** Notes of what is done. Where they cannot be written they wait: what is handled twice is known by its id. */
    const takeNotes = (): void => {
      if (closed) return;
      try {
        for (const id of retriesDone) {
          dropRetry.run(id);
          retriesDone.delete(id);
          retriesInHand.delete(id);
        }
        if (cursor !== storedCursor) {
          setCursor.run(topic, name, cursor);
          storedCursor = cursor;
        }
        if (sincePrune >= pruneEvery) {
          prune.run(topic, topic);
          sincePrune = 0;
        }
        isUnwritable = false;
      } catch (error) {
        if (!isUnwritable) logger.error({ topic, group: name, error: String(error) }, 'the bus cannot be written');
        isUnwritable = true;
      }
    };

    const advance = (): void => {
      while (inHand[0]?.done === true) cursor = inHand.shift()?.sequence ?? cursor;
    };

    /** At most `concurrency` handlers run; the others queue for a place. */
    const takeSlot = async (): Promise<void> => {
      if (running < concurrency) {
        running += 1;
        return;
      }
      await new Promise<void>((resolve) => slots.push(resolve));
    };
    const freeSlot = (): void => {
      const next = slots.shift();
      if (next === undefined) running -= 1;
      else next();
    };

    /** One after the other per key, side by side across keys. */
    const enqueue = (message: BusMessage, round: number, done: () => void): void => {
      waiting += 1;
      const before = tails.get(message.key);
      const work = async (): Promise<void> => {
        await before;
        await takeSlot();
        // What was not begun before the consumer stops comes again after the next start.
        const isDone = !stopping && !closed && (await handle(message, round));
        freeSlot();
        waiting -= 1;
        if (tails.get(message.key) === tail) tails.delete(message.key);
        if (isDone) done();
        if (waiting === 0) for (const resolve of idle.splice(0)) resolve();
        fill();
      };
      const tail = work();
      tails.set(message.key, tail);
    };

    const fill = (): void => {
      if (stopping || closed) return;
      while (inHand.length < readAhead) {
        const rows = behind.all(topic, readUpTo, Math.min(64, readAhead - inHand.length)) as unknown as {
          sequence: number;
          message: string;
        }[];
        if (rows.length === 0) return;
        for (const { sequence, message } of rows) {
          const entry = { sequence, done: false };
          inHand.push(entry);
          readUpTo = sequence;
          enqueue(JSON.parse(message) as BusMessage, 0, () => {
            entry.done = true;
            advance();
          });
        }
      }
    };

    const retry = (): void => {
      if (stopping || closed) return;
      const rows = dueRetries.all(topic, name, Date.now(), concurrency) as unknown as {
        id: number;
        message: string;
        rounds: number;
      }[];
      for (const { id, message, rounds } of rows) {
        if (retriesInHand.has(id)) continue;
        retriesInHand.add(id);
        // Dropped when it is handled or set aside anew, not before: a crash in between tries it again.
        enqueue(JSON.parse(message) as BusMessage, rounds, () => {
          retriesDone.add(id);
          takeNotes();
        });
      }
    };

    const onPublished = (): void => fill();
    published.on(topic, onPublished);
    const notesTimer = setInterval(takeNotes, notesEveryMs).unref();
    const retryTimer = setInterval(retry, retriesEveryMs).unref();
    setImmediate(fill);

    const consumer: Consumer = {
      async stop() {
        if (stopping) return;
        stopping = true;
        published.off(topic, onPublished);
        clearInterval(notesTimer);
        clearInterval(retryTimer);
        if (waiting > 0) await new Promise<void>((resolve) => idle.push(resolve));
        takeNotes();
        consumers.delete(consumer);
      },
    };
    consumers.add(consumer);
    return consumer;
  };

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
      return consume(options, handler);
    },

    async request(name, payload, context, deadlineMs = defaultDeadlineMs) {
      const handler = responders.get(name);
      if (handler === undefined || closed) {
        throw unavailable('no_answerer', `Nobody answers ${name} now; try again.`);
      }
      return withDeadline(handler(payload, context), deadlineMs, () =>
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

    async parked(topic, limit) {
      return (getParked.all(topic, limit) as unknown as { [column: string]: string }[]).map((row): ParkedMessage => ({
        message: JSON.parse(row['message'] ?? '') as BusMessage & { data: JsonObject; metadata: EventMetadata },
        topic: row['topic'] ?? '',
        group: row['consumers'] ?? '',
        reason: row['reason'] ?? '',
        parkedAt: row['parked_at'] ?? '',
      }));
    },

    async close() {
      if (closed) return;
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      group.flush();
      closed = true;
      inTransaction(database, () => undefined);
      database.close();
    },
  };
}
