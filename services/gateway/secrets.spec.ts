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
import { secretsOfAction, unmasked } from './secrets.js';

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

  it('bound to a host are kept for the origin they were given for, and asked for again at another', () => {
    const places = { writeOnly: [['token']], addresses: ['serverUrl'], hostBound: ['token'] };
    const base = { serverUrl: 'https://push.example/', token: 't0k' };
    const sent = (serverUrl: string) => unmasked({ serverUrl, token: '********' }, base, places, ['config']);
    expect(sent('https://push.example/sub')).toEqual({ serverUrl: 'https://push.example/sub', token: 't0k' });
    for (const other of ['https://evil.example/', 'http://push.example/']) {
      expect(() => sent(other)).toThrow('send the secret itself');
    }
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
