import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createOutbound } from '#outbound/undici';
import { createSqliteReadStore } from '#read-store/sqlite';
import { derivedId } from '#runtime/ids';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import { answerWith, DeliveryHarness, HttpReceiver, type Answer, type KitRequest } from './delivery.kit.js';
import type { DeliveryWorker } from './worker.js';

const hang: Answer = () => undefined;
const concurrency = 8;

describe('receivers that hang', () => {
  let harness: DeliveryHarness;
  let worker: DeliveryWorker;
  let receivers: HttpReceiver[];
  let asked: number;

  beforeEach(() => {
    const eventStore = createSqliteEventStore(':memory:');
    receivers = [];
    asked = 0;
    harness = new DeliveryHarness({
      eventStore,
      readStore: createSqliteReadStore(':memory:'),
      bus: createSqliteBus(':memory:', silentLogger),
      outbound: createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' }),
      sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
      vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
    });
    worker = harness.worker({ limits: { concurrency, finishMs: 10 } });
    worker.start();
  });
  afterEach(async () => {
    await Promise.all([worker.stop(), ...receivers.map((receiver) => receiver.close())]);
    await harness.close();
  });

  const organization = (name: string): string => derivedId('org', 0, name);
  const task = (name: string): string => derivedId('ntf', 0, name);

  /** Asks for a delivery to a receiver of its own. */
  async function ask(answer: Answer, options: Pick<KitRequest, 'organizationId' | 'taskId'>): Promise<string> {
    const receiver = new HttpReceiver(answer);
    receivers.push(receiver);
    const url = await receiver.listen();
    asked += 1;
    const request = {
      name: `delivery ${asked}`,
      createdMs: harness.clock.nowMs,
      config: { url, method: 'POST', headers: {} },
      ...options,
    };
    return harness.ask(request, (id, dueMs) => worker.offer(id, dueMs));
  }
  const hangingSends = (): number => receivers.filter(({ received }) => received.length > 0).length;

  it('of one task take its share of the attempts, and another task’s message goes out at once', async () => {
    const mine = { organizationId: organization('one'), taskId: task('hanging') };
    for (let count = 0; count < 3 * concurrency; count += 1) await ask(hang, mine);
    const other = await ask(answerWith(200), { organizationId: organization('one'), taskId: task('other') });
    await harness.untilState(other, 'delivered');
    expect(hangingSends()).toBe(concurrency / 4 + 1);
  });

  it('of one organisation leave attempts to another', async () => {
    for (let count = 0; count < 3 * concurrency; count += 1) {
      await ask(hang, { organizationId: organization('hanging'), taskId: task(`task ${count}`) });
    }
    const other = await ask(answerWith(200), { organizationId: organization('other'), taskId: task('other') });
    await harness.untilState(other, 'delivered');
    expect(hangingSends()).toBe(concurrency + 1);
  });

  it('do not keep a worker from stopping: what waits for a slot is left to a later one', async () => {
    const mine = { organizationId: organization('one'), taskId: task('hanging') };
    const ids = await Promise.all(Array.from({ length: 3 * concurrency }, () => ask(hang, mine)));
    await receivers[0]?.untilReceived(1);
    await worker.stop();
    const later = harness.worker();
    for (const id of ids) {
      const state = harness.document(id)?.state;
      expect(['pending', 'retrying', 'sending', undefined]).toContain(state);
    }
    await later.stop();
  });
});
