import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { mongo } from 'mongoose';
import { AppError } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { hasNoPrimary, openMongo } from './connection.js';

const setOf = (...types: readonly string[]) => ({
  type: 'ReplicaSetNoPrimary',
  servers: new Map(types.map((type, index) => [`host-${index}:27017`, { type }])),
});

describe('a replica set', () => {
  it.each([
    ['in which none could be selected', { reason: setOf('RSSecondary', 'Unknown') }, true],
    ['of which nobody answers', { reason: setOf('Unknown', 'Unknown') }, false],
    ['whose member is none', { code: 10_107 }, true],
    ['whose primary steps down', { code: 189 }, true],
    ['that does not answer', { reason: { type: 'Unknown' } }, false],
    ['that refuses a document', { code: 121 }, false],
    ['of which nothing is known', null, false],
  ])('%s has no primary: %j is %s', (_, error, expected) => {
    expect(hasNoPrimary(error)).toBe(expected);
  });
});

const opReply = 1;
const opQuery = 2_004;
const headerBytes = 16;

function frame(answerTo: number, operation: number, body: readonly Uint8Array[]): Buffer {
  const whole = Buffer.concat([Buffer.alloc(headerBytes), ...body]);
  whole.writeInt32LE(whole.byteLength, 0);
  whole.writeInt32LE(answerTo, 8);
  whole.writeInt32LE(operation, 12);
  return whole;
}

/** Answers each message of the wire protocol with the document, in the form in which it was asked. */
function answerAll(socket: Socket, toAnswer: () => object): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    while (received.byteLength >= headerBytes && received.byteLength >= received.readInt32LE(0)) {
      const [bytesOfMessage, id, operation] = [0, 4, 12].map((place) => received.readInt32LE(place)) as [
        number,
        number,
        number,
      ];
      received = received.subarray(bytesOfMessage);
      const document = mongo.BSON.serialize(toAnswer());
      const one = Buffer.alloc(4);
      one.writeInt32LE(1);
      const isQuery = operation === opQuery;
      const before = isQuery ? [Buffer.alloc(headerBytes), one] : [Buffer.alloc(5)];
      socket.write(frame(id, isQuery ? opReply : operation, [...before, document]));
    }
  });
}

/** A member of a replica set that never becomes its primary. */
async function startSecondary() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    answerAll(socket, () => ({
      ok: 1,
      helloOk: true,
      ismaster: false,
      isWritablePrimary: false,
      secondary: true,
      setName: 'set',
      hosts: [name()],
      me: name(),
      localTime: new Date(),
      minWireVersion: 0,
      maxWireVersion: 27,
      logicalSessionTimeoutMinutes: 30,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
    }));
  });
  const name = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    name: name(),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

describe('a connection to MongoDB', () => {
  const open = (name: string) =>
    openMongo({
      url: `mongodb://${name}/meerkat?replicaSet=set`,
      appName: 'spec',
      words: { away: 'away', back: 'back' },
      patienceMs: 5_000,
      outOfReach: (cause) => new AppError('SERVER_ERROR', hasNoPrimary(cause) ? 'no_primary' : 'away', 'out of reach'),
      logger: silentLogger,
    });

  it('tells a set whose members answer and have no primary from one of which nobody answers', async () => {
    const member = await startSecondary();
    await expect(open(member.name)).rejects.toMatchObject({ reason: 'no_primary' });
    await member.close();
    await expect(open(member.name)).rejects.toMatchObject({ reason: 'away' });
  });
});
