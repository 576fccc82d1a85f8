/** Bus on Kafka: messages in topics of twelve partitions, a group per consumer, requests and answers in topics of their own. */
import type { Consumer, OpenedBus, RecordDeadLetter } from './bus.js';
import { busUnavailable, protocolErrorsOf, withAdmin, type KafkaConnection } from './kafka-client.js';
import { startConsumer } from './kafka-consumer.js';
import { readDeadLetters } from './kafka-dead-letters.js';
import { writeMessage } from './kafka-envelope.js';
import type { Intake } from './kafka-intake.js';
import type { Member } from './kafka-member.js';
import { createResponders, startRequester } from './kafka-requests.js';
import { createTopics } from './kafka-topics.js';
import { createWriter } from './kafka-writer.js';

export interface KafkaBusOptions extends KafkaConnection {
  readonly recordDeadLetter?: RecordDeadLetter;
}

const startPatienceMs = 5_000;
const healthPatienceMs = 2_000;
/** Tries that are as far apart as an errand's would use up the patience before a missing leader is told. */
const healthRetryMs = 10;
const leaderless = new Set(['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);
/** A group in which a member has just died takes so long to admit another. */
const joinPatienceMs = 15_000;
const defaultDeadlineMs = 10_000;

async function reach(connection: KafkaConnection): Promise<void> {
  try {
    // A connection alone says nothing: kafkajs opens it before a word is exchanged.
    await withAdmin(connection, startPatienceMs, (admin) => admin.describeCluster());
  } catch (error) {
    const words = protocolErrorsOf(error);
    // A broker answered: a topic of the cluster, of this or another application, has no leader.
    if (words.some((word) => leaderless.has(word))) return;
    const isRefused = String(error).includes('SASL') || words.some((word) => word.includes('SASL'));
    const why = isRefused ? 'refused the user and password' : 'cannot be reached';
    throw busUnavailable(`Kafka (${connection.brokers.join(', ')}) ${why}: ${String(error)}`, error);
  }
}

/** Rejects with `bus_unavailable` where no broker answers within 5 s. */
export async function createKafkaBus(options: KafkaBusOptions): Promise<OpenedBus> {
  const connection: KafkaConnection = options;
  const { logger, recordDeadLetter = async () => undefined } = options;
  const topics = createTopics(connection);
  await reach(connection);
  const writer = createWriter(connection, topics);
  const requester = startRequester(connection, topics, writer);
  const responders = createResponders(connection, topics, writer);
  const intakes = new Set<Intake>();
  let isClosed = false;

  const refuseIfClosed = (): void => {
    if (isClosed) throw busUnavailable('The bus is closed; try again after the restart.');
  };

  const join = async (member: Member, what: object): Promise<void> => {
    if ((await member.joined(joinPatienceMs)) || isClosed) return;
    logger.warn(what, 'a consumer could not join its group yet; it goes on trying');
  };
  let joining: Promise<void>[] = [join(requester.member, { topic: 'replies' })];

  return {
    async publish(topic, messages) {
      refuseIfClosed();
      await writer.send(
        topics.messages(topic),
        messages.map((message) => ({ key: message.key, value: writeMessage(message) })),
      );
    },

    async consume(consumeOptions, handler): Promise<Consumer> {
      refuseIfClosed();
      const intake = startConsumer({ connection, topics, writer, recordDeadLetter }, consumeOptions, handler);
      intakes.add(intake);
      joining.push(join(intake.member, { topic: consumeOptions.topic, group: consumeOptions.group }));
      return {
        async stop() {
          await intake.stop();
          intakes.delete(intake);
        },
      };
    },

    async request(name, payload, context, deadlineMs = defaultDeadlineMs) {
      refuseIfClosed();
      return requester.request(name, payload, context, deadlineMs);
    },

    // Consumers are in other processes too.
    relay: null,

    async respond(name, handler): Promise<Consumer> {
      refuseIfClosed();
      const { consumer, member } = responders.respond(name, handler);
      joining.push(join(member, { request: name }));
      return consumer;
    },

    async ready() {
      const all = joining;
      joining = [];
      await Promise.all(all);
    },

    drain() {
      // The one who stops a consumer gets its error.
      void Promise.allSettled([...[...intakes].map((intake) => intake.stop()), responders.stop()]);
    },

    async deadLetters(topic, limit) {
      refuseIfClosed();
      return readDeadLetters(connection, topics.deadLetters(topic), topic, limit);
    },

    async health() {
      if (isClosed) return 'unreachable';
      try {
        // Rejects where a partition has no leader.
        await withAdmin(
          connection,
          healthPatienceMs,
          (admin) => admin.fetchTopicMetadata({ topics: [...topics.ensured()] }),
          healthRetryMs,
        );
      } catch (error) {
        return protocolErrorsOf(error).some((word) => leaderless.has(word)) ? 'no_leader' : 'unreachable';
      }
      const areWell = [...intakes].every(({ member }) => member.isWell());
      return requester.member.isWell() && responders.isWell() && areWell ? 'ok' : 'not_joined';
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.all([...intakes].map((intake) => intake.stop()));
      await responders.stop();
      await requester.stop();
      await writer.close();
    },
  };
}
