/** What becomes of messages on their way: sent again, held, gathered, taken on, in order, and all of it over a kill. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type DeliveryAnswer, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, verified, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;
let hooks: HookSink;
let mails: MailSink;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  mails = await startMailSink();
  installation = await createInstallation({ smtpUrl: mails.url });
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close(), mails.close()]);
});

const dataOf = ({ body }: Reply): Record<string, unknown> =>
  z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data;
const post = (path: string, json?: unknown, method = 'POST'): Promise<Reply> =>
  installation.api.send(path, json === undefined ? { method } : { method, json });
/** What the record says of a try that a kill cut off. */
const lostMessage =
  'The service stopped between sending and writing down the answer: nobody knows whether this try arrived.';
const everything = ['triggered', 'recovered', 'error'] as const;

interface Watched {
  readonly id: string;
  readonly action: string;
  /** Runs it by hand on a page that says so. */
  run(inStock: boolean): Promise<void>;
  deliveries(): Promise<DeliveryAnswer[]>;
  /** Of the hooks that came, oldest first. */
  types(): string[];
}

async function watch(path: string, action: object = {}, more: object = {}): Promise<Watched> {
  site.serve(path, html('sold out'));
  const made = await installation.api.create({
    ...byHand(site.address(path)),
    actions: [{ type: 'webhook', config: { url: hooks.address(path) }, on: everything, ...action }],
    ...more,
  });
  return {
    id: made.id,
    action: `/api/notifications/${made.id}/actions/${made.actions[0]?.id}`,
    async run(inStock) {
      site.serve(path, html(inStock ? 'in stock' : 'sold out'));
      await installation.api.execute(made.id, 30);
    },
    deliveries: () => installation.api.deliveries(made.id),
    types: () => hooks.received(path).map(({ body }) => z.object({ type: z.string() }).parse(JSON.parse(body)).type),
  };
}

/** The only delivery of that kind, once it is so. */
function untilIs(watched: Watched, type: string, ...states: readonly string[]): Promise<DeliveryAnswer> {
  return until(`${type} is ${states.join(' or ')}`, async () =>
    (await watched.deliveries()).find((one) => one.type === `notification.${type}` && states.includes(one.state)),
  );
}

describe('a delivery that failed', () => {
  it('is sent again under its id to where its action leads now', async () => {
    const watched = await watch('/resent');
    hooks.reply('/resent', 400);
    await watched.run(true);
    const failed = await untilIs(watched, 'triggered', 'failed');
    const config = { url: hooks.address('/mended') };
    expect((await post(watched.action, { config }, 'PATCH')).status).toBe(200);
    const again = await post(`/api/deliveries/${failed.id}/resend`);
    expect([again.status, dataOf(again)]).toEqual([200, expect.objectContaining({ id: failed.id, finishedAt: null })]);
    const arrived = await untilIs(watched, 'triggered', 'delivered');
    expect(arrived.attempts.map(({ response }) => response?.status)).toEqual([400, 200]);
    expect(hooks.received('/mended').map(({ id }) => id)).toEqual([failed.id]);
  });

  it('is recovered with all others of its time, and none twice', async () => {
    const from = new Date().toISOString();
    const both = [await watch('/one'), await watch('/two')];
    hooks.reply('/one', 404);
    hooks.reply('/two', 404);
    for (const each of both) {
      await each.run(true);
      await untilIs(each, 'triggered', 'failed');
    }
    const recovered = await post('/api/deliveries/recover', { from, status: 'failed', actionType: 'webhook' });
    expect([recovered.status, dataOf(recovered)]).toEqual([200, { resent: 2, left: false }]);
    for (const each of both) await untilIs(each, 'triggered', 'delivered');
    expect(dataOf(await post('/api/deliveries/recover', { from }))).toEqual({ resent: 0, left: false });
  });

  it.each([
    [{}, 'from_required'],
    [{ from: 'yesterday' }, 'from_invalid'],
    [{ from: '2026-11-24T00:00:00Z', to: '2026-11-23T00:00:00Z' }, 'to_too_early'],
    [{ from: '2026-11-24T00:00:00Z', status: 'delivered' }, 'status_invalid'],
    [{ from: '2026-11-24T00:00:00Z', colour: 1 }, 'unknown_field'],
  ])('is not recovered by %j: %s', async (body, reason) => {
    const refused = await post('/api/deliveries/recover', body);
    expect([refused.status, errorOf(refused).reason]).toEqual([400, reason]);
  });

  it('that nobody knows is 404', async () => {
    expect((await post('/api/deliveries/dlv_00000000000000000000000001/resend')).status).toBe(404);
  });
});

describe('messages of one action', () => {
  it('arrive in the order of their episode, the end after its trigger', async () => {
    const watched = await watch('/ordered');
    hooks.reply('/ordered', 503);
    await watched.run(true);
    await untilIs(watched, 'triggered', 'retrying');
    await watched.run(false);
    await untilIs(watched, 'recovered', 'delivered');
    expect(watched.types()).toEqual(['notification.triggered', 'notification.triggered', 'notification.recovered']);
  });

  it('are gathered into a digest that survives a kill', async () => {
    // Longer than a run and a start take on a machine that has much else to do.
    const watched = await watch('/gathered', { digestSeconds: 20 });
    await watched.run(true);
    await untilIs(watched, 'triggered', 'pending');
    await watched.run(false);
    await installation.kill('SIGKILL');
    await installation.start();
    await untilIs(watched, 'digest', 'delivered');
    expect(await untilIs(watched, 'recovered', 'suppressed')).toMatchObject({ reason: 'in_digest', attempts: [] });
    const [sent, ...others] = hooks.received('/gathered');
    expect(others).toEqual([]);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      type: 'notification.digest',
      data: { items: [{ execution: { outcome: true } }, { execution: { outcome: false } }] },
    });
  });

  it('go as they are where one is alone when its time is over', async () => {
    const watched = await watch('/alone', { digestSeconds: 1 });
    await watched.run(true);
    await until('one alone goes as it is', () => watched.types().includes('notification.triggered'));
  });
});

describe('an escalation', () => {
  it('goes out once its time is over and the condition still holds', async () => {
    const watched = await watch('/escalated', { afterSeconds: 1 });
    await watched.run(true);
    expect(await untilIs(watched, 'triggered', 'delivered')).toMatchObject({ attempts: [{ error: null }] });
  });

  it('is dropped with its recovery where the condition is over before', async () => {
    const watched = await watch('/calmed', { afterSeconds: 3_600 });
    await watched.run(true);
    await untilIs(watched, 'triggered', 'pending');
    await watched.run(false);
    for (const kind of ['recovered', 'triggered']) {
      expect(await untilIs(watched, kind, 'suppressed')).toMatchObject({ reason: 'over', attempts: [] });
    }
    expect(hooks.received('/calmed')).toEqual([]);
  });

  it('is not sent where somebody has taken it on', async () => {
    const watched = await watch('/taken', { afterSeconds: 2 });
    await watched.run(true);
    const taken = await post(`/api/notifications/${watched.id}/acknowledge`, { note: 'Anna looks at it.' });
    expect([taken.status, dataOf(taken)['acknowledged']]).toEqual([
      200,
      {
        at: expect.stringMatching(/Z$/),
        by: expect.stringMatching(/^key:key_/),
        until: null,
        note: 'Anna looks at it.',
      },
    ]);
    expect(await untilIs(watched, 'triggered', 'suppressed')).toMatchObject({ reason: 'acknowledged' });
    await watched.run(false);
    expect(dataOf(await installation.api.send(`/api/notifications/${watched.id}`))['acknowledged']).toBeNull();
    const nothing = await post(`/api/notifications/${watched.id}/acknowledge`);
    expect([nothing.status, errorOf(nothing).reason]).toEqual([404, 'nothing_open']);
    const past = await post(`/api/notifications/${watched.id}/acknowledge`, { until: '2026-01-01T00:00:00Z' });
    expect([past.status, errorOf(past).reason]).toEqual([400, 'until_past']);
  });
});

describe('the link that acknowledges', () => {
  const links = z.object({ data: z.object({ links: z.object({ acknowledge: z.string() }) }) });

  it('opens a page that changes nothing until its button is pressed', async () => {
    const watched = await watch('/linked');
    await watched.run(true);
    await untilIs(watched, 'triggered', 'delivered');
    const { acknowledge } = links.parse(JSON.parse(hooks.received('/linked')[0]?.body ?? '')).data.links;
    const { pathname } = new URL(acknowledge);
    const opened = await installation.api.send(pathname, { key: null });
    expect([opened.status, opened.text]).toEqual([200, expect.stringContaining('<button')]);
    const state = async () => dataOf(await installation.api.send(`/api/notifications/${watched.id}`))['acknowledged'];
    expect(await state()).toBeNull();
    const pressed = await installation.api.send(pathname, { method: 'POST', key: null });
    expect(pressed.status).toBe(200);
    expect(await state()).toMatchObject({ by: expect.stringMatching(/^link:act_/), until: null, note: null });
    expect((await installation.api.send(`${pathname.slice(0, -1)}_`, { key: null })).status).toBe(404);
    await watched.run(false);
    expect((await installation.api.send(pathname, { key: null })).text).toContain('It is over');
  });

  it('ends with the action whose message it came in, and names no address of the page that is watched', async () => {
    const watched = await watch('/dismissed', {}, { name: 'Wanted' });
    await watched.run(true);
    await untilIs(watched, 'triggered', 'delivered');
    const { acknowledge } = links.parse(JSON.parse(hooks.received('/dismissed')[0]?.body ?? '')).data.links;
    const { pathname } = new URL(acknowledge);
    const before = await installation.api.send(pathname, { key: null });
    expect([before.status, before.text]).toEqual([200, expect.stringContaining('Wanted')]);
    expect(before.text).not.toContain(site.address('/dismissed'));
    expect((await installation.api.send(watched.action, { method: 'DELETE' })).status).toBe(200);
    const renamed = await post(`/api/notifications/${watched.id}`, { name: 'Later name' }, 'PATCH');
    expect(renamed.status).toBe(200);
    for (const method of ['GET', 'POST']) {
      const after = await installation.api.send(pathname, { method, key: null });
      expect([after.status, after.text]).toEqual([404, expect.not.stringContaining('Later name')]);
    }
    expect(dataOf(await installation.api.send(`/api/notifications/${watched.id}`))['acknowledged']).toBeNull();
  });

  it('stands in no message of a recovery', async () => {
    const last = hooks.received('/linked').at(-1);
    await until('the recovery has come', () => hooks.received('/linked').length === 2);
    expect(JSON.parse(hooks.received('/linked').at(-1)?.body ?? '')).toMatchObject({
      type: 'notification.recovered',
      data: { links: expect.not.objectContaining({ acknowledge: expect.anything() }) },
    });
    expect(last).toBeDefined();
  });
});

describe('a recipient of mails', () => {
  it('stops them by the link in the header, which opening does not, and has them again', async () => {
    site.serve('/mailed', html('sold out'));
    const to = ['anna@example.com', 'ben@example.com'];
    const made = await installation.api.create({
      ...byHand(site.address('/mailed')),
      actions: [{ type: 'email', config: { to, subject: 'In stock' } }],
    });
    const run = async (): Promise<void> => {
      site.serve('/mailed', html('in stock'));
      await installation.api.execute(made.id, 30, { force: true });
    };
    const mailsTo = (address: string) => mails.taken().filter(({ recipients }) => recipients.includes(address));
    await run();
    await until('both have it', () => mailsTo('anna@example.com').length + mailsTo('ben@example.com').length === 2);
    const raw = mailsTo('anna@example.com')[0]?.raw.replace(/\r\n[ \t]+/g, ' ') ?? '';
    const { pathname } = new URL(/^List-Unsubscribe: <([^>]+)>/m.exec(raw)?.[1] ?? '');
    const opened = await installation.api.send(pathname, { key: null });
    expect([opened.status, opened.text]).toEqual([200, expect.stringContaining('a…@example.com')]);
    await run();
    await until('opening stops nothing', () => mailsTo('anna@example.com').length === 2);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const stop = { method: 'POST', key: null, text: 'List-Unsubscribe=One-Click', headers };
    expect((await installation.api.send(pathname, stop)).status).toBe(200);
    await run();
    await until('the other has it', () => mailsTo('ben@example.com').length === 3);
    await until('it has arrived', async () =>
      (await installation.api.deliveries(made.id)).every(({ state }) => state === 'delivered'),
    );
    expect(mailsTo('anna@example.com')).toHaveLength(2);
    await installation.api.send(pathname, { ...stop, text: 'again=yes' });
    await run();
    await until('both have it again', () => mailsTo('anna@example.com').length === 3);
    const { text } = await installation.api.send(`/api/notifications/${made.id}/history`);
    expect(text).toContain('task.recipient_left');
    expect(text).not.toContain('anna@example.com');
  });
});

describe('a contact', () => {
  it('is where actions go that name it, and changes for all of them in one place', async () => {
    const made = await post('/api/contacts', { name: 'ops', type: 'webhook', config: { url: hooks.address('/ops') } });
    expect([made.status, made.headers.get('location')]).toEqual([201, '/api/contacts/ops']);
    expect(dataOf(made)).toMatchObject({ name: 'ops', config: { secret: expect.stringMatching(/^whsec_/) } });
    const twice = await post('/api/contacts', { name: 'ops', type: 'webhook', config: { url: hooks.address('/x') } });
    expect([twice.status, errorOf(twice).reason]).toEqual([409, 'already_exists']);
    site.serve('/contacted', html('sold out'));
    const task = await post('/api/notifications', {
      ...byHand(site.address('/contacted')),
      actions: [{ contact: 'ops', on: everything }],
    });
    expect([task.status, dataOf(task)['actions']]).toEqual([
      201,
      [{ ...(dataOf(task)['actions'] as object[])[0], contact: 'ops' }],
    ]);
    const id = String(dataOf(task)['id']);
    site.serve('/contacted', html('in stock'));
    await installation.api.execute(id, 30);
    await until('the contact has it', () => hooks.received('/ops').length === 1);
    const patched = await post('/api/contacts/ops', { config: { url: hooks.address('/ops-now') } }, 'PATCH');
    expect([patched.status, dataOf(patched)]).toEqual([
      200,
      expect.objectContaining({ config: expect.objectContaining({ secret: '********' }) }),
    ]);
    site.serve('/contacted', html('sold out'));
    await installation.api.execute(id, 30);
    await until('the contact has the end elsewhere', () => hooks.received('/ops-now').length === 1);
    // The view may be a moment behind what was sent.
    await until('its deliveries have the end', async () => {
      const [last] = await installation.api.deliveries(id);
      return last?.actionType === 'webhook' && last.type === 'notification.recovered';
    });
    const rotated = await post('/api/contacts/ops/rotate-secret', { overlapSeconds: 3_600 });
    const renewed = (dataOf(rotated)['config'] as { readonly secret: string }).secret;
    expect([rotated.status, renewed]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    site.serve('/contacted', html('in stock'));
    await installation.api.execute(id, 30);
    await until('the contact has it again', () => hooks.received('/ops-now').length === 2);
    const [, signed] = hooks.received('/ops-now');
    expect(signed?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    if (signed !== undefined) expect(verified(signed, renewed).type).toBe('notification.triggered');
    const used = await installation.api.send('/api/contacts/ops', { method: 'DELETE' });
    expect([used.status, errorOf(used).reason, errorOf(used).details?.[0]?.message]).toEqual([400, 'in_use', id]);
    await installation.api.send(`/api/notifications/${id}`, { method: 'DELETE' });
    const gone = await installation.api.send('/api/contacts/ops', { method: 'DELETE' });
    expect([gone.status, dataOf(gone)]).toEqual([200, { name: 'ops', deleted: true }]);
    expect((await installation.api.send('/api/contacts/ops')).status).toBe(404);
  });

  it.each([
    [{ contact: 'nobody' }, 'contact_unknown'],
    [{ contact: 'Ops' }, 'contact_invalid'],
    [{ contact: 'nobody', config: {} }, 'unknown_field'],
  ])('is not named by %j: %s', async (action, reason) => {
    const refused = await post('/api/notifications', { ...byHand(site.address('/contacted')), actions: [action] });
    expect([refused.status, errorOf(refused).reason]).toEqual([400, expect.stringContaining(reason)]);
  });
});

describe('a secret that is rotated', () => {
  it('signs what was decided before at its next try', async () => {
    const watched = await watch('/rotated');
    hooks.reply('/rotated', 503);
    await watched.run(true);
    await untilIs(watched, 'triggered', 'retrying');
    const rotated = await post(`${watched.action}/rotate-secret`, { overlapSeconds: 0 });
    const { secret } = z.object({ secret: z.string() }).parse(dataOf(rotated)['config']);
    await untilIs(watched, 'triggered', 'delivered');
    const [first, second] = hooks.received('/rotated');
    if (first === undefined || second === undefined) throw new Error('nothing came');
    expect(() => verified(first, secret)).toThrow('No matching signature found');
    expect(verified(second, secret)).toMatchObject({ type: 'notification.triggered' });
  });
});

describe('a try that was cut off by a kill', () => {
  it('is made again under its id where its action does not say otherwise, and the record says why', async () => {
    const watched = await watch('/repeated');
    hooks.reply('/repeated', 'hang');
    await watched.run(true);
    await until('the hook has come', () => hooks.received('/repeated').length === 1);
    await installation.kill('SIGKILL');
    await installation.start();
    const delivery = await untilIs(watched, 'triggered', 'delivered');
    expect(delivery).toMatchObject({ reason: null, nextAttemptAt: null });
    expect(delivery.attempts).toMatchObject([
      { response: null, error: { reason: 'attempt_lost', message: lostMessage } },
      { response: { status: 200 }, error: null },
    ]);
    const [first, second, ...others] = hooks.received('/repeated');
    expect([first?.id, second?.id, second?.body, others]).toEqual([delivery.id, delivery.id, first?.body, []]);
  });

  it('leaves the delivery to a person where its action does not want it repeated', async () => {
    const watched = await watch('/held', { retryUnknown: false });
    hooks.reply('/held', 'hang');
    await watched.run(true);
    await until('the hook has come', () => hooks.received('/held').length === 1);
    await installation.kill('SIGKILL');
    await installation.start();
    const unknown = await untilIs(watched, 'triggered', 'unknown');
    expect(unknown).toMatchObject({ reason: 'attempt_lost', nextAttemptAt: null, finishedAt: null });
    expect(unknown.attempts).toMatchObject([
      { response: null, error: { reason: 'attempt_lost', message: lostMessage } },
    ]);
    // Neither a later start nor what is recovered without being named sends it.
    await installation.kill('SIGKILL');
    await installation.start();
    const from = { from: unknown.createdAt };
    expect(dataOf(await post('/api/deliveries/recover', from))).toEqual({ resent: 0, left: false });
    await watched.run(false);
    await watched.run(true);
    expect(hooks.received('/held').filter(({ id }) => id === unknown.id)).toHaveLength(1);
    await post(`/api/deliveries/${unknown.id}/resend`);
    await until('it is delivered', async () =>
      (await watched.deliveries()).find(({ id, state }) => id === unknown.id && state === 'delivered'),
    );
    expect(hooks.received('/held').filter(({ id }) => id === unknown.id)).toHaveLength(2);
  });

  it('leaves many to a person, who has them all sent by one request', async () => {
    const paths = ['/held-1', '/held-2', '/held-3'];
    const all = await Promise.all(paths.map((path) => watch(path, { retryUnknown: false })));
    for (const path of paths) hooks.reply(path, 'hang');
    await Promise.all(all.map((watched) => watched.run(true)));
    await until('all hooks have come', () => paths.every((path) => hooks.received(path).length === 1));
    await installation.kill('SIGKILL');
    await installation.start();
    const unknown = await Promise.all(all.map((watched) => untilIs(watched, 'triggered', 'unknown')));
    const from = unknown.map(({ createdAt }) => createdAt).toSorted()[0];
    const recovered = await post('/api/deliveries/recover', { from, status: 'unknown' });
    expect(dataOf(recovered)).toEqual({ resent: paths.length, left: false });
    await Promise.all(all.map((watched) => untilIs(watched, 'triggered', 'delivered')));
    for (const [n, path] of paths.entries()) {
      expect(hooks.received(path).map(({ id }) => id)).toEqual([unknown[n]?.id, unknown[n]?.id]);
    }
  });
});
