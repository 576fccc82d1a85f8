import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BUS, type OpenedBus, type BusMessage } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import { declarationOf } from '#channels/declarations';
import { requests } from '#contracts/catalogue';
import { deliveriesView, deliveryDocument, deliveryStream } from '#contracts/delivery';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { OUTBOUND } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { LEASES } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { createPositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { CLOCK, systemClock } from '#runtime/clock';
import { CONFIG, PUBLIC_ADDRESS, readConfig } from '#runtime/config';
import { notFound } from '#runtime/errors';
import { createIds, IDS } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';
import { LOGGER, silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { SANDBOX } from '#sandbox/sandbox';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE } from '#shared-state/shared-state';
import { createEventVault } from '#vault/event-vault';
import { createLinkSigner, LINK_SIGNER } from '#vault/link-signer';
import { VAULT, type Vault } from '#vault/vault';
import { answerWith, HttpReceiver, notificationOf } from './delivery.kit.js';
import { DeliveryModule } from './delivery.module.js';

let eventStore: EventStore;
let readStore: ReadStore;
let bus: OpenedBus;
let vault: Vault;
let app: INestApplicationContext;
let receiver: HttpReceiver;
let told: BusMessage[];
let listening: PromiseWithResolvers<string>;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  listening = Promise.withResolvers();
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  bus = createSqliteBus(':memory:', silentLogger);
  vault = createEventVault(eventStore, Buffer.alloc(32, 1));
  const outbound = createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' });
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  const provided = [
    [CONFIG, readConfig({}, '/nonexistent')],
    [PUBLIC_ADDRESS, { baseUrl: () => listening.promise }],
    [CLOCK, systemClock],
    [IDS, createIds()],
    [LOGGER, silentLogger],
    [EVENT_STORE, eventStore],
    [BUS, bus],
    [READ_STORE, readStore],
    [SHARED_STATE, createDocumentState(readStore)],
    [LEASES, createSoleLeases()],
    [SANDBOX, sandbox],
    [OUTBOUND, outbound],
    [VAULT, vault],
    [LINK_SIGNER, createLinkSigner(Buffer.alloc(32, 1))],
  ] as const;
  const providers = provided.map(([provide, useValue]) => ({ provide, useValue }));
  const shared = { module: class Shared {}, global: true, providers, exports: provided.map(([token]) => token) };
  app = await NestFactory.createApplicationContext(
    { module: class App {}, imports: [shared, DeliveryModule] },
    { logger: false },
  );
  // As in the product: what is asked for by then waits.
  setImmediate(() => listening.resolve('http://listening.example:1234'));
  told = [];
  closers.push(
    () => app.close(),
    () => sandbox.close(),
    () => outbound.close(),
    () => bus.close(),
    () => readStore.close(),
    () => eventStore.close(),
  );
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await receiver.close();
});

/** The decision to notify, as the execution service publishes it. */
async function publish(url: string, times = 1, name?: string): Promise<string> {
  const request = notificationOf({ createdMs: Date.now(), ...(name === undefined ? {} : { name }) });
  const { action, taskId } = request;
  const plain: JsonObject = { url };
  const config = await vault.seal(taskId, `actions/${action.id}`, plain, declarationOf('webhook').sealed);
  const message: BusMessage = {
    id: `of the decision ${request.deliveryId}`,
    type: 'notification.requested',
    key: request.deliveryId,
    data: { ...request, action: { ...action, config } },
    metadata: {
      organizationId: request.organizationId,
      actor: 'system:execution',
      requestId: 'req of the run',
      causationId: null,
      at: request.createdAt,
    },
  };
  await bus.publish(
    'run',
    Array.from({ length: times }, () => message),
  );
  return request.deliveryId;
}

/** The events of a delivery once one of that type is among them. */
async function untilRecorded(id: string, type: string): Promise<RecordedEvent[]> {
  const ended = new AbortController();
  const found: RecordedEvent[] = [];
  const prefixes = [deliveryStream(id)];
  for await (const { events } of eventStore.subscribe({ prefixes, after: null, signal: ended.signal })) {
    found.push(...events);
    if (events.some((event) => event.type === type)) ended.abort();
  }
  return found;
}

/** What the service publishes, from the beginning. */
async function listen(): Promise<BusMessage> {
  return new Promise((resolve, reject) => {
    bus
      .consume({ topic: 'delivery', group: 'spec', concurrency: 1, handlerTimeoutMs: 1_000 }, async (message) => {
        told.push(message);
        resolve(message);
      })
      .catch(reject);
  });
}

describe('the delivery service', () => {
  it('delivers an intent once', async () => {
    receiver = new HttpReceiver(answerWith(200));
    const id = await publish(`${await receiver.listen()}/in?key=canary-query`, 3);
    const recorded = await untilRecorded(id, 'attempt.ended');
    expect(recorded.map(({ type }) => type)).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);
    expect(recorded.at(-1)).toMatchObject({
      data: { next: { state: 'delivered' } },
      metadata: { requestId: 'req of the run', actor: 'system:delivery' },
    });
    expect(receiver.received[0]?.path).toBe('/in?key=canary-query');
    expect(receiver.received[0]?.body).toContain('"task":"http://listening.example:1234/tasks/ntf_');
    expect(receiver.received).toHaveLength(1);
    // Views collect what comes within a moment: it is asked for, as a reader of its own writes does.
    const newest = await eventStore.readLast(deliveryStream(id));
    const waiter = createPositionWaiter(readStore, deliveriesView);
    expect(await waiter.reached(newest?.position ?? Infinity, 10_000)).toBe(true);
    await app.close();
    expect(deliveryDocument.parse(await readStore.get(deliveriesView, id)).state).toBe('delivered');
  });

  it('publishes of a delivery that its receiver is gone, with nothing of what was sent', async () => {
    receiver = new HttpReceiver(answerWith(200), answerWith(410));
    const url = await receiver.listen();
    const heard = listen();
    await untilRecorded(await publish(`${url}/in?key=canary-query`), 'attempt.ended');
    const gone = await publish(`${url}/in?key=canary-query`, 1, 'another action');
    const message = await heard;
    expect(message).toMatchObject({ type: 'attempt.ended', key: gone, metadata: { requestId: 'req of the run' } });
    expect(message.data).toEqual({ deliveryId: gone, revision: 2, next: { state: 'failed', reason: 'gone' } });
    await app.close();
    expect(JSON.stringify(told)).not.toContain('canary');
    expect(told).toHaveLength(1);
  });

  it('disables the action whose receiver is gone', async () => {
    receiver = new HttpReceiver(answerWith(410));
    const asked = new Promise<JsonObject>((resolve, reject) => {
      bus
        .respond(requests.taskChange, async (payload) => {
          resolve(payload);
          throw notFound('task');
        })
        .catch(reject);
    });
    await publish(await receiver.listen());
    const { taskId, action, deliveryId } = notificationOf();
    const at: unknown = expect.stringMatching(/Z$/);
    const disabling = { taskId, actionId: action.id, reason: 'gone', deliveryId, at };
    expect(await asked).toEqual({ type: 'disableAction', ...disabling });
    await app.close();
    expect(await bus.deadLetters('delivery', 10)).toEqual([]);
  });

  it('makes a dead letter of a malformed request and goes on', async () => {
    receiver = new HttpReceiver(answerWith(200));
    const url = await receiver.listen();
    const { deliveryId } = notificationOf();
    await bus.publish('run', [
      { id: 'x', type: 'run.recorded', key: 'k', data: {}, metadata: metadataOf() },
      {
        id: 'y',
        type: 'notification.requested',
        key: 'other',
        data: { deliveryId: '../../x' },
        metadata: metadataOf(),
      },
    ]);
    await publish(url);
    expect((await untilRecorded(deliveryId, 'attempt.ended')).at(-1)?.data).toMatchObject({
      next: { state: 'delivered' },
    });
  });
});

function metadataOf(): BusMessage['metadata'] {
  return { organizationId: '', actor: 'system:execution', requestId: 'r', causationId: null, at: '' };
}
