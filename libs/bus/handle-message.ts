/** The retry policy of every bus: fast tries, then later rounds, then a dead letter. Adapters only store and acknowledge. */
import { sleep } from '#concurrency/sleep';
import { withTimeout } from '#concurrency/timeout';
import { AppError } from '#runtime/errors';
import { createCountedLines } from '#runtime/counted-lines';
import { asWork } from '#runtime/event-loop';
import type { Logger } from '#runtime/logger';
import { unreadableType } from './bus.js';
import type { BusMessage, ConsumeOptions, DeadLetter, MessageHandler, RecordDeadLetter } from './bus.js';

/** Three tries at once, with full jitter up to these waits; then the message steps aside and its key goes on. */
const fastRetryMs = [50, 200] as const;
/** Waits before each later round; after the last the message is a dead letter, but in an outage the last one is repeated. */
export const defaultLaterRoundsMs: readonly number[] = [1_000, 5_000, 15_000];
/** Before a message is tried again that can neither be handled nor be set aside, as on a full disk or without a broker. */
const stuckMs = 1_000;
/** Waits before a dead letter is recorded again; it is safe in the bus by then. */
const recordAgainMs = [1_000, 5_000] as const;

export interface ReceivedMessage {
  readonly message: BusMessage;
  /** How many later rounds it has had. */
  readonly round: number;
  /** Why it cannot be read; null where it can. What cannot be read is a dead letter at once. */
  readonly unreadable: string | null;
}

/** What an adapter stores of a message that was not handled. Each rejects where it cannot be stored. */
export interface MessageStorage {
  retryLater(message: BusMessage, round: number, dueAtMs: number): Promise<void>;
  addDeadLetter(letter: DeadLetter): Promise<void>;
}

export interface HandlingOptions extends Pick<ConsumeOptions, 'topic' | 'group' | 'handlerTimeoutMs' | 'types'> {
  readonly handler: MessageHandler;
  readonly recordDeadLetter: RecordDeadLetter;
  readonly laterRoundsMs?: readonly number[];
  readonly logger: Logger;
}

/**
 * True once the message is handled or set aside. Never rejects. False where it is wanted no more before that, as when its
 * consumer stops: it is then handed over again, here or elsewhere.
 */
export type HandleMessage = (received: ReceivedMessage, storage: MessageStorage, demand: Demand) => Promise<boolean>;

/** Whether a message that was received is still to be handled here. */
export interface Demand {
  isWanted(): boolean;
  readonly stopping: AbortSignal;
}

interface Failure {
  /** Alike for all messages that fail for the same cause. */
  readonly kind: string;
  readonly reason: string;
  /** A server is out of reach: that passes, so the message is tried until it does. */
  readonly isOutage: boolean;
}

function toFailure(error: unknown): Failure {
  if (!(error instanceof AppError)) return { kind: String(error), reason: String(error), isOutage: false };
  const { reason, message, code } = error;
  return { kind: reason, reason: `${reason}: ${message}`, isOutage: code === 'SERVER_ERROR' };
}

/** Whether the group has to do with it. One that cannot be read may be anything. */
export function concerns({ types }: Pick<ConsumeOptions, 'types'>, type: string): boolean {
  return types === undefined || type === unreadableType || types.includes(type);
}

export function createMessageHandling(options: HandlingOptions): HandleMessage {
  const { topic, group, handler, handlerTimeoutMs, recordDeadLetter, logger } = options;
  const { laterRoundsMs = defaultLaterRoundsMs } = options;
  // In an outage every message fails, and in each of its rounds.
  const warnings = createCountedLines(logger);

  /** null: handled. */
  const tryFast = async (message: BusMessage, { isWanted, stopping }: Demand): Promise<Failure | null> => {
    const work = { what: `${group} ${message.type}`, id: message.key };
    for (let retry = 0; ; retry += 1) {
      try {
        const onTimeout = (): Error => new Error(`the handler took longer than ${handlerTimeoutMs} ms`);
        await asWork(work, () => withTimeout(handler(message, stopping), handlerTimeoutMs, onTimeout));
        return null;
      } catch (error) {
        const waitMs = fastRetryMs[retry];
        if (waitMs === undefined || !isWanted()) return toFailure(error);
        await sleep(Math.random() * waitMs, stopping);
      }
    }
  };

  const record = async (letter: DeadLetter): Promise<void> => {
    for (const waitMs of [...recordAgainMs, null]) {
      try {
        return await recordDeadLetter(letter);
      } catch (error) {
        const fields = { topic, group, messageId: letter.message.id, error: String(error) };
        logger.error(fields, 'a dead letter could not be recorded');
      }
      if (waitMs !== null) await sleep(waitMs);
    }
  };

  const setAside = async (
    { message, round, unreadable }: ReceivedMessage,
    { kind, reason, isOutage }: Failure,
    storage: MessageStorage,
  ): Promise<void> => {
    const fields = { topic, group, messageId: message.id, type: message.type, reason };
    const laterMs = laterRoundsMs[round] ?? (isOutage ? laterRoundsMs.at(-1) : undefined);
    if (laterMs !== undefined && unreadable === null) {
      warnings.warn(kind, fields, 'a message will be tried again');
      return storage.retryLater(message, round + 1, Date.now() + laterMs);
    }
    const letter = { message, topic, group, reason, at: new Date().toISOString() };
    await storage.addDeadLetter(letter);
    logger.error(fields, 'a message became a dead letter');
    await record(letter);
  };

  return async (received, storage, demand) => {
    const { message, unreadable } = received;
    if (!concerns(options, message.type)) return true;
    while (demand.isWanted()) {
      const failure =
        unreadable === null
          ? await tryFast(message, demand)
          : { kind: 'unreadable', reason: `unreadable: ${unreadable}`, isOutage: false };
      if (failure === null) return true;
      if (!demand.isWanted()) return false;
      try {
        await setAside(received, failure, storage);
        return true;
      } catch (error) {
        const fields = { topic, group, messageId: message.id, reason: failure.reason, error: String(error) };
        logger.error(fields, 'a message can be neither handled nor set aside; trying again');
      }
      await sleep(stuckMs, demand.stopping);
    }
    return false;
  };
}
