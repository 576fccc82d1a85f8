import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseYamlBody } from '#http/yaml';
import { reject, unavailable } from '#runtime/errors';
import { until } from '../../../test/e2e/kit/until.js';
import { errorOf, type GatewayKit, idOf, member, refused, type Reply, taskBody, webhookBody } from '../gateway.kit.js';
import { openGateway, type OpenedGateway } from '../opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
let key: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

/** An organisation of its own, so that nothing of another spec is missing in its files. */
async function anew(): Promise<void> {
  key = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
}

const exported = async (): Promise<unknown> => {
  const reply = await gateway.send('GET', '/api/export', { key });
  expect(reply.status).toBe(200);
  return member(reply.body, 'data');
};
const apply = (notifications: readonly unknown[], query = ''): Promise<Reply> =>
  gateway.send('PUT', `/api/apply${query}`, { key, body: { version: 1, notifications } });
const keysOf = (reply: Reply, list: string): unknown =>
  (member(reply.body, 'data', list) as { externalKey: string }[]).map(({ externalKey }) => externalKey);
const entry = (externalKey: string, more: object = {}) => ({ ...taskBody, externalKey, ...more });

describe('a configuration file', () => {
  it('makes, changes and leaves alone what it names, and the same again changes nothing', async () => {
    await anew();
    const first = await apply([entry('a'), entry('b', { actions: [webhookBody], tags: ['x'] })]);
    expect(first.status).toBe(200);
    expect(keysOf(first, 'create')).toEqual(['a', 'b']);
    const commands = gateway.commands.length;
    const again = await apply([entry('a'), entry('b', { actions: [webhookBody], tags: ['x'] })]);
    expect(keysOf(again, 'unchanged')).toEqual(['a', 'b']);
    expect(gateway.commands.length).toBe(commands);
    const changed = await apply([entry('a', { name: 'Pot', policy: { confirmations: 2 } })]);
    expect(member(changed.body, 'data', 'update', 0)).toMatchObject({
      externalKey: 'a',
      changes: [
        { path: 'name', from: 'Kettle', to: 'Pot' },
        { path: 'policy.confirmations', to: 2 },
      ],
    });
    expect(keysOf(changed, 'archive')).toEqual([]);
    expect(member(await exported(), 'notifications', 0)).toEqual(
      expect.objectContaining({ externalKey: 'a', name: 'Pot', policy: { confirmations: 2 } }),
    );
  });

  it('is answered with what its tasks leave silent', async () => {
    await anew();
    const planned = await apply([entry('quiet'), entry('heard', { actions: [webhookBody] })], '?dryRun=true');
    const made = await apply([entry('quiet'), entry('heard', { actions: [webhookBody] })]);
    for (const { body } of [planned, made]) {
      expect(member(body, 'data', 'create', 0, 'warnings', 0)).toMatchObject({
        field: 'actions',
        rule: 'nobody_listens',
      });
      expect(member(body, 'data', 'create', 1, 'warnings')).toBeUndefined();
    }
    const deaf = await apply([entry('heard', { actions: [{ ...webhookBody, on: ['triggered'] }] })]);
    expect(member(deaf.body, 'data', 'update', 0, 'warnings', 0, 'rule')).toBe('errors_unheard');
  });

  it('that was exported changes nothing when it is applied, as JSON and as YAML', async () => {
    await anew();
    const fetch = { headers: { Authorization: 'Bearer hidden', 'X-Team': 'red' } };
    const actions = [webhookBody, { ...webhookBody, on: ['recovered'], config: { url: 'https://example.com/two' } }];
    const schedule = { type: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' };
    const code = "// ünï: 'yes'\nreturn true;\n\n";
    await apply([
      entry('parent', { evaluationFunction: code }),
      entry('child', { fetch, actions, schedule, status: 'paused', policy: { dependsOn: ['parent'] } }),
    ]);
    const keyless = idOf(await gateway.send('POST', '/api/notifications', { key, body: taskBody }));
    const file = await exported();
    expect(member(file, 'notifications', 1)).toEqual({
      ...entry('child'),
      status: 'paused',
      fetch: { headers: { Authorization: '********', 'X-Team': 'red' } },
      schedule,
      policy: { dependsOn: ['parent'] },
      actions: [
        { type: 'webhook', config: expect.objectContaining({ secret: '********' }) },
        { type: 'webhook', on: ['recovered'], config: expect.objectContaining({ url: 'https://example.com/two' }) },
      ],
    });
    expect(member(file, 'notifications', 2, 'externalKey')).toBe(keyless);
    const commands = gateway.commands.length;
    const same = await gateway.send('PUT', '/api/apply', { key, body: file });
    expect(keysOf(same, 'unchanged')).toEqual(['parent', 'child', keyless]);
    const headers = { accept: 'application/yaml' };
    const yaml = await gateway.send('GET', '/api/export', { key, headers });
    expect(yaml.headers.get('content-type')).toContain('application/yaml');
    expect(parseYamlBody(Buffer.from(yaml.text))).toEqual(file);
    const asYaml = await gateway.send('PUT', '/api/apply', {
      key,
      body: yaml.text,
      headers: { 'content-type': 'application/yaml' },
    });
    expect(keysOf(asYaml, 'unchanged')).toEqual(['parent', 'child', keyless]);
    expect(gateway.commands.length).toBe(commands);
  });

  it('names what a task must say, whatever that is', async () => {
    await anew();
    const shortest = { name: 'x', url: 'https://example.com/', evaluationFunction: 'true' };
    await apply([{ ...shortest, externalKey: 'shortest' }]);
    const file = await exported();
    expect(member(file, 'notifications')).toEqual([{ externalKey: 'shortest', ...shortest }]);
    expect(keysOf(await gateway.send('PUT', '/api/apply', { key, body: file }), 'unchanged')).toEqual(['shortest']);
  });

  it('is only planned where that is all that was asked for', async () => {
    await anew();
    await apply([entry('a')]);
    const commands = gateway.commands.length;
    const planned = await apply([entry('b'), entry('a', { name: 'Pot' })], '?dryRun=true&archiveMissing=true');
    expect([keysOf(planned, 'create'), keysOf(planned, 'update')]).toEqual([['b'], ['a']]);
    expect(gateway.commands.length).toBe(commands);
  });

  it('archives what it does not name where that is asked for, and only then', async () => {
    await anew();
    await apply([entry('a'), entry('b')]);
    expect(keysOf(await apply([entry('a')]), 'archive')).toEqual([]);
    expect(keysOf(await apply([entry('a')], '?archiveMissing=true'), 'archive')).toEqual(['b']);
    expect(member(await exported(), 'notifications')).toHaveLength(1);
    expect(keysOf(await apply([entry('b')]), 'create')).toEqual(['b']);
  });

  it('makes what others depend on first, in whatever order it names them', async () => {
    await anew();
    const child = entry('child', { policy: { dependsOn: ['parent'] } });
    const made = await apply([child, entry('parent')]);
    expect(keysOf(made, 'create')).toEqual(['child', 'parent']);
    expect(keysOf(await apply([child, entry('parent')]), 'unchanged')).toEqual(['child', 'parent']);
    const parent = entry('parent', { policy: { dependsOn: ['child'] } });
    expect(errorOf(await apply([child, parent]))).toEqual(refused(400, 'VALIDATION_ERROR', 'dependency_cycle'));
    expect(keysOf(await apply([entry('child'), parent]), 'update')).toEqual(['child', 'parent']);
  });

  it('keeps a dependency on a task that was archived since, and takes no new one', async () => {
    await anew();
    const create = (more: object): Promise<Reply> =>
      gateway.send('POST', '/api/notifications', { key, body: { ...taskBody, ...more } });
    const parent = idOf(await create({}));
    const policy = { dependsOn: [parent] };
    await create({ externalKey: 'child', policy });
    expect((await gateway.send('DELETE', `/api/notifications/${parent}`, { key })).status).toBe(200);
    const file = await exported();
    expect(member(file, 'notifications')).toEqual([expect.objectContaining({ externalKey: 'child', policy })]);
    const same = await gateway.send('PUT', '/api/apply', { key, body: file });
    expect([same.status, keysOf(same, 'unchanged')]).toEqual([200, ['child']]);
    const renamed = await apply([entry('child', { name: 'Pot', policy })]);
    expect(keysOf(renamed, 'update')).toEqual(['child']);
    const other = await apply([entry('child', { policy }), entry('other', { policy })]);
    expect(errorOf(other)).toEqual(refused(400, 'VALIDATION_ERROR', 'dependency_not_found'));
    expect(member(other.body, 'error', 'details', 0, 'field')).toBe('notifications[1].policy.dependsOn[0]');
  });

  it('is written several tasks at a time, what others depend on before them, and archives last', async () => {
    await anew();
    await apply([entry('old')]);
    const begun: unknown[] = [];
    const ended: unknown[] = [];
    const bothBegun = Promise.withResolvers<void>();
    gateway.hooks.beforeCommand = async (command) => {
      const name = member(command, 'spec', 'externalKey') ?? member(command, 'type');
      if (name === 'child') expect(ended).toContain('parent');
      if (name === 'archiveTask') expect(ended).toEqual(expect.arrayContaining(['parent', 'other', 'child']));
      begun.push(name);
      if (begun.length === 2) bothBegun.resolve();
      await bothBegun.promise;
      ended.push(name);
    };
    const child = entry('child', { policy: { dependsOn: ['parent'] } });
    const made = await apply([child, entry('parent'), entry('other')], '?archiveMissing=true');
    gateway.hooks.beforeCommand = async () => {};
    expect(keysOf(made, 'create')).toEqual(['child', 'parent', 'other']);
    expect([begun.slice(0, 2), begun.at(-1)]).toEqual([['parent', 'other'], 'archiveTask']);
    expect(keysOf(made, 'archive')).toEqual(['old']);
    const now = member(await exported(), 'notifications') as { externalKey: string }[];
    expect(now.map(({ externalKey }) => externalKey)).toEqual(['child', 'parent', 'other']);
  });

  it('is answered with which of its secrets and addresses differ, in words that a mask has not', async () => {
    await anew();
    const action = (path: string, more: object = {}) => ({
      type: 'webhook',
      config: { url: `https://example.com/${path}`, ...more },
    });
    const of = (path: string, more: object = {}) =>
      apply([entry('a', { actions: [action(path)], fetch: { headers: { 'X-Team': path }, ...more } })]);
    await of('one');
    const mask = '********';
    const changed = await of('two', { auth: { type: 'basic', username: 'u', password: 'hidden' } });
    expect(member(changed.body, 'data', 'update', 0, 'changes')).toEqual([
      { path: 'actions[0].config.url', secret: true, from: mask, to: mask },
      { path: 'fetch.headers.X-Team', secret: true, from: mask, to: mask },
      { path: 'fetch.auth', to: expect.objectContaining({ password: mask }) },
    ]);
    const removed = await apply([entry('a', { actions: [action('two')], fetch: {} })]);
    expect(member(removed.body, 'data', 'update', 0, 'changes')).toEqual([
      { path: 'fetch.headers.X-Team', secret: true, from: mask },
      { path: 'fetch.auth', from: expect.objectContaining({ password: mask }) },
    ]);
  });

  it('keeps a masked secret, also of an action that changed its place', async () => {
    await anew();
    const [one, two] = ['one', 'two'].map((name) => ({
      type: 'webhook',
      config: { url: `https://example.com/${name}`, secret: `whsec_${Buffer.alloc(24, name).toString('base64')}` },
    }));
    await apply([entry('a', { actions: [one, two] })]);
    const masked = [two, one].map((action) => ({ ...action, config: { ...action?.config, secret: '********' } }));
    const moved = await apply([entry('a', { actions: masked })]);
    expect(moved.status).toBe(200);
    const again = await apply([entry('a', { actions: [two, one] })]);
    expect(keysOf(again, 'unchanged')).toEqual(['a']);
    expect(again.text + moved.text).not.toContain(Buffer.alloc(24, 'one').toString('base64'));
  });

  it.each([
    [{ version: 2, notifications: [] }, 'version_invalid', 'version'],
    [{ version: 1 }, 'notifications_required', 'notifications'],
    [{ version: 1, notifications: [{ ...taskBody }] }, 'external_key_required', 'notifications[0].externalKey'],
    [{ version: 1, notifications: [entry('x'), entry('x')] }, 'duplicate_key', 'notifications[1].externalKey'],
    [
      { version: 1, notifications: [entry('x'), entry('y', { schedule: { type: 'cron', cron: '61 * * * *' } })] },
      'cron_invalid',
      'notifications[1].schedule.cron',
    ],
    [
      { version: 1, notifications: [entry('x', { evaluationFunction: 'syntax(' })] },
      'syntax_error',
      'notifications[0].evaluationFunction',
    ],
    [
      { version: 1, notifications: [entry('x', { fetch: { headers: { Authorization: '********' } } })] },
      'secret_required',
      'notifications[0].fetch.headers.Authorization',
    ],
    [
      { version: 1, notifications: [entry('x', { policy: { dependsOn: ['nobody'] } })] },
      'dependency_not_found',
      'notifications[0].policy.dependsOn[0]',
    ],
    [
      { version: 1, notifications: [entry('x', { policy: { notifyOn: 'changed', reminderSeconds: 5 } })] },
      'reminder_seconds_invalid',
      'notifications[0].policy.reminderSeconds',
    ],
    [
      { version: 1, notifications: [entry('ntf_00000000000000000000000009')] },
      'notification_not_found',
      'notifications[0].externalKey',
    ],
    [{ version: 1, notifications: [entry('x', { colour: 1 })] }, 'unknown_field', 'notifications[0].colour'],
  ])('%#. is refused whole where one entry is wrong, with its place', async (body, reason, field) => {
    await anew();
    const commands = gateway.commands.length;
    const notifications = 'notifications' in body ? [entry('good'), ...body.notifications] : undefined;
    const shifted = field.replace(/notifications\[(\d+)\]/, (_all, at) => `notifications[${Number(at) + 1}]`);
    const reply = await gateway.send('PUT', '/api/apply', {
      key,
      body: { ...body, ...(notifications === undefined ? {} : { notifications }) },
    });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe(shifted);
    expect(gateway.commands.length).toBe(commands);
  });

  it('is for keys that may administer', async () => {
    const reader = await gateway.addKey(await gateway.addOrganization('enterprise'), ['read', 'write']);
    expect((await gateway.send('GET', '/api/export', { key: reader })).status).toBe(403);
    const body = { version: 1, notifications: [] };
    expect((await gateway.send('PUT', '/api/apply', { key: reader, body })).status).toBe(403);
    expect((await gateway.send('PUT', '/api/apply?dryRun=1', { key, body })).status).toBe(400);
    const headers = { 'content-type': 'application/yaml' };
    expect((await gateway.send('POST', '/api/notifications', { key, body: 'name: x', headers })).status).toBe(415);
  });
});

describe('a configuration file of which a part cannot be written now', () => {
  it('is answered as taken, and finished by itself', async () => {
    await anew();
    let left = 2;
    gateway.hooks.beforeCommand = async () => {
      left -= 1;
      if (left < 0) throw unavailable('event_store_unavailable', 'The event store does not answer.');
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    const answer = await apply(names.map((one) => entry(one)));
    expect(errorOf(answer)).toEqual(refused(503, 'SERVER_ERROR', 'apply_under_way'));
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(member(await exported(), 'notifications')).toHaveLength(2);
    gateway.hooks.beforeCommand = async () => {};
    await until('it is finished', async () => {
      const found = member(await exported(), 'notifications');
      return Array.isArray(found) && found.length === names.length;
    });
    expect(keysOf(await apply(names.map((one) => entry(one))), 'unchanged')).toEqual(names);
  });

  it('is finished before another one is looked at', async () => {
    await anew();
    let left = 1;
    gateway.hooks.beforeCommand = async () => {
      left -= 1;
      if (left < 0) throw unavailable('event_store_unavailable', 'The event store does not answer.');
    };
    expect((await apply([entry('a'), entry('b')])).status).toBe(503);
    gateway.hooks.beforeCommand = async () => {};
    const next = await apply([entry('a'), entry('b', { name: 'Pot' })]);
    expect([keysOf(next, 'create'), keysOf(next, 'unchanged'), keysOf(next, 'update')]).toEqual([[], ['a'], ['b']]);
  });

  it('with one refused in the middle writes the others, and says which reason', async () => {
    await anew();
    let left = 1;
    gateway.hooks.beforeCommand = async () => {
      left -= 1;
      if (left === 0) throw reject('already_exists', 'Another notification has this externalKey.');
    };
    const answer = await apply([entry('a'), entry('b'), entry('c')]);
    gateway.hooks.beforeCommand = async () => {};
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', reason: 'already_exists' });
    expect(member(await exported(), 'notifications')).toHaveLength(2);
    expect(keysOf(await apply([entry('a'), entry('b'), entry('c')]), 'create')).toEqual(['a']);
  });

  it('for good is written but for that, which is on record, and keeps no other file waiting', async () => {
    await anew();
    gateway.hooks.beforeCommand = async (command) => {
      if (member(command, 'spec', 'externalKey') === 'b') throw new TypeError('a defect of ours');
    };
    const file = [entry('a'), entry('b'), entry('c')];
    expect(errorOf(await apply(file))).toEqual(refused(503, 'SERVER_ERROR', 'apply_under_way'));
    await until('its turn is over', async () => {
      const { status } = await apply([]);
      return status === 200;
    });
    gateway.hooks.beforeCommand = async () => {};
    expect(gateway.activities.filter((one) => member(one, 'type') === 'activity.applied')).toEqual(
      expect.arrayContaining([
        { type: 'activity.applied', data: expect.objectContaining({ created: 3, unwritten: 1 }) },
      ]),
    );
    expect(keysOf(await apply(file), 'create')).toEqual(['b']);
  });
});
