/** One group that reads one topic of the SQLite bus: in order per key, side by side across keys. */
import { createKeyedQueue } from '#concurrency/keyed-queue';
import { createSemaphore } from '#concurrency/semaphore';
import { turns } from '#concurrency/turns';
import type { Logger } from '#runtime/logger';
import type { BusMessage, ConsumeOptions, Consumer } from './bus.js';
import { concerns, type Demand, type HandleMessage, type MessageStorage } from './handle-message.js';
import type { MessageLog } from './sqlite-log.js';

/** Messages read and not done, at the least. */
const minReadAhead = 256;
/**
 * Messages that are done behind one that is not: one that takes minutes must not hold up all others. They are handled again
 * where the process dies before that one is done.
 */
const aheadMost = 100_000;
const readAtOnce = 64;
const saveProgressEveryMs = 50;
const retriesEveryMs = 250;

export interface SqliteConsumer extends Consumer {
  /** Messages of its topic were appended. */
  onAppended(): void;
  /** Handles messages that are not in the log, in order with those of the same keys that are. `onDone`: each is handled or set aside. */
  take(messages: readonly BusMessage[], onDone: () => void): void;
  /** null: it takes more messages. Else resolves once it does, which may be never where it stops. */
  room(): Promise<void> | null;
}

/** `cursor`: everything up to it is handled or set aside. */
function createCursor(start: number) {
  let cursor = start;
  let lastRead = start;
  /** Those read from the first one that is not done. They are dropped in large pieces. */
  let open: { readonly sequence: number; isDone: boolean }[] = [];
  let first = 0;
  let undone = 0;
  return {
    get position() {
      return cursor;
    },
    get lastRead() {
      return lastRead;
    },
    /** Messages read and not done. */
    get undone() {
      return undone;
    },
    /** Messages read from the first one that is not done. */
    get span() {
      return open.length - first;
    },
    /** To be called once the message is done. */
    take(sequence: number): () => void {
      const entry = { sequence, isDone: false };
      open.push(entry);
      undone += 1;
      lastRead = sequence;
      return () => {
        entry.isDone = true;
        undone -= 1;
        for (let done = open[first]; done?.isDone === true; done = open[first]) {
          cursor = done.sequence;
          first += 1;
        }
        if (first < 1_024 || first * 2 < open.length) return;
        open = open.slice(first);
        first = 0;
      };
    },
  };
}

export function startSqliteConsumer(
  messageLog: MessageLog,
  options: ConsumeOptions,
  handleMessage: HandleMessage,
  logger: Logger,
): SqliteConsumer {
  const { topic, group, concurrency } = options;
  const readAhead = Math.max(minReadAhead, 2 * concurrency);
  const stored = messageLog.forGroup(topic, group);
  const cursor = createCursor(stored.cursor());
  const queue = createKeyedQueue();
  const slots = createSemaphore(concurrency);
  const retriesTaken = new Set<number>();
  /** Handled or set aside anew, and still to be deleted from the file. */
  const retriesDone = new Set<number>();
  let savedPosition = cursor.position;
  let isUnwritable = false;
  /** The log may hold messages behind those read. */
  let mayHaveMore = true;
  const stopping = new AbortController();
  /** Of the messages that were taken. */
  let takenUndone = 0;
  const waitingForRoom: (() => void)[] = [];

  const storage: MessageStorage = {
    retryLater: async (message, round, dueAtMs) => stored.addRetry(message, round, dueAtMs),
    addDeadLetter: async (letter) => stored.addDeadLetter(letter),
  };
  // What was not begun before the consumer stops comes again after the next start.
  const demand: Demand = { isWanted: () => !stopping.signal.aborted, stopping: stopping.signal };

  const enqueue = async (message: BusMessage, round: number, onDone: () => void): Promise<void> => {
    await queue.run(message.key, () =>
      slots.run(async () => {
        await turns.next();
        if (await handleMessage({ message, round, unreadable: null }, storage, demand)) onDone();
      }),
    );
    read();
  };

  /** Where it cannot be written it is tried again: what is handled twice is known by its id. */
  const saveProgress = (): void => {
    try {
      for (const id of retriesDone) {
        stored.deleteRetry(id);
        retriesDone.delete(id);
        retriesTaken.delete(id);
      }
      if (cursor.position !== savedPosition) {
        stored.saveCursor(cursor.position);
        savedPosition = cursor.position;
      }
      isUnwritable = false;
    } catch (error) {
      if (!isUnwritable) logger.error({ topic, group, error: String(error) }, 'the bus cannot be written');
      isUnwritable = true;
    }
  };

  /** Called after each message, so it asks the file only where that may have more, and there is room for a whole read. */
  const read = (): void => {
    while (mayHaveMore && demand.isWanted() && cursor.undone + readAtOnce <= readAhead && cursor.span < aheadMost) {
      const found = stored.after(cursor.lastRead, readAtOnce);
      mayHaveMore = found.length === readAtOnce;
      for (const { sequence, message } of found) void enqueue(message, 0, cursor.take(sequence));
    }
  };

  const readRetries = (): void => {
    for (const { id, message, round } of stored.dueRetries(Date.now(), concurrency)) {
      if (retriesTaken.has(id)) continue;
      retriesTaken.add(id);
      // Deleted when it is handled or set aside anew, not before: a crash in between tries it again.
      void enqueue(message, round, () => {
        retriesDone.add(id);
        saveProgress();
      });
    }
  };

  const takeOne = async (message: BusMessage, onDone: () => void): Promise<void> => {
    await queue.run(message.key, () =>
      slots.run(async () => {
        await turns.next();
        if (!(await handleMessage({ message, round: 0, unreadable: null }, storage, demand))) return;
        takenUndone -= 1;
        onDone();
      }),
    );
    if (waitingForRoom.length === 0 || takenUndone >= readAhead) return;
    for (const resolve of waitingForRoom.splice(0)) resolve();
  };

  const progressTimer = setInterval(saveProgress, saveProgressEveryMs).unref();
  const retryTimer = setInterval(readRetries, retriesEveryMs).unref();
  setImmediate(read);
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopping.abort();
    clearInterval(progressTimer);
    clearInterval(retryTimer);
    await queue.idle();
    saveProgress();
  };
  const onAppended = (): void => {
    mayHaveMore = true;
    read();
  };
  return {
    onAppended,
    take(messages, onDone) {
      for (const message of messages) {
        // It waits for no place in the line: nothing happens to it.
        if (!concerns(options, message.type)) {
          onDone();
          continue;
        }
        takenUndone += 1;
        void takeOne(message, onDone);
      }
    },
    room: () => (takenUndone < readAhead ? null : new Promise((resolve) => waitingForRoom.push(resolve))),
    stop: () => (stopped ??= stop()),
  };
}
