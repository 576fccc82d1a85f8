/** Test runs of unsaved code, and the state that one run passes to the next, in either mode. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { answering, html, silent, startPageSite, type PageSite } from './kit/page-site.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('1.299,00 €'));
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await site.close();
});

const settings = (evaluationFunction: string, more: object = {}): object => ({
  name: 'Price',
  url: site.address('/shop'),
  evaluationFunction,
  ...more,
});

const test = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  installation.api.send('/api/notifications/test', { json: body, headers });

describe('a page that is looked at before there is a task', () => {
  const preview = (body: object): Promise<Reply> => installation.api.send('/api/pages/preview', { json: body });

  it('is answered with a selector for each element, and one that cannot be loaded with the reason', async () => {
    const { status, body } = await preview({ url: site.address('/shop') });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        page: { finalUrl: site.address('/shop'), status: 200 },
        document: expect.stringContaining('1.299,00 €'),
        screenshot: null,
        elements: [
          { selector: 'h1', text: 'Shop', role: 'heading', name: 'Shop', box: null },
          { selector: '#stock', text: '1.299,00 €', box: null },
        ],
        error: null,
      },
    });
    expect(await preview({ url: site.address('/nowhere') })).toMatchObject({
      status: 200,
      body: { data: { page: null, document: null, elements: [], error: { reason: 'http_status' } } },
    });
  });
});

describe('a test run of an unsaved task', () => {
  it('shows each message as it would be sent, in every format, secrets masked', async () => {
    const code = `page.report('value', page.number(document.querySelector('#stock'))); return true;`;
    const url = `${site.address('/in')}?token=canary-query`;
    const hook = {
      type: 'webhook',
      config: {
        url,
        headers: { Authorization: 'Bearer canary-header' },
        body: '{"text":"{{ task.name }}: {{ value }}"}',
      },
    };
    const custom = {
      type: 'custom',
      config: {
        code: `return { url: '${site.address('/custom')}', method: 'POST', headers: { 'x-key': secrets.key }, body: event.data.message + secrets.key };`,
        secrets: { key: 'canary-secret' },
      },
    };
    const broken = {
      type: 'webhook',
      config: { url: site.address('/in'), body: '{% for a in (1..99999999) %}{{ a }}{% endfor %}' },
    };
    const silent = { type: 'webhook', config: { url: site.address('/in') }, on: ['error'] };
    const { status, body } = await test(settings(code, { actions: [hook, custom, broken, silent] }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        messages: [
          {
            actionType: 'webhook',
            kind: 'triggered',
            text: '{"text":"Price: 1299"}',
            request: {
              method: 'POST',
              url: `${site.address('/in')}?********`,
              headers: { authorization: '********', 'webhook-signature': '********' },
              body: '{"text":"Price: 1299"}',
            },
            error: null,
          },
          {
            actionType: 'custom',
            request: { url: site.address('/custom'), headers: { 'x-key': '********' } },
            text: '"Price": the condition became true.********',
            error: null,
          },
          { actionType: 'webhook', text: '', error: { reason: 'template_failed' } },
        ],
      },
    });
    expect(JSON.stringify(body)).not.toContain('canary');
    expect([site.loads('/in'), site.loads('/custom')]).toEqual([0, 0]);
    const failing = await test(settings(`throw new Error('no price')`, { actions: [silent] }));
    expect(failing.body).toMatchObject({
      data: { messages: [{ kind: 'error', title: expect.stringContaining('no price') }] },
    });
  });

  it('shows the message of the policy, in the words and with the transition that are sent by it', async () => {
    const code = `page.report('value', 'sold out'); return false;`;
    const hook = { type: 'webhook', config: { url: site.address('/in') } };
    const shown = async (notifyOn: string, evaluationFunction = code): Promise<unknown> => {
      const { body } = await test(settings(evaluationFunction, { actions: [hook], policy: { notifyOn } }));
      const [message] = (body as { readonly data: { readonly messages: readonly { readonly text: string }[] } }).data
        .messages;
      const { data } = JSON.parse(message?.text ?? '') as {
        readonly data: { readonly message: string; readonly transition: unknown };
      };
      return [data.message, data.transition];
    };
    const edge = { kind: 'condition', from: 'false', to: 'true' };
    expect(await shown('became_true')).toEqual(['"Price": the condition became true.', edge]);
    expect(await shown('every_true')).toEqual(['"Price": the condition is true.', edge]);
    expect(await shown('changed')).toEqual(['"Price": the value changed from "sold out" to another.', null]);
    expect(await shown('changed', 'return false')).toEqual(['"Price": the outcome changed from false to true.', edge]);
  });

  it('shows what a contact would get, and refuses one that there is not as a save does', async () => {
    const json = { name: 'ops', type: 'webhook', config: { url: site.address('/in'), body: '{"to":"ops"}' } };
    await installation.api.send('/api/contacts', { json });
    const { body } = await test(settings('return true;', { actions: [{ contact: 'ops' }] }));
    expect(body).toMatchObject({
      data: { messages: [{ actionType: 'webhook', text: '{"to":"ops"}', request: { url: site.address('/in') } }] },
    });
    const unknown = settings('return true;', { actions: [{ contact: 'opss' }] });
    for (const refusing of [
      await test(unknown),
      await installation.api.send('/api/notifications', { json: unknown }),
    ]) {
      expect(refusing).toMatchObject({
        status: 400,
        body: { error: { reason: 'contact_unknown', details: [{ field: 'actions[0].contact' }] } },
      });
    }
  });

  it.each(['discord', 'googlechat', 'slack'])(
    'tells that the masked address of %s is wanted in clear',
    async (type) => {
      const action = { type, config: { webhookUrl: '********' } };
      const { status, body } = await test(settings('return true;', { actions: [action] }));
      expect([status, body]).toMatchObject([
        200,
        { data: { outcome: true, messages: [{ actionType: type, error: { reason: 'secret_required' } }] } },
      ]);
    },
  );

  it('answers with outcome, values, logs, timings and the decision', async () => {
    const code = `const price = page.number(document.querySelector('#stock'));
      page.report('value', price); console.log('price', price);
      return price < 1300;`;
    const webhook = { type: 'webhook', config: { url: site.address('/hook') } };
    const loads = site.loads('/shop');
    const { status, body } = await test(settings(code, { actions: [webhook] }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: {
        notificationId: null,
        trigger: 'test',
        status: 'succeeded',
        outcome: true,
        values: { value: 1299 },
        logs: [{ level: 'log', message: 'price 1299' }],
        error: null,
        decision: { notify: true, reason: 'became_true' },
        page: { finalUrl: site.address('/shop'), status: 200 },
        timings: { fetchMs: expect.any(Number), parseMs: expect.any(Number), evaluateMs: expect.any(Number) },
      },
    });
    expect(site.loads('/shop')).toBe(loads + 1);
    expect(site.loads('/hook')).toBe(0);
    for (const path of ['notifications', 'executions', 'deliveries']) {
      expect((await installation.api.send(`/api/${path}`)).body).toMatchObject({ data: [], pagination: { total: 0 } });
    }
  });

  it('names the place of an error, with a code frame and a hint', async () => {
    const { status, body } = await test(
      settings(`const a = 1;\nconst el = document.querySelector('#none');\nreturn el.textContent === '';`),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        status: 'failed',
        outcome: null,
        decision: { notify: false, reason: 'error_below_threshold' },
        error: {
          reason: 'threw',
          line: 3,
          column: 11,
          frame: expect.stringContaining("  3 | return el.textContent === '';\n    |           ^"),
          hint: expect.stringContaining('#none'),
        },
      },
    });
    expect((await test(settings('return "true"'))).body).toMatchObject({
      data: { error: { reason: 'not_boolean', hint: expect.stringContaining("=== 'true'") } },
    });
    site.serve('/gone', answering(410));
    expect((await test(settings('return true', { url: site.address('/gone') }))).body).toMatchObject({
      data: { error: { reason: 'http_status', hint: expect.any(String) }, page: { status: 410 } },
    });
  });

  it('is rejected where the task could not be saved, and without the execute scope', async () => {
    const syntax = await test(settings('return (\n1 +'));
    expect(syntax.status).toBe(400);
    expect(errorOf(syntax)).toMatchObject({
      reason: 'syntax_error',
      details: [{ field: 'evaluationFunction', line: 2 }],
    });
    expect((await test({ name: 'x' })).status).toBe(400);
    const secret = { fetch: { headers: { Authorization: '********' } } };
    expect(errorOf(await test(settings('return true', secret))).reason).toBe('secret_required');
    const keyed = await installation.api.send('/api/notifications/test', { json: settings('return true'), key: null });
    expect(keyed.status).toBe(401);
  });

  it('sends its secrets to the page and nowhere else', async () => {
    let seen = '';
    site.serve('/private', (request, response) => {
      seen = request.headers.authorization ?? '';
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
    const fetch = { headers: { Authorization: 'Bearer hidden-and-secret' } };
    const reply = await test(settings('page.json().ok', { url: site.address('/private'), fetch }));
    expect(reply.body).toMatchObject({ data: { outcome: true } });
    expect(seen).toBe('Bearer hidden-and-secret');
    expect(reply.text).not.toContain('hidden-and-secret');
  });

  it('runs once for one idempotency key', async () => {
    const headers = { 'idempotency-key': 'test-1' };
    const loads = site.loads('/shop');
    const first = await test(settings('return true'), headers);
    const again = await test(settings('return true'), headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(site.loads('/shop')).toBe(loads + 1);
  });

  it('delays neither due runs nor other test runs', async () => {
    site.serve('/silent', silent);
    const slow = settings('return true', { url: site.address('/silent'), fetch: { timeoutSeconds: 3 } });
    const hanging = Array.from({ length: 6 }, () => test(slow));
    const saved = await installation.api.create({ ...settings('return true'), schedule: { type: 'manual' } });
    expect((await installation.api.execute(saved.id)).outcome).toBe(true);
    const replies = await Promise.all(hanging);
    expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    for (const reply of replies.filter(({ status }) => status === 429)) {
      expect(errorOf(reply).reason).toBe('too_many_tests');
      expect(reply.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    }
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4);
  });
});

describe('the state that a run leaves', () => {
  const code = `page.state.runs = (page.state.runs ?? 0) + 1;
    page.report('value', page.state.runs);
    page.report('before', page.previous === null ? null : [page.previous.outcome, page.previous.values.value, page.previous.at]);
    if (page.state.runs === 3 && !page.state.failed) { page.state.failed = true; throw new Error('on purpose'); }
    return page.state.runs % 2 === 0;`;

  it('is passed to the next run, also after a restart; a failed run leaves it unchanged', async () => {
    const { api } = installation;
    const { id } = await api.create({ ...settings(code), schedule: { type: 'manual' } });
    const first = await api.execute(id);
    expect(first).toMatchObject({ outcome: false, values: { value: 1, before: null } });
    const second = await api.execute(id);
    expect(second).toMatchObject({ outcome: true, values: { value: 2, before: [false, 1, first.finishedAt] } });
    const failed = await api.execute(id);
    expect(failed).toMatchObject({
      outcome: null,
      values: { value: 3 },
      error: { message: 'Error: on purpose', line: 4 },
    });
    await installation.kill('SIGTERM');
    await installation.start();
    await until('the task is there again', async () => (await api.send(`/api/notifications/${id}`)).status === 200);
    const fourth = await api.execute(id);
    // The state is that of the last good run, so the code counts to three and fails again.
    expect(fourth).toMatchObject({ outcome: null, values: { value: 3, before: [null, 3, failed.finishedAt] } });
  });
});
