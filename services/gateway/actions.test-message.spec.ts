import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Consumer } from '#bus/bus';
import { deliveriesView, notificationRequest, type NotificationRequest } from '#contracts/delivery';
import { errorOf, idOf, member, refused, webhookBody as webhook, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
let delivery: Consumer;
let task: string;
let action: string;
/** What the delivery service was asked for. */
let asked: NotificationRequest[];
let state: 'delivered' | 'retrying' | 'failed';

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
  // Plays the delivery service: what is asked for is in its view, with its first attempt ended.
  const options = { topic: 'run', group: 'delivery', concurrency: 1, handlerTimeoutMs: 30_000 };
  delivery = await opened.stores.bus.consume(options, async ({ type, data }) => {
    if (type !== 'notification.requested') return;
    const request = notificationRequest.parse(data);
    asked.push(request);
    const { deliveryId: id, organizationId, taskId, executionId, createdAt, expiresAt } = request;
    const attempt = {
      at: createdAt,
      durationMs: 3,
      request: { method: 'POST', url: 'https://example.com/hook' },
      response: { status: 200, body: 'ok' },
      error: null,
    };
    const document = {
      id,
      organizationId,
      notificationId: taskId,
      executionId,
      actionId: request.action.id,
      actionType: request.action.type,
      type: `notification.${request.kind}`,
      state,
      reason: null,
      attempts: [attempt],
      createdAt,
      nextAttemptAt: null,
      expiresAt,
      finishedAt: state === 'retrying' ? null : createdAt,
      dueAt: null,
    };
    await opened.stores.readStore.save(deliveriesView, [{ id, revision: asked.length, document }], null);
  });
});
beforeEach(async () => {
  asked = [];
  state = 'delivered';
  const created = await opened.create({ name: 'Kettle', actions: [webhook], tags: ['a'] });
  task = `/api/notifications/${idOf(created)}`;
  action = `${task}/actions/${String(member(created.body, 'data', 'actions', 0, 'id'))}`;
});
afterAll(async () => {
  await delivery.stop();
  await opened.close();
});

const test = (headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  gateway.send('POST', `${action}/test`, { headers });

describe('a test message of an action', () => {
  it('is asked of the delivery service as notification.test and answered as the delivery', async () => {
    const reply = await test();
    expect(reply.status).toBe(200);
    expect(member(reply.body, 'data')).toEqual({
      id: asked[0]?.deliveryId,
      notificationId: task.split('/').at(-1),
      executionId: asked[0]?.executionId,
      actionId: action.split('/').at(-1),
      actionType: 'webhook',
      type: 'notification.test',
      state: 'delivered',
      reason: null,
      attempts: [expect.objectContaining({ response: { status: 200, body: 'ok' } })],
      createdAt: asked[0]?.createdAt,
      nextAttemptAt: null,
      expiresAt: asked[0]?.expiresAt,
      finishedAt: expect.any(String),
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      kind: 'test',
      context: { task: { name: 'Kettle', tags: ['a'] }, transition: null },
    });
    expect(asked[0]?.context.message).toContain('test');
    expect(asked[0]?.context.execution.id).toBe(asked[0]?.executionId);
    const { createdAt = '', expiresAt = '' } = asked[0] ?? {};
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(300_000);
  });

  it('carries no secret in clear', async () => {
    await test();
    expect(asked[0]?.action.config).toMatchObject({ url: { $sealed: expect.any(String) } });
    expect(JSON.stringify(asked)).not.toContain('https://example.com/hook');
  });

  it.each(['retrying', 'failed'] as const)('that is %s after its first attempt is answered as it is', async (after) => {
    state = after;
    const reply = await test();
    expect([reply.status, member(reply.body, 'data', 'state')]).toEqual([200, after]);
  });

  it('changes nothing of the task, and is sent by a disabled action too', async () => {
    await gateway.send('PATCH', action, { body: { enabled: false } });
    const before = (await gateway.send('GET', task)).text;
    expect((await test()).status).toBe(200);
    expect((await gateway.send('GET', task)).text).toBe(before);
  });

  it('is sent once per Idempotency-Key', async () => {
    const key = { 'idempotency-key': `test-${task}` };
    const replies = await Promise.all([test(key), test(key)]);
    expect(replies[0]?.text).toBe(replies[1]?.text);
    expect(asked).toHaveLength(1);
    expect((await test()).text).not.toBe(replies[0]?.text);
  });

  it('of an action that is not there, or of another organisation, is refused and not sent', async () => {
    const stranger = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const reader = await gateway.addKey(opened.organizationId, ['read']);
    const unknown = `${task}/actions/act_00000000000000000000000000/test`;
    expect(errorOf(await gateway.send('POST', unknown))).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    expect((await gateway.send('POST', `${action}/test`, { key: stranger })).status).toBe(404);
    expect((await gateway.send('POST', `${action}/test`, { key: reader })).status).toBe(403);
    const body = await gateway.send('POST', `${action}/test`, { body: { to: 'somebody@else.example' } });
    expect(errorOf(body)).toEqual(refused(400, 'VALIDATION_ERROR', 'body_not_allowed'));
    expect(asked).toEqual([]);
  });
});
