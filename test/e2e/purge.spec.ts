/** A purged task: nothing of what it held can be read anywhere, and the audit still proves that it was there. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { auditEntry, auditVerification } from '#contracts/audit';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

/** What a user wrote, a page said, or a receiver answered: each once. */
const canariesOf = (name: string): Readonly<Record<string, string>> => ({
  name: `${name}-canary-name`,
  description: `${name}-canary-description`,
  page: `${name}-canary-page-text`,
  value: `${name}-canary-value`,
  log: `${name}-canary-log`,
  address: `${name}-canary-address`,
  code: `${name}-canary-code`,
  header: `${name}-canary-header`,
  shadow: `${name}-canary-shadow`,
  tag: `${name}-canary-tag`,
  changed: `${name}-canary-changed`,
});

let installation: Installation;
let site: PageSite;
let hooks: HookSink;

const send = (
  path: string,
  json?: unknown,
  method = 'POST',
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => installation.api.send(path, json === undefined ? { method, headers } : { method, json, headers });
const purge = (id: string): Promise<Reply> => send(`/api/notifications/${id}?purge=true`, undefined, 'DELETE');

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

/** A task that has run, notified, failed to deliver, been changed and watched by a candidate. */
async function madeTask(name: string): Promise<{ id: string; executionId: string; deliveryId: string }> {
  const canaries = canariesOf(name);
  site.serve(`/${canaries['address']}`, html(`in stock ${canaries['page']}`));
  const code = `/* ${canaries['code']} */ console.log('${canaries['log']}'); page.report('value', '${canaries['value']} ' + document.body.textContent); return true;`;
  const settings = {
    ...byHand(site.address(`/${canaries['address']}`)),
    name: canaries['name'],
    description: canaries['description'],
    evaluationFunction: code,
    tags: [canaries['tag']],
    fetch: { headers: { 'X-Header': canaries['header'] } },
    policy: { notifyOn: 'every_true' },
    actions: [{ type: 'webhook', config: { url: hooks.address(`/hook-${canaries['address']}`) } }],
  };
  const { id } = await installation.api.create(settings, { 'idempotency-key': `make-${name}` });
  const path = `/api/notifications/${id}`;
  await send(`${path}/shadow`, { evaluationFunction: `return '${canaries['shadow']}' === '';` }, 'PUT');
  const execution = await installation.api.execute(id, 30);
  await until('it is delivered', async () => {
    const [delivery] = await installation.api.deliveries(id);
    return delivery?.state === 'delivered' ? delivery : null;
  });
  await send(path, { description: canaries['changed'] }, 'PATCH');
  await send(`${path}/execute?wait=30`, {}, 'POST', { 'idempotency-key': `run-${name}` });
  const [delivery] = await installation.api.deliveries(id);
  return { id, executionId: execution.id, deliveryId: delivery?.id ?? '' };
}

/** Names of what holds one of them. */
async function found(name: string): Promise<string[]> {
  const stored = await installation.stored();
  return Object.entries(canariesOf(name)).flatMap(([what, canary]) =>
    stored.flatMap(({ name: file, bytes }) => (bytes.includes(canary) ? [`${what} in ${file}`] : [])),
  );
}

describe('a purged task', () => {
  it('leaves nothing of what it held in any file, view, message or stored answer', async () => {
    const { id, executionId, deliveryId } = await madeTask('one');
    // What is looked for can be found as long as it is there.
    expect((await found('one')).length).toBeGreaterThan(0);
    const reply = await purge(id);
    expect([reply.status, reply.body]).toEqual([200, { success: true, data: { id, deleted: true } }]);
    expect(await found('one')).toEqual([]);
    const paths = [
      `notifications/${id}`,
      `notifications/${id}/history`,
      `executions/${executionId}`,
      `deliveries/${deliveryId}`,
    ];
    for (const path of [...paths, `notifications/${id}/explain`, `executions/${executionId}/snapshot`]) {
      const gone = await installation.api.send(`/api/${path}`);
      expect([path, gone.status]).toEqual([path, 404]);
    }
    for (const path of ['restore', 'execute', 'acknowledge'].map((word) => `/api/notifications/${id}/${word}`)) {
      expect((await send(path, {})).status).toBe(404);
    }
    expect((await purge(id)).status).toBe(404);
    const repeated = await send(`/api/notifications/${id}/execute?wait=30`, {}, 'POST', {
      'idempotency-key': 'run-one',
    });
    expect(repeated.status).toBe(404);
  });

  it('stays in the audit as what was, and the chain holds', async () => {
    const { id } = await madeTask('two');
    await purge(id);
    const { body, text } = await installation.api.send(`/api/audit?resource=${id}&limit=100`);
    const entries = z.object({ data: z.array(auditEntry) }).parse(body).data;
    expect(entries.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['task.created', 'task.changed', 'task.archived', 'task.purged']),
    );
    expect(entries.filter(({ type, purged }) => type !== 'task.purged' && purged !== true)).toEqual([]);
    for (const canary of Object.values(canariesOf('two'))) expect(text).not.toContain(canary);
    const verified = await installation.api.send('/api/audit/verify');
    expect(z.object({ data: auditVerification }).parse(verified.body).data).toMatchObject({ intact: true });
    const checked = await installation.command(['audit', 'verify']);
    expect([checked.exitCode, checked.error]).toEqual([0, '']);
  });

  it('may have been archived before', async () => {
    const { id } = await madeTask('three');
    await send(`/api/notifications/${id}`, undefined, 'DELETE');
    expect((await purge(id)).status).toBe(200);
    expect(await found('three')).toEqual([]);
    expect((await send(`/api/notifications/${id}/restore`)).status).toBe(404);
  });

  it('needs the scope admin', async () => {
    const { id } = await madeTask('four');
    const { body } = await send('/api/keys', { name: 'CI', scopes: ['write'] });
    const { key } = z.object({ data: z.looseObject({ key: z.string() }) }).parse(body).data;
    const reply = await installation.api.send(`/api/notifications/${id}?purge=true`, { method: 'DELETE', key });
    expect([reply.status, errorOf(reply).reason]).toEqual([403, 'missing_scope']);
    expect((await installation.api.task(id)).name).toBe('four-canary-name');
  });

  it('is purged whole where everything is killed in the middle of it', async () => {
    const { id } = await madeTask('five');
    const asked = purge(id).catch(() => null);
    await installation.kill('SIGKILL');
    await asked;
    await installation.start();
    // Where the request did not get so far, it is asked again.
    await until('it is purged', async () => ((await purge(id)).status === 404 ? true : null));
    await until('nothing of it is left', async () => ((await found('five')).length === 0 ? true : null));
    await installation.kill('SIGTERM');
    await installation.start();
    expect(await found('five')).toEqual([]);
    const verified = await installation.api.send('/api/audit/verify');
    expect(z.object({ data: auditVerification }).parse(verified.body).data).toMatchObject({ intact: true });
  });

  it('is forgotten by every gateway and worker, whatever they had in memory: no answer tells of it, no message goes out', async () => {
    const due = z.object({ data: z.object({ nextAttemptAt: z.string() }) });
    const failing = async (name: string) => {
      const path = `/waiting-${name}`;
      hooks.reply(path, 503, 503, 503);
      site.serve(path, html('in stock'));
      const { id } = await installation.api.create({
        ...byHand(site.address(path)),
        name,
        evaluationFunction: 'return true;',
        actions: [{ type: 'webhook', config: { url: hooks.address(path) } }],
      });
      const execution = await installation.api.execute(id, 30);
      const delivery = await until('it is to be tried again', async () => {
        const [one] = await installation.api.deliveries(id);
        return one?.state === 'retrying' ? one : null;
      });
      const { body } = await installation.api.send(`/api/deliveries/${delivery.id}`);
      const dueMs = Date.parse(due.parse(body).data.nextAttemptAt);
      return {
        id,
        path,
        dueMs,
        paths: [`notifications/${id}`, `executions/${execution.id}`, `deliveries/${delivery.id}`],
      };
    };
    const waiting = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => failing(`six-${name}`)));
    const doors = [0, 1];
    const asked = ({ id, paths }: (typeof waiting)[number]) => [
      ...paths,
      `notifications/${id}/history`,
      `notifications/${id}/actions`,
    ];
    for (const one of waiting)
      for (const path of asked(one))
        for (const _ of doors) expect((await installation.api.send(`/api/${path}`)).status).toBe(200);
    await Promise.all(waiting.map(async ({ id }) => expect((await purge(id)).status).toBe(200)));
    // What went out before is no fault.
    const before = waiting.map(({ path }) => hooks.received(path).length);
    for (const one of waiting)
      for (const path of asked(one))
        for (const _ of doors) expect((await installation.api.send(`/api/${path}`)).status).toBe(404);
    // One that is due after all of them shows that their time has come.
    const last = Math.max(...waiting.map(({ dueMs }) => dueMs));
    const later = await until('one is due later', async () => {
      const one = await failing(`after-${crypto.randomUUID()}`);
      return one.dueMs > last ? one : null;
    });
    await until('it is tried again', () => (hooks.received(later.path).length > 1 ? true : null));
    expect(waiting.map(({ path }) => hooks.received(path).length)).toEqual(before);
  });

  it('is not brought back by a run that was under way when it was purged', async () => {
    const text = 'seven-canary-page-text';
    const held: (() => void)[] = [];
    site.serve('/seven', (request, response) => void held.push(() => html(text)(request, response)));
    const running = await Promise.all(
      [1, 2, 3, 4].map(async (number) => {
        const { id } = await installation.api.create({
          ...byHand(site.address('/seven')),
          name: `seven ${number}`,
          evaluationFunction: `page.report('value', document.querySelector('#stock').textContent); return true;`,
          actions: [{ type: 'webhook', config: { url: hooks.address('/seven') } }],
        });
        const { body } = await send(`/api/notifications/${id}/execute`, {});
        return { id, executionId: z.object({ data: z.object({ id: z.string() }) }).parse(body).data.id };
      }),
    );
    await until('all are loading', () => (held.length === running.length ? true : null));
    for (const { id } of running) expect((await purge(id)).status).toBe(200);
    site.serve('/seven', html('sold out'));
    for (const release of held) release();
    // One that begins now ends after them.
    const after = await installation.api.create({ ...byHand(site.address('/seven')), name: 'after seven' });
    await installation.api.execute(after.id, 30);
    await until('what is kept tells no more of them', async () => {
      const stored = await installation.stored();
      return stored.every(({ bytes }) => !bytes.includes(text)) ? true : null;
    });
    for (const { id, executionId } of running)
      for (const path of [`notifications/${id}`, `executions/${executionId}`, `executions/${executionId}/snapshot`])
        for (const _ of [0, 1])
          expect([path, (await installation.api.send(`/api/${path}`)).status]).toEqual([path, 404]);
    expect(hooks.received('/seven')).toEqual([]);
    const { text: executions } = await installation.api.send('/api/executions?limit=100');
    for (const { id } of running) expect(executions).not.toContain(id);
  });

  it('is not brought back by views that are made anew', async () => {
    const rebuilt = await installation.command(['rebuild', 'all']);
    expect([rebuilt.exitCode, rebuilt.error.includes('failed')]).toEqual([0, false]);
    for (const name of ['one', 'two', 'three', 'five']) expect([name, await found(name)]).toEqual([name, []]);
    const { text } = await installation.api.send('/api/executions?limit=100');
    expect(text).not.toContain('"status":"queued"');
  });
});
