/**
 * Requests and answers over Kafka. One topic per service that answers (the first word of a request's name), shared by its
 * replicas; one topic for all answers, of which every process reads what it waits for.
 */
import { randomUUID } from 'node:crypto';
import { sleep } from '#concurrency/sleep';
import { withTimeout } from '#concurrency/timeout';
import { AppError, unavailable } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import type { Consumer, RequestContext, RequestHandler } from './bus.js';
import { busUnavailable, withAdmin, type KafkaConnection } from './kafka-client.js';
import { readAnswer, readRequest, writeAnswer, writeRequest, type Answer, type WireRequest } from './kafka-envelope.js';
import { startIntake, type IncomingRecord, type Intake } from './kafka-intake.js';
import { startMember, type Member } from './kafka-member.js';
import type { Topics } from './kafka-topics.js';
import type { Writer } from './kafka-writer.js';

/** Dead responders are noticed sooner than dead workers: requests wait in their partitions, and have a deadline. */
const sessionTimeoutMs = 6_000;
const answersAtOnce = 64;
/** A service names what it answers one after the other: a request may come between two of its words. */
const namePatienceMs = 2_000;
const offsetsPatienceMs = 4_000;
const writePatienceMs = 5_000;
/** So that a short deadline ends as `deadline_exceeded`, before a layer below fails for lack of time. */
const afterwardsMs = 100;
const correlation = 'correlation';

const serviceOf = (name: string): string => name.split('.')[0] ?? name;

export interface Responders {
  respond(name: string, handler: RequestHandler): { readonly consumer: Consumer; readonly member: Member };
  isWell(): boolean;
  stop(): Promise<void>;
}

export function createResponders(connection: KafkaConnection, topics: Topics, writer: Writer): Responders {
  const { logger } = connection;
  const handlers = new Map<string, RequestHandler>();
  const leaving = new Set<string>();
  const intakes = new Map<string, Intake>();

  const handlerOf = async (name: string, untilMs: number): Promise<RequestHandler | null> => {
    while (!handlers.has(name) && Date.now() < untilMs) await sleep(25);
    return handlers.get(name) ?? null;
  };

  const answer = async ({ name, payload, context, deadlineAtMs }: WireRequest): Promise<Answer | null> => {
    const handler = await handlerOf(name, Math.min(deadlineAtMs, Date.now() + namePatienceMs));
    if (handler === null) {
      return { ok: false, error: unavailable('no_answerer', `Nobody answers ${name} now; try again.`) };
    }
    const leftMs = deadlineAtMs - Date.now();
    if (leftMs <= 0) return null;
    try {
      const working = Promise.resolve(payload).then((asked) => handler(asked, context));
      let isLate = false;
      const value = await withTimeout(working, leftMs, () => {
        isLate = true;
        return new Error('late');
      }).catch((error: unknown) => {
        if (isLate) return undefined;
        throw error;
      });
      return isLate ? null : { ok: true, value: value ?? null };
    } catch (error) {
      if (error instanceof AppError) return { ok: false, error };
      logger.error({ request: name, requestId: context.requestId, error: String(error) }, 'a request failed');
      return { ok: false, error: null };
    }
  };

  const work = async (record: IncomingRecord): Promise<boolean> => {
    const read = readRequest(record.value);
    if (!read.ok) {
      // It may hold a secret, and is worthless after its deadline: it is not kept.
      const { topic, partition, offset } = record;
      logger.error({ topic, partition, offset, reason: read.reason }, 'a request could not be read and was dropped');
      return true;
    }
    const request = read.value;
    if (request.deadlineAtMs <= Date.now()) {
      logger.debug({ request: request.name }, 'a request came after its deadline and was not executed');
      return true;
    }
    const found = await answer(request);
    if (found === null) return true;
    const send = (value: string): Promise<void> =>
      writer.send(topics.replies, [{ key: null, value, headers: { [correlation]: request.id } }]);
    try {
      await send(writeAnswer(found)).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.reason !== 'message_too_large') throw error;
        return send(writeAnswer({ ok: false, error }));
      });
    } catch (error) {
      logger.warn({ request: request.name, error: String(error) }, 'an answer could not be sent');
    }
    return true;
  };

  const intakeOf = (service: string): Intake => {
    const existing = intakes.get(service);
    if (existing !== undefined) return existing;
    const topic = topics.requests(service);
    const intake = startIntake(connection, topics, {
      groupId: `${topic.name}.answerers`,
      topics: [topic],
      sessionTimeoutMs,
      concurrency: answersAtOnce,
      // Answered at most once, but for what is taken in the instant of a rebalancing: a requester that hears nothing
      // decides itself whether to ask again.
      committedWhen: 'taken',
      // Requests keep no order: each is a key of its own.
      plan: ({ partition, offset }) => ({ key: `${partition}/${offset}` }),
      work,
    });
    intakes.set(service, intake);
    return intake;
  };

  return {
    respond(name, handler) {
      if (handlers.has(name)) throw new Error(`${name} is answered already`);
      const service = serviceOf(name);
      const intake = intakeOf(service);
      handlers.set(name, handler);
      const stop = async (): Promise<void> => {
        if (handlers.get(name) !== handler || leaving.has(name)) return;
        leaving.add(name);
        // A service that ends stops all its names in one breath: only then is the topic left to its replicas.
        await new Promise((resolve) => setImmediate(resolve));
        const names = [...handlers.keys()].filter((other) => serviceOf(other) === service);
        if (names.every((other) => leaving.has(other))) {
          intakes.delete(service);
          await intake.stop();
        }
        handlers.delete(name);
        leaving.delete(name);
      };
      return { consumer: { stop }, member: intake.member };
    },
    isWell: () => [...intakes.values()].every(({ member }) => member.isWell()),
    async stop() {
      await Promise.all([...intakes.values()].map((intake) => intake.stop()));
    },
  };
}

export interface Requester {
  /** Reads the answers. */
  readonly member: Member;
  request(name: string, payload: JsonObject, context: RequestContext, deadlineMs: number): Promise<Json>;
  stop(): Promise<void>;
}

export function startRequester(connection: KafkaConnection, topics: Topics, writer: Writer): Requester {
  const { installation, processName, logger } = connection;
  const waiting = new Map<string, PromiseWithResolvers<Json>>();
  /** Next offset to read per partition. Nothing is committed: after a rejoining it reads on from here. */
  const positions = new Map<number, number>();
  const { promise: positioned, resolve: setPositioned } = Promise.withResolvers<void>();
  let isPositioned = false;
  let isStopped = false;

  const settle = (id: string, value: Buffer | null): void => {
    const waiter = waiting.get(id);
    // An answer to another process, a late or a repeated one.
    if (waiter === undefined) return;
    waiting.delete(id);
    const read = readAnswer(value);
    if (!read.ok) waiter.reject(busUnavailable(`The answer could not be read: ${read.reason}.`));
    else if (read.value.ok) waiter.resolve(read.value.value);
    else waiter.reject(read.value.error ?? new Error('the responder failed; its log says how'));
  };

  const member: Member = startMember(connection, topics, {
    groupId: `${installation}.replies.${processName}.${randomUUID()}`,
    topics: [topics.replies],
    sessionTimeoutMs,
    from: 'end',
    async beforeJoin() {
      // The end of the log as it is before the first request: whatever is answered afterwards is read, joined or not.
      const offsets = await withAdmin(connection, offsetsPatienceMs, (admin) =>
        admin.fetchTopicOffsets(topics.replies.name),
      );
      for (const { partition, high } of offsets) {
        // Behind the end: the log was made anew.
        const position = positions.get(partition);
        if (position === undefined || position > Number(high)) positions.set(partition, Number(high));
      }
      isPositioned = true;
      setPositioned();
    },
    onAssigned: (partitions) =>
      partitions.flatMap(({ topic, partition }) => {
        const offset = positions.get(partition);
        return offset === undefined ? [] : [{ topic, partition, offset }];
      }),
    onBatch(_topic, partition, messages) {
      for (const { offset, value, headers } of messages) {
        positions.set(partition, Number(offset) + 1);
        const id = headers?.[correlation];
        if (Buffer.isBuffer(id)) settle(id.toString('utf8'), value);
      }
    },
  });

  return {
    member,
    async request(name, payload, context, deadlineMs) {
      if (isStopped) throw busUnavailable('The bus is closed; try again after the restart.');
      const deadlineAtMs = Date.now() + deadlineMs;
      const id = randomUUID();
      const waiter = Promise.withResolvers<Json>();
      const ask = async (): Promise<Json> => {
        if (!isPositioned) {
          const unready = busUnavailable('The bus cannot be reached now; try again.');
          await withTimeout(positioned, Math.min(deadlineMs + afterwardsMs, offsetsPatienceMs), () => unready);
        }
        waiting.set(id, waiter);
        const value = writeRequest({ id, name, payload, context, deadlineAtMs });
        const patienceMs = Math.min(deadlineAtMs - Date.now() + afterwardsMs, writePatienceMs);
        writer
          .send(topics.requests(serviceOf(name)), [{ key: null, value }], patienceMs)
          .catch((error: unknown) => waiter.reject(error));
        return waiter.promise;
      };
      // An answer after the deadline has no caller left.
      waiter.promise.catch(() => undefined);
      try {
        return await withTimeout(ask(), deadlineMs, () =>
          unavailable(
            'deadline_exceeded',
            `${name} was not answered within ${deadlineMs} ms; it may still have been done.`,
          ),
        );
      } finally {
        waiting.delete(id);
      }
    },
    async stop() {
      isStopped = true;
      const closed = busUnavailable('The bus is closing; the request may still be done.');
      for (const waiter of waiting.values()) waiter.reject(closed);
      waiting.clear();
      await member.stop();
      logger.debug({ process: processName }, 'answers are read no more');
    },
  };
}
