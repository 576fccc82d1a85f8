/** What can go wrong between a Kafka broker and us. Needs one (BUS_URL), and starts one of its own that it kills. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '#runtime/errors';
import { found, lasting } from '#runtime/probe.kit';
import { certificateOf } from '../../test/servers/kafka/kafka.ts';
import { haltProcess } from '../../test/servers/process.ts';
import { startKafka, type RunningServer } from '../../test/servers/servers.ts';
import type { BusMessage, DeadLetter, OpenedBus, RequestContext } from './bus.js';
import { createKafkaBus } from './kafka.js';
import { withAdmin, type KafkaConnection } from './kafka-client.js';
import { writeMessage } from './kafka-envelope.js';
import { dropInstallation, ownInstallation, startMemberProcess, writeRaw, type MemberProcess } from './kafka.kit.js';

const context: RequestContext = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };
const options = { topic: 'task', group: 'g', concurrency: 8, handlerTimeoutMs: 5_000 };

function message(id: string, key = 'k'): BusMessage {
  const metadata = { ...context, causationId: null, at: '2026-11-21T10:00:00.000Z' };
  return { id, type: 'thing.happened', key, data: {}, metadata };
}

function collector() {
  const seen: string[] = [];
  let wake = (): void => undefined;
  return {
    seen,
    add(id: string): void {
      seen.push(id);
      wake();
    },
    async until(done: (ids: readonly string[]) => boolean): Promise<void> {
      while (!done(seen)) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

describe('Kafka bus in trouble', () => {
  let connection: KafkaConnection;
  let bus: OpenedBus;
  let recorded: DeadLetter[];
  const members: MemberProcess[] = [];
  beforeEach(async () => {
    connection = ownInstallation(process.env['BUS_URL']);
    recorded = [];
    bus = await createKafkaBus({ ...connection, recordDeadLetter: async (letter) => void recorded.push(letter) });
  });
  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.kill('SIGKILL')));
    await bus.close();
    await dropInstallation(connection);
  });
  const startMember = async (program: string): Promise<MemberProcess> => {
    const member = await startMemberProcess(connection, program);
    members.push(member);
    return member;
  };

  it('makes a dead letter of what cannot be read, and the partition goes on', async () => {
    const handled = collector();
    await bus.consume(options, async ({ id }) => handled.add(id));
    await bus.ready();
    const good = writeMessage(message('good'));
    await writeRaw(connection, 'task', [
      { key: 'k', value: '{"v":1,' },
      { key: 'k', value: JSON.stringify({ ...JSON.parse(good), v: 99 }) },
      { key: 'k', value: JSON.stringify({ ...JSON.parse(good), metadata: { actor: 'a' } }) },
      { key: 'k', value: null },
      { value: Buffer.from([0xff, 0x00, 0xfe]) },
      { key: 'k', value: good, headers: { round: 'NaN', group: 'x' } },
    ]);
    await handled.until((ids) => ids.includes('good'));
    await found(async () => recorded.length === 5);
    const letters = await bus.deadLetters('task', 10);
    expect(letters.map(({ reason }) => reason).toSorted()).toEqual([
      'unreadable: it has no content',
      'unreadable: it is not JSON',
      'unreadable: it is not JSON',
      'unreadable: its envelope has an unknown version 99',
      'unreadable: metadata.organizationId must be a string',
    ]);
    expect(
      letters.every(
        ({ topic, group, message: shown }) => topic === 'task' && group === 'g' && shown.type === 'unreadable',
      ),
    ).toBe(true);
    expect(recorded.map(({ reason }) => reason).toSorted()).toEqual(letters.map(({ reason }) => reason).toSorted());
    expect(handled.seen).toEqual(['good']);
  });

  it('makes a dead letter of what cannot be read in the retry topic, too', async () => {
    await bus.consume(options, async () => undefined);
    await bus.ready();
    await writeRaw(connection, 'task.retry', [
      { key: 'k', value: 'nonsense', headers: { group: 'g', 'due-ms': 'soon' } },
    ]);
    await found(async () => recorded.length === 1);
    expect(await bus.deadLetters('task', 10)).toMatchObject([{ group: 'g', reason: 'unreadable: it is not JSON' }]);
  });

  it('shows the newest dead letters first, no more than were asked for', async () => {
    expect(await bus.deadLetters('task', 10)).toEqual([]);
    await bus.consume(options, async () => undefined);
    await bus.ready();
    for (const text of ['one', 'two', 'three']) {
      await writeRaw(connection, 'task', [{ key: 'k', value: text }]);
      await found(async () => recorded.some(({ message: shown }) => shown.data['raw'] === text));
    }
    const letters = await bus.deadLetters('task', 2);
    expect(letters.map(({ message: shown }) => shown.data['raw'])).toEqual(['three', 'two']);
  });

  it('makes a dead letter of a message after all its rounds, but not during an outage', async () => {
    const handled = collector();
    let isDown = true;
    await bus.consume(options, async ({ id }) => {
      if (id === 'poison') throw new TypeError('never');
      if (isDown) throw new AppError('SERVER_ERROR', 'read_store_unavailable', 'It is down.');
      handled.add(id);
    });
    await bus.publish('task', [message('poison'), message('patient', 'other')]);
    await found(async () => recorded.length === 1);
    expect(await bus.deadLetters('task', 10)).toMatchObject([
      { message: message('poison'), topic: 'task', group: 'g', reason: 'TypeError: never' },
    ]);
    isDown = false;
    await handled.until((ids) => ids.includes('patient'));
    expect(recorded).toHaveLength(1);
  }, 90_000);

  it('hands a group only what it set aside itself', async () => {
    const one = collector();
    const two = collector();
    let failures = 3;
    await bus.consume(options, async ({ id }) => {
      failures -= 1;
      if (failures >= 0) throw new Error('not yet');
      one.add(id);
    });
    await bus.consume({ ...options, group: 'h' }, async ({ id }) => two.add(id));
    await bus.publish('task', [message('m1')]);
    await one.until((ids) => ids.includes('m1'));
    await bus.publish('task', [message('m2')]);
    await two.until((ids) => ids.includes('m2'));
    expect(two.seen).toEqual(['m1', 'm2']);
  });

  it('hands the share of a member that was killed in the middle of a message to the others', async () => {
    const member = await startMember(`
      await bus.consume(${JSON.stringify(options)}, async ({ id }) => {
        say('holds ' + id);
        await new Promise(() => undefined);
      });
    `);
    const handled = collector();
    await bus.consume(options, async ({ id }) => handled.add(id));
    const ids = Array.from({ length: 48 }, (_, index) => `m${index}`);
    await bus.publish(
      'task',
      ids.map((id) => message(id, id)),
    );
    const [, held] = (await member.line('holds ')).split(' ');
    expect(handled.seen).not.toContain(held);
    await member.kill('SIGKILL');
    await handled.until((seen) => new Set(seen).size === ids.length);
  }, 60_000);

  it('answers requests to a killed responder by the other', async () => {
    const member = await startMember(`await bus.respond('desk', async () => 'member');`);
    await bus.respond('desk', async () => 'survivor');
    await bus.ready();
    const ask = () => Promise.all(Array.from({ length: 24 }, () => bus.request('desk', {}, context, 20_000)));
    expect(new Set(await ask())).toEqual(new Set(['member', 'survivor']));
    await member.kill('SIGKILL');
    expect(new Set(await ask())).toEqual(new Set(['survivor']));
  }, 60_000);

  it('answers a request by a responder that comes later, before its deadline', async () => {
    const asking = bus.request('desk', { n: 1 }, context, 20_000);
    const other = await createKafkaBus({ ...connection, processName: 'late' });
    await other.respond('desk', async (payload) => payload['n'] ?? null);
    expect(await asking).toBe(1);
    await other.close();
  });

  it('drops requests it cannot read and answers the next one', async () => {
    await bus.respond('desk', async () => 'here');
    await bus.ready();
    await writeRaw(connection, 'requests.desk', [{ value: 'nonsense' }, { value: null }, { value: '{"v":2}' }]);
    await writeRaw(connection, 'replies.all', [{ value: 'nonsense', headers: { correlation: 'x' } }, { value: null }]);
    expect(await bus.request('desk', {}, context)).toBe('here');
  });

  it('reads on when a topic was deleted under it', async () => {
    const handled = collector();
    await bus.consume(options, async ({ id }) => handled.add(id));
    await bus.publish('task', [message('m1')]);
    await handled.until((ids) => ids.includes('m1'));
    await withAdmin(connection, 10_000, (admin) =>
      admin.deleteTopics({ topics: [`${connection.installation}.task`, `${connection.installation}.task.retry`] }),
    );
    // What the old log held is gone, and for a moment so may be what is written: the sweepers see to that.
    let count = 1;
    await found(async () => {
      count += 1;
      await bus.publish('task', [message(`m${count}`)]).catch(() => undefined);
      return handled.seen.length > 1;
    });
    await bus.publish('task', [message('last')]);
    await handled.until((ids) => ids.includes('last'));
  }, 60_000);

  it('begins a partition anew whose committed offset is out of range', async () => {
    const before = collector();
    const consumer = await bus.consume(options, async ({ id }) => before.add(id));
    await bus.publish('task', [message('m1')]);
    await before.until((ids) => ids.includes('m1'));
    await consumer.stop();
    const topic = `${connection.installation}.task`;
    await withAdmin(connection, 10_000, (admin) =>
      admin.setOffsets({
        groupId: `${topic}.g`,
        topic,
        partitions: Array.from({ length: 12 }, (_, partition) => ({ partition, offset: '1000000' })),
      }),
    );
    const after = collector();
    await bus.consume(options, async ({ id }) => after.add(id));
    await bus.publish('task', [message('m2')]);
    await after.until((ids) => ids.includes('m2'));
    expect(after.seen).toEqual(['m1', 'm2']);
  });

  it('keeps two installations on one broker apart', async () => {
    const other = ownInstallation(process.env['BUS_URL']);
    const otherBus = await createKafkaBus(other);
    const handled = collector();
    await bus.consume(options, async ({ id }) => handled.add(`ours ${id}`));
    await otherBus.consume(options, async ({ id }) => handled.add(`theirs ${id}`));
    await bus.respond('desk', async () => 'ours');
    await expect(otherBus.request('desk', {}, context, 500)).rejects.toMatchObject({ reason: 'deadline_exceeded' });
    await otherBus.publish('task', [message('m1')]);
    await bus.publish('task', [message('m2')]);
    await handled.until((seen) => seen.length >= 2);
    expect(handled.seen.toSorted()).toEqual(['ours m2', 'theirs m1']);
    await otherBus.close();
    await dropInstallation(other);
  });

  it('refuses a message that is too large, and takes the next', async () => {
    const large = { ...message('large'), data: { text: 'x'.repeat(9 * 1_024 * 1_024) } };
    await expect(bus.publish('task', [large])).rejects.toMatchObject({ reason: 'message_too_large' });
    const big = { ...message('big'), data: { text: 'x'.repeat(3 * 1_024 * 1_024) } };
    const handled = collector();
    await bus.consume(options, async ({ id, data }) => handled.add(`${id} ${JSON.stringify(data).length}`));
    await Promise.all([bus.publish('task', [big]), bus.publish('task', [message('small', 'other')])]);
    await handled.until((ids) => ids.length >= 2);
    expect(handled.seen).toContain(`big ${JSON.stringify(big.data).length}`);
  });

  it('rejects a request whose answer is too large', async () => {
    await bus.respond('desk', async () => 'x'.repeat(9 * 1_024 * 1_024));
    await expect(bus.request('desk', {}, context)).rejects.toMatchObject({ reason: 'message_too_large' });
  });

  it.each(['', 'a.b', 'a/b', 'ä', 'x'.repeat(100)])('refuses the topic name %j', async (topic) => {
    await expect(bus.publish(topic, [message('m1')])).rejects.toThrow('a topic must be');
  });

  it('refuses to open where nothing listens, or where no Kafka answers', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => {
        const address = silent.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const unavailable = { code: 'SERVER_ERROR', reason: 'bus_unavailable' };
    const open = (brokers: string[]): Promise<OpenedBus> => createKafkaBus({ ...connection, brokers });
    await expect(open([`127.0.0.1:${port}`])).rejects.toMatchObject(unavailable);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await expect(open([`127.0.0.1:${port}`])).rejects.toMatchObject(unavailable);
    await expect(open(['no-such-host.invalid:9092'])).rejects.toMatchObject(unavailable);
  }, 60_000);
});

describe('Kafka bus whose broker is killed', () => {
  let folder: string;
  let broker: RunningServer;
  let bus: OpenedBus;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-broker-'));
    broker = await startKafka({ dataFolder: folder });
    bus = await createKafkaBus(ownInstallation(broker.url));
  }, 180_000);
  afterEach(async () => {
    await bus.close();
    await broker.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  it('refuses at once what it cannot do, and goes on when the broker is back', async () => {
    const handled = collector();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    await bus.consume(options, async ({ id }) => {
      if (id === 'held') {
        entered.resolve();
        await leave.promise;
      }
      handled.add(id);
    });
    await bus.respond('desk', async () => 'here');
    await bus.publish('task', [message('before'), message('held', 'other')]);
    await handled.until((ids) => ids.includes('before'));
    await entered.promise;
    // It is once every member has joined its group.
    await found(async () => (await bus.health()) === 'ok');

    await broker.stop('SIGKILL');
    const refused = { code: 'SERVER_ERROR', reason: 'bus_unavailable' };
    await Promise.all([
      expect(bus.publish('task', [message('lost')])).rejects.toMatchObject(refused),
      expect(bus.request('desk', {}, context)).rejects.toMatchObject(refused),
      expect(bus.request('desk', {}, context, 1_000)).rejects.toMatchObject({ reason: 'deadline_exceeded' }),
      expect(bus.deadLetters('task', 1)).rejects.toMatchObject(refused),
    ]);
    expect(await bus.health()).toBe('unreachable');
    // What was begun before ends as if nothing had been.
    leave.resolve();
    await handled.until((ids) => ids.includes('held'));

    broker = await startKafka({ port: broker.port, dataFolder: folder });
    await found(async () => (await bus.health()) === 'ok');
    await bus.publish('task', [message('after'), message('after', 'other')]);
    await handled.until((ids) => ids.filter((id) => id === 'after').length >= 2);
    expect(await bus.request('desk', {}, context)).toBe('here');
  }, 240_000);

  it('hides an interruption that is shorter than its patience', async () => {
    const handled = collector();
    await bus.consume(options, async ({ id }) => handled.add(id));
    await bus.publish('task', [message('before')]);
    await haltProcess(broker);
    const publishing = bus.publish('task', [message('during')]);
    await lasting(1_000);
    process.kill(-broker.pid, 'SIGCONT');
    await publishing;
    await handled.until((ids) => ids.includes('during'));
  }, 60_000);

  it('closes in time while the broker is away', async () => {
    await bus.consume(options, async () => undefined);
    await bus.respond('desk', async () => 'here');
    await broker.stop('SIGKILL');
    await bus.close();
  }, 60_000);
});

describe('Kafka bus over TLS, with a user and password', () => {
  const user = { username: 'meerkat', password: 'p4ss-w0rd' };
  const trusted = getCACertificates('default');
  let folder: string;
  let broker: RunningServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-broker-'));
    broker = await startKafka({ dataFolder: folder, user });
    setDefaultCACertificates([...trusted, await readFile(certificateOf(folder), 'utf8')]);
  }, 180_000);
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await broker.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }, 60_000);
  const connect = (change: Partial<KafkaConnection>): Promise<OpenedBus> =>
    createKafkaBus({ ...ownInstallation(broker.url), ...change });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'brings messages and answers by %s',
    async (mechanism) => {
      const bus = await connect({ credentials: { mechanism, ...user } });
      const handled = collector();
      await bus.consume(options, async ({ id }) => handled.add(id));
      await bus.respond('desk', async () => 'here');
      await bus.publish('task', [message('m1')]);
      await handled.until((ids) => ids.includes('m1'));
      expect(await bus.request('desk', {}, context)).toBe('here');
      await bus.close();
    },
    60_000,
  );

  it.each(['plain', 'scram-sha-512'] as const)(
    'says so where the password is wrong, by %s',
    async (mechanism) => {
      const wrong = connect({ credentials: { mechanism, ...user, password: 'guess' } });
      await expect(wrong).rejects.toMatchObject({
        reason: 'bus_unavailable',
        message: expect.stringContaining('refused the user and password'),
      });
    },
    60_000,
  );

  it('refuses to speak in clear, or without a user, or to a broker whose certificate it does not know', async () => {
    const refused = { code: 'SERVER_ERROR', reason: 'bus_unavailable' };
    await expect(connect({ tls: false })).rejects.toMatchObject(refused);
    await expect(connect({ credentials: null })).rejects.toMatchObject(refused);
    setDefaultCACertificates(trusted);
    await expect(connect({})).rejects.toMatchObject(refused);
  }, 60_000);
});
