/** Contacts that are removed while tasks name them, have named them, or are about to. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('in stock'));
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await site.close();
});

const send = (path: string, json?: unknown, method = 'POST'): Promise<Reply> =>
  installation.api.send(path, json === undefined ? { method } : { method, json });
const answered = (reply: Reply): unknown[] => [reply.status, errorOf(reply).reason, errorOf(reply).details?.[0]?.field];
const makeContact = (name: string): Promise<Reply> =>
  send('/api/contacts', { name, type: 'webhook', config: { url: site.address(`/${name}`) } });
const settingsWith = (contact: string) => ({ ...byHand(site.address('/shop')), actions: [{ contact }] });
const createWith = async (contact: string): Promise<string> => {
  const { body } = await send('/api/notifications', settingsWith(contact));
  return z.object({ data: z.object({ id: z.string() }) }).parse(body).data.id;
};

describe('a task whose contact is gone', () => {
  it('is not restored until there is one of that name again, alone or among many', async () => {
    await makeContact('gone');
    const id = await createWith('gone');
    const path = `/api/notifications/${id}`;
    await send(path, undefined, 'DELETE');
    expect((await send('/api/contacts/gone', undefined, 'DELETE')).status).toBe(200);
    expect(answered(await send(`${path}/restore`))).toEqual([400, 'contact_unknown', 'actions[0].contact']);
    const { body } = await send('/api/notifications/bulk', { ids: [id], do: 'restore' });
    expect(body).toMatchObject({ data: { done: [], failed: [{ id, reason: 'contact_unknown' }] } });
    expect((await installation.api.send(path)).status).toBe(404);
    await makeContact('gone');
    expect((await send(`${path}/restore`)).status).toBe(200);
  });

  it('is not set back to a revision that named it, and the field says why', async () => {
    await makeContact('left');
    const id = await createWith('left');
    const path = `/api/notifications/${id}`;
    await send(path, { actions: [] }, 'PATCH');
    expect((await send('/api/contacts/left', undefined, 'DELETE')).status).toBe(200);
    const back = () => send(`${path}/rollback`, { revision: 0 });
    expect(answered(await back())).toEqual([400, 'contact_unknown', 'actions[0].contact']);
    await makeContact('left');
    expect((await back()).body).toMatchObject({ data: { actions: [{ contact: 'left' }] } });
  });
});

describe('a contact', () => {
  it.each([1, 2, 3, 4, 5])(
    'that is removed while tasks come to name it is there for each of them, round %i',
    async (round) => {
      const name = `raced-${round}`;
      await makeContact(name);
      const [removed, ...made] = await Promise.all([
        send(`/api/contacts/${name}`, undefined, 'DELETE'),
        ...Array.from({ length: 5 }, () => send('/api/notifications', settingsWith(name))),
      ]);
      const isThere = (await installation.api.send(`/api/contacts/${name}`)).status === 200;
      const created = made.filter(({ status }) => status === 201).length;
      expect([removed?.status, isThere]).toEqual(created > 0 ? [400, true] : [200, false]);
      expect(made.filter(({ status }) => status !== 201).map(answered)).toEqual(
        Array.from({ length: 5 - created }, () => [400, 'contact_unknown', 'actions[0].contact']),
      );
    },
  );
});
