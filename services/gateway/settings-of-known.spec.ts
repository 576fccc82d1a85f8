import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requests } from '#contracts/catalogue';
import { tasksView } from '#contracts/task';
import { asJson, isJsonObject } from '#runtime/json';
import { errorOf, idOf, member, objectIn, refused, taskBody, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

/** Nothing to see, and a turn of the direction: what earlier versions took. */
const [name, description] = ['\u200b\u2060', 'one\u0001two'];

let opened: OpenedGateway;

beforeAll(async () => {
  opened = await openGateway();
});
afterAll(() => opened.close());

const send = (method: string, path: string, body?: object): Promise<Reply> =>
  opened.gateway.send(method, path, body === undefined ? {} : { body });

const daily = { type: 'cron', cron: '@daily', timezone: 'UTC', catchUp: 'latest' };

/** A task with the texts, or with others of these settings, stored as an earlier version did. */
async function stored(externalKey: string, settings: object = { name, description }): Promise<string> {
  const { stores, organizationId } = opened;
  const taskId = idOf(await opened.create({ externalKey }));
  const document = await stores.readStore.get(tasksView, taskId);
  const spec = { ...document?.spec, ...settings };
  const command = asJson({ type: 'replaceTask', taskId, spec, status: 'active', expectedRevision: 0 });
  if (!isJsonObject(command)) throw new Error('a command is an object');
  await stores.bus.request(requests.taskChange, command, { organizationId, actor: 'key:old', requestId: 'old' });
  return `/api/notifications/${taskId}`;
}

describe('a task whose texts an earlier version took', () => {
  it('can be changed in everything else', async () => {
    const path = await stored('changed');
    const patched = await send('PATCH', path, { tags: ['new'] });
    expect([patched.status, member(patched.body, 'data', 'name')]).toEqual([200, name]);
    const scheduled = await send('PUT', `${path}/schedule`, { type: 'interval', intervalSeconds: 600 });
    expect(scheduled.status).toBe(200);
    const given = await send('PATCH', path, { name, description, status: 'paused' });
    expect([given.status, member(given.body, 'data', 'description')]).toEqual([200, description]);
  });

  it('is put back as it was read, and with another field changed', async () => {
    const path = await stored('put back');
    const read = objectIn(member((await send('GET', path)).body, 'data'));
    expect((await send('PUT', path, read)).status).toBe(200);
    const changed = await send('PUT', path, { ...read, tags: ['put'] });
    expect([changed.status, member(changed.body, 'data', 'name')]).toEqual([200, name]);
    expect(member(changed.body, 'data', 'tags')).toEqual(['put']);
  });

  it('takes no other such text', async () => {
    const path = await stored('other');
    const read = objectIn(member((await send('GET', path)).body, 'data'));
    for (const other of ['\u200b', 'a\nb']) {
      for (const answer of [
        await send('PATCH', path, { name: other }),
        await send('PUT', path, { ...read, name: other }),
      ]) {
        expect(errorOf(answer)).toEqual(refused(400, 'VALIDATION_ERROR', 'name_invalid'));
      }
    }
    expect(errorOf(await send('PATCH', path, { description: 'a\u0002' }))).toEqual(
      refused(400, 'VALIDATION_ERROR', 'description_invalid'),
    );
  });

  it('goes back to them', async () => {
    const path = await stored('back');
    await send('PATCH', path, { name: 'Seen', description: '' });
    const back = await send('POST', `${path}/rollback`, { revision: 1 });
    expect([back.status, member(back.body, 'data', 'name')]).toEqual([200, name]);
  });

  it('is applied as it was exported, and a new one with such a name is refused', async () => {
    await stored('exported');
    const file = member((await send('GET', '/api/export')).body, 'data');
    const applied = await send('PUT', '/api/apply', objectIn(file));
    expect([applied.status, member(applied.body, 'data', 'update')]).toEqual([200, []]);
    const entry = { externalKey: 'fresh', name, url: 'https://example.com/', evaluationFunction: 'true' };
    const refusedNew = await send('PUT', '/api/apply', { version: 1, notifications: [entry] });
    expect(errorOf(refusedNew)).toEqual(refused(400, 'VALIDATION_ERROR', 'name_invalid'));
    expect(member(refusedNew.body, 'error', 'details', 0, 'field')).toBe('notifications[0].name');
  });
});

describe('a task whose key is the id of another, which an earlier version took', () => {
  it('can be read and changed in all else, and takes no other such key', async () => {
    const id = idOf(await opened.create({}));
    const path = await stored('key', { externalKey: id });
    const read = objectIn(member((await send('GET', path)).body, 'data'));
    expect(read['externalKey']).toBe(id);
    expect((await send('PATCH', path, { tags: ['new'] })).status).toBe(200);
    expect((await send('PUT', path, { ...read, description: 'put' })).status).toBe(200);
    const other = idOf(await opened.create({}));
    const own = path.slice(path.lastIndexOf('/') + 1);
    for (const externalKey of [other, own]) {
      for (const answer of [
        await send('PATCH', path, { externalKey }),
        await send('PUT', path, { ...read, externalKey }),
        await send('POST', '/api/notifications', { ...taskBody, externalKey }),
      ]) {
        expect(errorOf(answer)).toEqual(refused(400, 'VALIDATION_ERROR', 'external_key_invalid'));
        expect(member(answer.body, 'error', 'details', 0)).toEqual({
          field: 'externalKey',
          rule: 'invalid',
          message: expect.stringMatching(/id of a notification: use a name of your own, .+ or null/),
        });
      }
    }
  });

  it('is exported under its own id, so that no entry is taken for the other, and depended on by it', async () => {
    const id = idOf(await opened.create({ name: 'Other' }));
    const path = await stored('confused', { externalKey: id, name: 'Confused' });
    const own = path.slice(path.lastIndexOf('/') + 1);
    await opened.create({ externalKey: 'of both', policy: { dependsOn: [own, id] } });
    const file = objectIn(member((await send('GET', '/api/export')).body, 'data'));
    expect(member(file, 'notifications')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ externalKey: id, name: 'Other' }),
        expect.objectContaining({ externalKey: own, name: 'Confused' }),
        expect.objectContaining({ externalKey: 'of both', policy: { dependsOn: [own, id] } }),
      ]),
    );
    const applied = await send('PUT', '/api/apply', file);
    expect([applied.status, member(applied.body, 'data', 'update')]).toEqual([200, []]);
    const entry = { ...taskBody, externalKey: own, name: 'Less confused' };
    const changed = await send('PUT', '/api/apply', { version: 1, notifications: [entry] });
    expect(member(changed.body, 'data', 'update', 0)).toMatchObject({ id: own, externalKey: own });
    expect(member((await send('GET', path)).body, 'data', 'externalKey')).toBe(id);
  });
});

describe('a task with @daily that an earlier version took', () => {
  it('keeps it while it is not changed, and has its times', async () => {
    const path = await stored('daily', { schedule: daily });
    const patched = await send('PATCH', path, { tags: ['new'] });
    expect([patched.status, member(patched.body, 'data', 'schedule', 'cron')]).toEqual([200, '@daily']);
    const schedule = member((await send('GET', `${path}/schedule`)).body, 'data');
    expect((await send('PUT', `${path}/schedule`, objectIn(schedule))).status).toBe(200);
    expect((await send('PATCH', path, { status: 'paused' })).status).toBe(200);
    const back = await send('POST', `${path}/rollback`, { revision: 1 });
    expect([back.status, member(back.body, 'data', 'schedule', 'cron')]).toEqual([200, '@daily']);
    const { body } = await send('GET', `${path}/schedule/preview?count=2`);
    const times = member(body, 'data', 'runs');
    expect(times).toEqual([expect.stringMatching(/T00:00:00\.000Z$/), expect.stringMatching(/T00:00:00\.000Z$/)]);
  });

  it('is applied as it was exported', async () => {
    const { timezone: _timezone, ...short } = daily;
    await stored('daily, exported', { schedule: short });
    const file: unknown = member((await send('GET', '/api/export')).body, 'data', 'notifications');
    const notifications = Array.isArray(file)
      ? file.filter(({ externalKey }) => externalKey === 'daily, exported')
      : [];
    const applied = await send('PUT', '/api/apply', { version: 1, notifications });
    expect(member(applied.body, 'data', 'unchanged')).toHaveLength(1);
  });

  it('takes no other such name, and no new task does', async () => {
    const path = await stored('daily, changed', { schedule: daily });
    const cronInvalid = refused(400, 'VALIDATION_ERROR', 'cron_invalid');
    for (const schedule of [
      { type: 'cron', cron: '@weekly' },
      { type: 'cron', cron: '@daily', timezone: 'Asia/Tokyo' },
    ]) {
      expect(errorOf(await send('PATCH', path, { schedule }))).toEqual(cronInvalid);
    }
    const { type, cron } = daily;
    expect(errorOf(await send('POST', '/api/notifications', { ...taskBody, schedule: { type, cron } }))).toEqual(
      cronInvalid,
    );
  });
});
