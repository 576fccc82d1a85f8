import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#runtime/logger';
import { busRequestsContract } from './bus-requests.contract.js';
import { busContract, type BusUnderTest } from './bus.contract.js';
import type { BusMessage, OpenedBus, Relay } from './bus.js';
import { createSqliteBus } from './sqlite.js';

const create = async (): Promise<BusUnderTest> => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-bus-'));
  const file = join(folder, 'bus.db');
  let bus = createSqliteBus(file, silentLogger);
  return {
    bus,
    async another() {
      return createSqliteBus(file, silentLogger);
    },
    async reopen() {
      await bus.close();
      bus = createSqliteBus(file, silentLogger);
      return bus;
    },
    async destroy() {
      await bus.close();
      rmSync(folder, { recursive: true });
    },
  };
};

busContract('SQLite', create, { replicas: false });
busRequestsContract('SQLite', create, { replicas: false });

describe('the SQLite bus relays messages', () => {
  const message = (id: string, key = id): BusMessage => ({
    id,
    type: 'thing.happened',
    key,
    data: {},
    metadata: { organizationId: 'org_1', actor: 'system:spec', requestId: 'req_1', causationId: null, at: '' },
  });
  const options = { topic: 'thing', concurrency: 8, handlerTimeoutMs: 5_000 };
  const never = new AbortController().signal;
  let bus: OpenedBus;
  let relay: Relay;

  beforeEach(() => {
    bus = createSqliteBus(':memory:', silentLogger, { relays: true });
    if (bus.relay === null) throw new Error('it does not relay');
    relay = bus.relay;
  });
  afterEach(() => bus.close());

  it('to no one before all consumers are there, and then to each group of the topic', async () => {
    const handled: string[] = [];
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    const relayed = relay('thing', [message('1'), message('2')], resolve, never);
    for (const group of ['a', 'b']) {
      await bus.consume({ ...options, group }, async ({ id }) => void handled.push(`${group}${id}`));
    }
    await bus.consume({ ...options, topic: 'other', group: 'a' }, async () => void handled.push('other'));
    expect(handled).toEqual([]);
    await bus.ready();
    await Promise.all([relayed, settled]);
    expect(handled.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('in order with published ones of the same key', async () => {
    const handled: string[] = [];
    await bus.consume({ ...options, group: 'a' }, async ({ id }) => {
      await new Promise((resolve) => setImmediate(resolve));
      handled.push(id);
    });
    await bus.ready();
    await bus.publish('thing', [message('1', 'k')]);
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    await relay('thing', [message('2', 'k'), message('3', 'k')], resolve, never);
    await settled;
    expect(handled).toEqual(['1', '2', '3']);
  });

  it('and calls those settled that no group has to do with, without a turn for each', async () => {
    const handled: string[] = [];
    const types = ['thing.wanted'];
    await bus.consume({ ...options, group: 'a', types }, async ({ id }) => void handled.push(id));
    await bus.ready();
    let isSettled = false;
    await relay('thing', [message('1'), message('2')], () => (isSettled = true), never);
    expect([isSettled, handled]).toEqual([true, []]);
  });

  it('and calls those settled that were set aside', async () => {
    await bus.consume({ ...options, group: 'a' }, async () => {
      throw new Error('not now');
    });
    await bus.ready();
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    await relay('thing', [message('1')], resolve, never);
    await settled;
  });

  it('at once where nobody consumes them', async () => {
    await bus.ready();
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    await relay('thing', [message('1')], resolve, never);
    await settled;
  });

  it('no faster than they are handled', async () => {
    const letGo: (() => void)[] = [];
    await bus.consume({ ...options, group: 'a' }, () => new Promise((resolve) => letGo.push(resolve)));
    await bus.ready();
    const ending = new AbortController();
    const many = Array.from({ length: 300 }, (_, at) => message(String(at)));
    const relayed = relay('thing', many, () => undefined, ending.signal);
    const outcome = await Promise.race([
      relayed.then(() => 'room'),
      new Promise((resolve) => setImmediate(resolve, 'none')),
    ]);
    expect(outcome).toBe('none');
    ending.abort(new Error('stopped'));
    await expect(relayed).rejects.toThrow('stopped');
    const draining = bus.close();
    for (const resolve of letGo) resolve();
    await draining;
  });
});
