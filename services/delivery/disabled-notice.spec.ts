import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BusMessage, OpenedBus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import { requests } from '#contracts/catalogue';
import { deliveryStream, type DeliveryEvent } from '#contracts/delivery';
import { tasksView, type TaskDocument } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { encodeEvents } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { silentLogger } from '#runtime/logger';
import { createEventVault } from '#vault/event-vault';
import { notificationOf } from './delivery.kit.js';
import { disabledNotices, type NoticeOptions } from './disabled-notice.js';

const request = notificationOf();
const { taskId, organizationId, deliveryId, action } = request;
const metadata = { organizationId, actor: 'system:delivery', requestId: 'r', causationId: null, at: request.createdAt };
const other = { ...action, id: 'act_00000000000000000000000009', on: ['error' as const] };

let eventStore: EventStore;
let readStore: ViewStore;
let bus: OpenedBus;
let options: NoticeOptions;

const member = (n: number, role: string, status: string) => ({
  id: `usr_0000000000000000000000000${n}`,
  email: `person${n}@example.com`,
  role,
  operator: false,
  status,
  secondFactor: 'off',
  createdAt: request.createdAt,
  expiresAt: null,
});

beforeEach(async () => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  bus = createSqliteBus(':memory:', silentLogger);
  const vault = createEventVault(eventStore, Buffer.alloc(32, 1));
  options = { bus, eventStore, readStore, vault, logger: silentLogger, hasMailServer: true };
  const members = [member(1, 'owner', 'active'), member(2, 'owner', 'invited'), member(3, 'editor', 'active')];
  await bus.respond(requests.membersList, async () => ({ members, total: members.length }));
  const asked: DeliveryEvent = { type: 'delivery.requested', data: { request, linkBase: null } };
  await eventStore.append(deliveryStream(deliveryId), encodeEvents([asked], { commandId: 'asked', metadata }), 'none');
});

afterEach(async () => {
  await Promise.all([bus.close(), readStore.close(), eventStore.close()]);
});

async function keep(actions: TaskDocument['spec']['actions']): Promise<void> {
  const spec = aTask({ actions });
  const { name, url, tags, externalKey } = spec;
  const { createdAt } = request;
  const searchable = { name, url, tags, externalKey };
  const document: TaskDocument = {
    ...searchable,
    id: taskId,
    organizationId,
    spec,
    revision: 0,
    status: 'active',
    condition: 'true',
    health: 'ok',
    codeRevision: 0,
    attention: 0,
    nextRunAt: null,
    lastExecution: null,
    createdAt,
    updatedAt: createdAt,
    createdBy: 'user:of the spec',
  };
  await readStore.save(tasksView, [{ id: taskId, revision: 0, document }], 0);
}

const told = (data: object): BusMessage => ({
  id: 'of the event',
  type: 'task.action_disabled',
  key: taskId,
  data: { taskId, actionId: action.id, revision: 3, reason: 'gone', ...data },
  metadata,
});
const disabled = told({ deliveryId, at: '2026-11-21T12:00:00.000Z' });

describe('the notice of a disabled action', () => {
  it('is one delivery for each other action that hears of errors and one to the owners, the same ones each time', async () => {
    await keep([
      { ...action, enabled: false },
      other,
      { ...other, id: 'act_00000000000000000000000008', on: ['triggered'] },
      { ...other, id: 'act_00000000000000000000000007', enabled: false },
    ]);
    const notices = await disabledNotices(options, disabled);
    expect(notices.map((notice) => [notice.kind, notice.action.type])).toEqual([
      ['error', other.type],
      ['error', 'email'],
    ]);
    const [, mail] = notices;
    const scope = `actions/${String(mail?.action.id)}`;
    expect(await options.vault.open(taskId, scope, mail?.action.config ?? {})).toMatchObject({
      to: ['person1@example.com'],
    });
    expect(JSON.stringify(notices)).not.toContain('person1');
    const again = await disabledNotices(options, disabled);
    expect(again.map((notice) => notice.deliveryId)).toEqual(notices.map((notice) => notice.deliveryId));
  });

  it('says where the settings are corrected: in the action, or in the contact that it goes by', async () => {
    await keep([{ ...action, enabled: false }, other]);
    const [ofAction] = await disabledNotices(options, disabled);
    expect(ofAction?.context.message).toContain('until its settings are corrected and it is enabled again');
    const byContact = notificationOf({ name: 'by contact', more: { action: { ...action, contact: 'ops' } } });
    const asked: DeliveryEvent = { type: 'delivery.requested', data: { request: byContact, linkBase: null } };
    const encoded = encodeEvents([asked], { commandId: 'by contact', metadata });
    await eventStore.append(deliveryStream(byContact.deliveryId), encoded, 'none');
    const at = '2026-11-21T12:00:00.000Z';
    const [ofContact] = await disabledNotices(options, told({ deliveryId: byContact.deliveryId, at }));
    expect(ofContact?.context.message).toContain(
      'until the contact "ops" is corrected and the action is enabled again',
    );
  });

  it('goes to the other actions alone where there is no mail server', async () => {
    await keep([{ ...action, enabled: false }, other]);
    const lines: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void lines.push(fields) };
    const notices = await disabledNotices({ ...options, hasMailServer: false, logger }, disabled);
    expect(notices.map((notice) => notice.action.id)).toEqual([other.id]);
    expect(lines).toEqual([]);
  });

  it('that reaches nobody is a line of the log, for who runs the instance', async () => {
    const lines: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void lines.push(fields) };
    await keep([{ ...action, enabled: false }]);
    expect(await disabledNotices({ ...options, hasMailServer: false, logger }, disabled)).toEqual([]);
    expect(lines).toEqual([{ taskId, actionId: action.id, deliveryId }]);
  });

  it('is nothing for a task that is archived, and for an event of before it named its delivery', async () => {
    expect(await disabledNotices(options, disabled)).toEqual([]);
    await keep([{ ...action, enabled: false }, other]);
    expect(await disabledNotices(options, told({}))).toEqual([]);
  });
});
