import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requests } from '#contracts/catalogue';
import { tasksView } from '#contracts/task';
import { asJson, isJsonObject } from '#runtime/json';
import { errorOf, idOf, member, refused, type Reply } from './gateway.kit.js';
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

/** A task with the texts, stored as an earlier version did. */
async function stored(externalKey: string): Promise<string> {
  const { stores, organizationId } = opened;
  const taskId = idOf(await opened.create({ externalKey }));
  const document = await stores.readStore.get(tasksView, taskId);
  const spec = { ...document?.spec, name, description };
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

  it('takes no other such text', async () => {
    const path = await stored('other');
    for (const other of ['\u200b', 'a\nb']) {
      expect(errorOf(await send('PATCH', path, { name: other }))).toEqual(
        refused(400, 'VALIDATION_ERROR', 'name_invalid'),
      );
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
    const applied = await send('PUT', '/api/apply', Object(file));
    expect([applied.status, member(applied.body, 'data', 'update')]).toEqual([200, []]);
    const entry = { externalKey: 'fresh', name, url: 'https://example.com/', evaluationFunction: 'true' };
    const refusedNew = await send('PUT', '/api/apply', { version: 1, notifications: [entry] });
    expect(errorOf(refusedNew)).toEqual(refused(400, 'VALIDATION_ERROR', 'name_invalid'));
    expect(member(refusedNew.body, 'error', 'details', 0, 'field')).toBe('notifications[0].name');
  });
});
