import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createOutbound } from '#outbound/undici';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import { answerWith, DeliveryHarness, HttpReceiver, type KitRequest } from './delivery.kit.js';

let harness: DeliveryHarness;
let receiver: HttpReceiver;

beforeEach(() => {
  const eventStore = createSqliteEventStore(':memory:');
  harness = new DeliveryHarness({
    eventStore,
    readStore: createSqliteReadStore(':memory:'),
    bus: createSqliteBus(':memory:', silentLogger),
    outbound: createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' }),
    sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
  });
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

async function ask(options: KitRequest): Promise<string> {
  const worker = harness.worker();
  worker.start();
  return harness.ask(options, (id, dueMs) => worker.offer(id, dueMs));
}

describe('the executor', () => {
  it("sends what the action's channel builds and keeps no secret of its answer", async () => {
    receiver = new HttpReceiver(answerWith(200, '{"id":"m1","said":"tk_canary of secret-topic"}'));
    const serverUrl = `${await receiver.listen()}/push`;
    const config = { serverUrl, topic: 'secret-topic', token: 'tk_canary' };
    const document = await harness.untilState(await ask({ type: 'ntfy', config }), 'delivered');
    expect(receiver.received).toMatchObject([
      { method: 'POST', path: '/push/', headers: { authorization: 'Bearer tk_canary' } },
    ]);
    expect(document.attempts).toMatchObject([{ request: { method: 'POST', url: `${serverUrl}/` } }]);
    expect(JSON.stringify([document, harness.logged])).not.toMatch(/tk_canary|secret-topic/);
  });

  it("judges the answer by the action's channel", async () => {
    receiver = new HttpReceiver(answerWith(403, '{"code":40301}'));
    const config = { serverUrl: await receiver.listen(), topic: 'alerts' };
    const document = await harness.untilState(await ask({ type: 'ntfy', config }), 'failed');
    expect(document).toMatchObject({ reason: 'gone', attempts: [{ response: { status: 403 } }] });
  });
});
