/** Two brokers of their own, of which one dies: topics that only it had are without a leader. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import { startKafka, startSecondBroker, type RunningServer } from '../../test/servers/servers.ts';
import { busContext } from './bus.contract.js';
import type { OpenedBus } from './bus.js';
import { createKafkaBus } from './kafka.js';
import { withAdmin, type KafkaConnection } from './kafka-client.js';
import { ownInstallation } from './kafka.kit.js';

describe('a cluster of Kafka in which topics have no leader', () => {
  let folder: string;
  let first: RunningServer;
  let connection: KafkaConnection;
  let bus: OpenedBus;
  const others: OpenedBus[] = [];
  const another = async (): Promise<OpenedBus> => {
    const other = await createKafkaBus({ ...connection, processName: 'other' });
    others.push(other);
    return other;
  };
  const consume = (of: OpenedBus, topic: string, group: string, take: (id: string) => void) =>
    of.consume({ topic, group, concurrency: 1, handlerTimeoutMs: 5_000 }, async ({ id }) => take(id));
  const lead = (topics: readonly string[], broker: number): Promise<unknown> =>
    withAdmin(connection, 10_000, (admin) =>
      admin.createTopics({
        topics: topics.map((topic) => ({ topic, replicaAssignment: [{ partition: 0, replicas: [broker] }] })),
      }),
    );

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-kafka-'));
    const one = join(folder, 'one');
    first = await startKafka({ dataFolder: one });
    connection = ownInstallation(first.url);
    bus = await createKafkaBus(connection);
    await consume(bus, 'kept', 'a', () => undefined);
    await bus.ready();
    const second = await startSecondBroker({ first: one, dataFolder: join(folder, 'two') });
    const brokers = () =>
      withAdmin(connection, 10_000, async (admin) => (await admin.describeCluster()).brokers.length);
    await found(async () => (await brokers().catch(() => 0)) === 2);
    await lead([`${connection.installation}.lost`, 'of-somebody-else'], 2);
    await lead([`${connection.installation}.lost.retry`], 1);
    await second.stop('SIGKILL');
    // Who asks for all topics is refused from then on.
    await found(() =>
      brokers().then(
        () => false,
        () => true,
      ),
    );
  }, 180_000);
  // A consumer that a failed spec left behind would keep the runner from ending.
  afterEach(async () => {
    await Promise.all(others.splice(0).map((other) => other.close()));
  });
  afterAll(async () => {
    await bus.close();
    await first.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('is used as ever by an installation whose own topics have one', async () => {
    const other = await another();
    const taken: string[] = [];
    await consume(other, 'kept', 'b', (id) => taken.push(id));
    await other.ready();
    const metadata = { ...busContext, causationId: null, at: '2026-11-21T10:00:00.000Z' };
    await bus.publish('kept', [{ id: '1', type: 'thing.happened', key: 'k', data: {}, metadata }]);
    await found(async () => taken.includes('1'));
    // A member may be joining anew just then, as when the broker was slow to answer.
    await found(async () => (await other.health()) === 'ok');
  });

  it('is told by the health of a bus that uses such a topic, each time', async () => {
    const other = await another();
    await consume(other, 'lost', 'b', () => undefined);
    await found(async () => (await other.health()) === 'no_leader');
    for (let look = 0; look < 10; look += 1) expect(await other.health()).toBe('no_leader');
  });
});
