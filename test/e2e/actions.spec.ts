/** Actions as a sub-resource: what is set there is what is sent, under which secret, and on record. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, verified, type HookSink, type ReceivedHook } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let installation: Installation;
let site: PageSite;
let hooks: HookSink;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  site.serve('/shop', html('in stock'));
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

const dataOf = ({ body }: Reply): Record<string, unknown> =>
  z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data;
const send = (path: string, json?: unknown, method = 'POST'): Promise<Reply> =>
  installation.api.send(path, json === undefined ? { method } : { method, json });

/** A task with one webhook action, made through the sub-resource. */
async function withHook(path: string): Promise<{ readonly task: string; readonly action: string }> {
  const { id } = await installation.api.create(byHand(site.address('/shop')));
  const task = `/api/notifications/${id}`;
  const made = await send(`${task}/actions`, { type: 'webhook', config: { url: hooks.address(path), secret } });
  expect(made.status).toBe(201);
  return { task, action: `${task}/actions/${String(dataOf(made)['id'])}` };
}

const lastAt = (path: string): ReceivedHook => {
  const hook = hooks.received(path).at(-1);
  if (hook === undefined) throw new Error(`nothing came to ${path}`);
  return hook;
};

describe('an action of a task', () => {
  it('is previewed with the values of a run, and nothing is sent', async () => {
    const { task, action } = await withHook('/preview');
    const before = await send(`${action}/preview`, { kind: 'error' });
    expect([before.status, dataOf(before)]).toEqual([200, expect.objectContaining({ kind: 'error', error: null })]);
    const run = await installation.api.execute(task.split('/').at(-1) ?? '', 30, { dryRun: true });
    const shown = dataOf(await send(`${action}/preview`, { executionId: run.id }));
    expect(JSON.parse(String(shown['text']))).toMatchObject({
      type: 'notification.triggered',
      data: { execution: { id: run.id, outcome: run.outcome } },
    });
    const digest = dataOf(await send(`${action}/preview`, { kind: 'digest' }));
    expect([digest['kind'], digest['error']]).toEqual(['digest', null]);
    expect(JSON.parse(String(digest['text']))).toMatchObject({
      type: 'notification.digest',
      data: {
        items: [
          { execution: { id: run.id }, transition: { to: 'true' } },
          { execution: { id: run.id }, transition: { to: 'false' } },
        ],
        message: expect.stringContaining('2 messages'),
      },
    });
    const unknown = await send(`${action}/preview`, {
      executionId: run.id.replace(/.$/, '0').replace(/^exe_../, 'exe_00'),
    });
    expect(unknown.status).toBe(404);
    expect(JSON.stringify(shown)).not.toContain(secret);
    expect(hooks.received('/preview')).toEqual([]);
  });

  it('is previewed in the words of its policy, with what is known of the value', async () => {
    const { task, action } = await withHook('/preview-policy');
    const evaluationFunction = "page.report('value', 7); return true";
    await send(task, { name: 'Stock', evaluationFunction, policy: { notifyOn: 'changed' } }, 'PATCH');
    const told = async (): Promise<unknown> => {
      const { data } = z
        .object({ data: z.object({ message: z.string(), transition: z.unknown() }) })
        .parse(JSON.parse(String(dataOf(await send(`${action}/preview`, {}))['text'])));
      return [data.message, data.transition];
    };
    expect(await told()).toEqual(['"Stock": the outcome changed.', null]);
    await installation.api.execute(task.split('/').at(-1) ?? '', 30);
    expect(await told()).toEqual(['"Stock": the value changed from 7 to another.', null]);
    await send(task, { policy: { notifyOn: 'every_true' } }, 'PATCH');
    expect(await told()).toEqual(['"Stock": the condition is true.', expect.objectContaining({ to: 'true' })]);
  });

  it('is previewed with its address as the templates in it are filled, without what gives access', async () => {
    const { id } = await installation.api.create({ ...byHand(site.address('/shop')), name: 'A & b' });
    const url = hooks.address('/in/{{ task.name }}/tok3n-tok3n-tok3n-tok3n?to={{ task.name }}&key=canary-key');
    const made = await send(`/api/notifications/${id}/actions`, {
      type: 'webhook',
      config: { url: url.replace('//', '//ada:canary-password@') },
    });
    const shown = dataOf(await send(`/api/notifications/${id}/actions/${String(dataOf(made)['id'])}/preview`, {}));
    expect(shown['request']).toMatchObject({
      url: hooks.address('/in/A%20%26%20b/********?to=A%20%26%20b&key=********'),
      headers: { authorization: '********' },
    });
    expect(JSON.stringify(shown)).not.toContain('canary');
  });

  it('is tested by a marked message through the delivery service', async () => {
    const { task, action } = await withHook('/test');
    const run = await installation.api.execute(task.split('/').at(-1) ?? '', 30, { dryRun: true });
    const reply = await send(`${action}/test`);
    expect([reply.status, dataOf(reply)]).toEqual([
      200,
      expect.objectContaining({
        type: 'notification.test',
        state: 'delivered',
        executionId: run.id,
        attempts: [expect.objectContaining({ response: { status: 200, body: 'as told' }, error: null })],
      }),
    ]);
    expect(verified(lastAt('/test'), secret)).toMatchObject({
      type: 'notification.test',
      data: { task: { name: 'Stock' }, execution: { id: run.id, outcome: true }, transition: null },
    });
    const again = await installation.api.send(`/api/deliveries/${String(dataOf(reply)['id'])}`);
    expect(dataOf(again)).toEqual(dataOf(reply));
  });

  it('whose receiver refuses a test is answered with what the receiver said', async () => {
    const { action } = await withHook('/refuses');
    hooks.reply('/refuses', 404, 503);
    expect(dataOf(await send(`${action}/test`))).toMatchObject({
      state: 'failed',
      attempts: [{ response: { status: 404, body: 'as told' } }],
    });
    expect(dataOf(await send(`${action}/test`))).toMatchObject({ state: 'retrying', attempts: [{ error: {} }] });
  });

  it('signs with both secrets while a rotation overlaps, then with the new one alone', async () => {
    const { action } = await withHook('/rotated');
    const config = z.object({ secret: z.string() });
    const rotated = config.parse(dataOf(await send(`${action}/rotate-secret`, { overlapSeconds: 3_600 }))['config']);
    await send(`${action}/test`);
    for (const known of [secret, rotated.secret]) expect(() => verified(lastAt('/rotated'), known)).not.toThrow();
    const last = config.parse(dataOf(await send(`${action}/rotate-secret`, { overlapSeconds: 0 }))['config']);
    await send(`${action}/test`);
    expect(() => verified(lastAt('/rotated'), last.secret)).not.toThrow();
    for (const old of [secret, rotated.secret]) {
      expect(() => verified(lastAt('/rotated'), old)).toThrow('No matching signature found');
    }
  });

  it('is changed in revisions that the history shows, without a secret', async () => {
    const { task, action } = await withHook('/history');
    await send(action, { enabled: false }, 'PATCH');
    await send(`${action}/rotate-secret`);
    await send(action, undefined, 'DELETE');
    const { body, text } = await installation.api.send(`${task}/history`);
    const { data } = z.object({ data: z.array(z.looseObject({ changes: z.array(z.unknown()) })) }).parse(body);
    expect(data.map(({ revision, type }) => [revision, type])).toEqual([
      [4, 'task.changed'],
      [3, 'task.changed'],
      [2, 'task.changed'],
      [1, 'task.changed'],
      [0, 'task.created'],
    ]);
    expect(data[2]?.changes).toEqual([{ path: 'actions[0].enabled', from: true, to: false }]);
    expect([text.includes(secret), text.includes('$sealed'), text.includes('/history"')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('is one of at most 20, also where several are added at the same time', async () => {
    const { task } = await withHook('/many');
    const add = () => send(`${task}/actions`, { type: 'webhook', config: { url: hooks.address('/many') } });
    const replies = await Promise.all(Array.from({ length: 22 }, add));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(19);
    const [one, ...others] = replies.filter(({ status }) => status !== 201).map(errorOf);
    expect(others).toHaveLength(2);
    expect(one).toMatchObject({ reason: 'actions_too_many', details: [{ field: 'actions', rule: 'too_many' }] });
    const { body } = await installation.api.send(`${task}/actions?limit=100`);
    expect(body).toMatchObject({ pagination: { total: 20 } });
  });
});
