import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AppError, reject } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import type { BusMessage, OpenedBus, RequestContext } from './bus.js';
import { sealBus } from './sealed-bus.js';
import { createSqliteBus } from './sqlite.js';

const context = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

interface Asked {
  readonly payload: JsonObject;
  readonly context: RequestContext;
}

/** A bus whose broker is read by somebody: what is carried, and a way to write to it. */
function overheard() {
  const bus = createSqliteBus(':memory:', silentLogger);
  const asked: Asked[] = [];
  const answers: Json[] = [];
  const published: BusMessage[] = [];
  const carrier: OpenedBus = {
    ...bus,
    async publish(topic, messages) {
      published.push(...messages);
      await bus.publish(topic, messages);
    },
    async request(name: string, payload: JsonObject, who, deadlineMs) {
      asked.push({ payload, context: who });
      const answer = await bus.request(name, payload, who, deadlineMs);
      answers.push(answer);
      return answer;
    },
  };
  return { carrier, asked, answers, published };
}

describe('sealed requests', () => {
  let wire: ReturnType<typeof overheard>;
  beforeEach(() => {
    wire = overheard();
  });
  afterEach(() => wire.carrier.close());

  it('reach their responder and are answered, with nothing in clear on the way', async () => {
    const bus = sealBus(wire.carrier, key(1), silentLogger);
    await bus.respond('open', async ({ password = null }) => ({ token: ['token for', password] }));
    expect(await bus.request('open', { password: 'hunter2' }, context)).toEqual({ token: ['token for', 'hunter2'] });
    expect([wire.asked.length, wire.answers.length]).toEqual([1, 1]);
    expect(JSON.stringify([wire.asked, wire.answers])).not.toMatch(/hunter2|token/);
  });

  it('pass on the responder’s refusal as it is', async () => {
    const bus = sealBus(wire.carrier, key(1), silentLogger);
    await bus.respond('open', async () => {
      throw reject('no_such_thing', 'There is none.');
    });
    await expect(bus.request('open', {}, context)).rejects.toMatchObject({ reason: 'no_such_thing' });
  });

  it('are refused by a process with another key', async () => {
    await sealBus(wire.carrier, key(1), silentLogger).respond('open', async () => null);
    const asked = sealBus(wire.carrier, key(2), silentLogger).request('open', {}, context);
    await expect(asked).rejects.toMatchObject({ code: 'SERVER_ERROR', reason: 'secret_key_differs' });
  });

  it('are not taken in clear, nor when sealed for another request', async () => {
    const bus = sealBus(wire.carrier, key(1), silentLogger);
    await bus.respond('open', async () => null);
    await bus.respond('close', async () => null);
    await expect(wire.carrier.request('open', { password: 'x' }, context)).rejects.toBeInstanceOf(AppError);
    await bus.request('open', {}, context);
    const sealed = wire.asked.at(-1)?.payload ?? {};
    await expect(wire.carrier.request('close', sealed, context)).rejects.toBeInstanceOf(AppError);
  });

  it.each([
    ['organisation', { organizationId: 'org_2' }],
    ['person', { actor: 'key:key_2' }],
    ['request', { requestId: 'req_2' }],
  ])('are not taken in the name of another %s than asked', async (_what, change) => {
    const bus = sealBus(wire.carrier, key(1), silentLogger);
    const done: RequestContext[] = [];
    await bus.respond('open', async (_payload, who) => {
      done.push(who);
      return null;
    });
    await bus.request('open', {}, context);
    const sealed = wire.asked.at(-1)?.payload ?? {};
    await expect(wire.carrier.request('open', sealed, { ...context, ...change })).rejects.toMatchObject({
      reason: 'secret_key_differs',
    });
    expect(done).toEqual([context]);
  });

  it('are not carried out again by somebody who sends one once more after its deadline', async () => {
    const bus = sealBus(wire.carrier, key(1), silentLogger);
    let done = 0;
    await bus.respond('open', async () => {
      done += 1;
      return null;
    });
    const inThePast = -60_000;
    await expect(bus.request('open', {}, context, inThePast)).rejects.toMatchObject({ reason: 'deadline_exceeded' });
    const sealed = wire.asked.at(-1)?.payload ?? {};
    await expect(wire.carrier.request('open', sealed, context)).rejects.toMatchObject({ reason: 'deadline_exceeded' });
    expect(done).toBe(0);
  });
});

describe('signed messages', () => {
  const options = { topic: 'task', group: 'g', concurrency: 4, handlerTimeoutMs: 5_000 };
  const metadata = { ...context, causationId: null, at: '2026-11-21T10:00:00.000Z' };
  const message = (id: string, data: JsonObject = { status: 'paused' }): BusMessage => ({
    id,
    type: 'task.changed',
    key: 'ntf_1',
    data,
    metadata,
  });

  let wire: ReturnType<typeof overheard>;
  let logged: object[];
  const logger = { ...silentLogger, error: (fields: object) => void logged.push(fields) };
  beforeEach(() => {
    wire = overheard();
    logged = [];
  });
  afterEach(() => wire.carrier.close());

  it('arrive as they were sent, whatever they hold', async () => {
    const bus = sealBus(wire.carrier, key(1), logger);
    const seen = new Map<string, JsonObject>();
    await bus.consume(options, async ({ id, data }) => void seen.set(id, data));
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), async (data) => {
        const id = `m${(sent += 1)}`;
        // As the way over the wire leaves it.
        const plain = JSON.parse(JSON.stringify(data)) as JsonObject;
        await bus.publish('task', [message(id, plain)]);
        await found(async () => seen.has(id));
        expect(seen.get(id)).toEqual(plain);
      }),
      { numRuns: 50 },
    );
    expect(logged).toEqual([]);
  });

  const forgeries: readonly [string, (signed: BusMessage) => BusMessage][] = [
    ['without a MAC', ({ data, ...rest }) => ({ ...rest, data: { status: data['status'] ?? null } })],
    ['with a MAC that is no text', (signed) => ({ ...signed, data: { ...signed.data, $mac: 1 } })],
    ['with an invented MAC', (signed) => ({ ...signed, data: { ...signed.data, $mac: 'AAAA' } })],
    ['with other data', (signed) => ({ ...signed, data: { ...signed.data, status: 'active' } })],
    ['with more data', (signed) => ({ ...signed, data: { ...signed.data, more: true } })],
    ['of another type', (signed) => ({ ...signed, type: 'task.archived' })],
    ['about another task', (signed) => ({ ...signed, key: 'ntf_2' })],
    ['of another organisation', (signed) => ({ ...signed, metadata: { ...metadata, organizationId: 'org_2' } })],
  ];

  it.each(forgeries)('that somebody else wrote %s are ignored with an error in the log', async (_what, forge) => {
    const bus = sealBus(wire.carrier, key(1), logger);
    const seen: string[] = [];
    await bus.consume(options, async ({ id }) => void seen.push(id));
    const elsewhere = overheard();
    await sealBus(elsewhere.carrier, key(1), logger).publish('task', [message('forged')]);
    await elsewhere.carrier.close();
    await wire.carrier.publish('task', elsewhere.published.map(forge));
    await bus.publish('task', [message('last')]);
    await found(async () => seen.includes('last'));
    expect(seen).toEqual(['last']);
    expect(logged).toMatchObject([{ topic: 'task', group: 'g', messageId: 'forged' }]);
    expect(await wire.carrier.deadLetters('task', 10)).toEqual([]);
  });

  it('of one topic are not taken in another', async () => {
    const bus = sealBus(wire.carrier, key(1), logger);
    const seen: string[] = [];
    await bus.consume({ ...options, topic: 'run' }, async ({ id }) => void seen.push(id));
    await bus.publish('task', [message('moved')]);
    await wire.carrier.publish('run', wire.published.slice());
    await bus.publish('run', [message('last')]);
    await found(async () => seen.includes('last'));
    expect(seen).toEqual(['last']);
  });

  it('of a process with another key are ignored', async () => {
    const seen: string[] = [];
    const bus = sealBus(wire.carrier, key(1), logger);
    await bus.consume(options, async ({ id }) => void seen.push(id));
    await sealBus(wire.carrier, key(2), silentLogger).publish('task', [message('foreign')]);
    await bus.publish('task', [message('last')]);
    await found(async () => seen.includes('last'));
    expect(seen).toEqual(['last']);
  });
});
