/** Running the product: refused settings, the one data folder, an orderly end, probes and pages, the first setup. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createApi, errorOf } from './kit/api.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerApiKey, ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { html, silent, startPageSite, type PageSite } from './kit/page-site.js';
import { refusedStart } from './kit/refused-start.js';
import { until } from './kit/until.js';
import { whenInStock } from './kit/settings.js';

const owner = { OWNER_EMAIL: ownerEmail, OWNER_PASSWORD: ownerPassword };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-e2e-operations-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('a start with wrong settings', () => {
  it('exits with 78 and names all of them at once, without a stack', async () => {
    const wrong = {
      PORT: '65536',
      MIN_INTERVAL_SECONDS: '0',
      ROLES: 'gateway,cook',
      EVENT_STORE_URL: 'mysql://localhost',
      SMTP_URL: 'mail.example.com',
      EGRESS_ALLOW: '10.0.0.0/8;192.168.0.0/16',
      SECRET_KEY: 'short',
      LOG_LEVEL: 'loud',
      OWNER_PASSWORD: 'short',
    };
    const { code, said } = await refusedStart(wrong, folder);
    for (const variable of Object.keys(wrong)) expect(said).toContain(`${variable}: `);
    expect(said).not.toMatch(/\n\s+at /);
    expect(code).toBe(78);
  });

  it.each<[string, string, Readonly<Record<string, string>>]>([
    ['ROLES', 'gateway', {}],
    ['OWNER_API_KEY', `${ownerApiKey.slice(0, -1)}A`, owner],
    ['OWNER_API_KEY', ownerApiKey, { ...owner, HOST: '0.0.0.0' }],
    ['NETWORK_PROBE_URL', 'http://127.0.0.1/', {}],
    ['OWNER_EMAIL', 'nobody', { OWNER_PASSWORD: ownerPassword }],
    ['DATA_DIR', '/proc/meerkat', {}],
    ['DATA_DIR', fileURLToPath(import.meta.url), {}],
    ['HOST', '192.0.2.1', {}],
  ])('exits with 78 and names %s (%s)', async (variable, value, others) => {
    const { code, said } = await refusedStart({ ...others, [variable]: value }, folder);
    expect(said).toContain(`${variable}: `);
    expect(said).not.toMatch(/\n\s+at /);
    expect(code).toBe(78);
  });

  it('never prints a secret that it rejects', async () => {
    const { said } = await refusedStart({ ...owner, OWNER_PASSWORD: 'hunter2-xyz', SECRET_KEY: 'hunter3-xyz' }, folder);
    expect(said).not.toMatch(/hunter[23]/);
  });
});

describe('an installation with its owner set by the environment', () => {
  let installation: Installation;
  let site: PageSite;
  let hooks: HookSink;

  beforeAll(async () => {
    [site, hooks, installation] = await Promise.all([startPageSite(), startHookSink(), createInstallation()]);
    await installation.start();
  });

  afterAll(async () => {
    await installation.remove();
    await Promise.all([site.close(), hooks.close()]);
  });

  it('answers liveness and readiness probes, by part', async () => {
    const alive = await installation.api.send('/healthz', { key: null });
    expect([alive.status, alive.body]).toEqual([200, { success: true, data: { status: 'alive' } }]);
    const ready = await installation.api.send('/readyz', { key: null });
    expect([ready.status, ready.body]).toEqual([
      200,
      {
        success: true,
        data: {
          status: 'ready',
          parts: { eventStore: 'ok', bus: 'ok', readStore: 'ok', views: 'ok', disk: 'ok', archive: 'ok' },
        },
      },
    ]);
  });

  it('starts without a warning of Node.js or of a package', () => {
    expect(installation.lines.filter((line) => /\b(?:Deprecation|\w*Warning)\b|--trace-warnings/.test(line))).toEqual(
      [],
    );
  });

  it('answers Prometheus in its own format', async () => {
    const { status, headers, text } = await installation.api.send('/metrics', { key: null });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toMatch(/^# TYPE \S+ (counter|gauge|histogram|summary)$/m);
    for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
      expect(line).toMatch(/^[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.]+(e[+-]?\d+)?|NaN|[+-]Inf)$/);
    }
  });

  it('introduces itself at / to browsers and terminals', async () => {
    for (const accept of ['text/html', '*/*']) {
      const { status, headers, text } = await installation.api.send('/', { key: null, headers: { accept } });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(accept === 'text/html' ? /^text\/html/ : /^text\/plain/);
      expect(text).toContain('Meerkat');
      expect(text).toContain('/docs');
      expect(text).not.toContain('/setup');
    }
  });

  it('serves the API document and its reader without other hosts', async () => {
    const document = await installation.api.send('/api/openapi.json', { key: null });
    expect(document.status).toBe(200);
    const { openapi, paths } = z
      .looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })
      .parse(document.body);
    expect(openapi).toMatch(/^3\.1/);
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/notifications', '/api/setup']));
    const reader = await installation.api.send('/docs', { key: null });
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-security-policy')).toContain("default-src 'none'");
    const sources = [...reader.text.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, source]) => source ?? []);
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      expect(source).toMatch(/^\/(?!\/)/);
      expect((await installation.api.send(source, { key: null })).status).toBe(200);
    }
  });

  it('answers 404 at /api/setup', async () => {
    const json = { setupToken: 'guess', organization: 'Mine', email: ownerEmail, password: ownerPassword };
    for (const asked of [json, {}, { ...json, password: 'short' }]) {
      const answer = await installation.api.send('/api/setup', { key: null, json: asked });
      expect([answer.status, errorOf(answer).reason]).toEqual([404, 'already_set_up']);
    }
  });

  it('fails on an address in use, naming PORT', async () => {
    const { code, said } = await refusedStart({ ...owner, PORT: new URL(installation.url).port }, folder);
    expect(said).toContain('PORT');
    expect(code).toBe(78);
  });

  it('on SIGTERM finishes the delivery in flight, and exits with 0', async () => {
    site.serve('/drained', html('in stock'));
    hooks.reply('/drained', 'hang');
    const { id } = await installation.api.create({
      ...whenInStock(site.address('/drained')),
      actions: [{ type: 'webhook', config: { url: hooks.address('/drained') } }],
    });
    await until('the webhook is in flight', () => hooks.received('/drained').length === 1);
    const before = installation.lines.length;
    const ending = installation.kill('SIGTERM');
    await until('it says that it is stopping', () =>
      installation.lines.slice(before).some((line) => line.includes('stopping')),
    );
    hooks.release('/drained', 200);
    expect(await ending).toEqual({ code: 0, signal: null });

    const types = (await installation.recordedEvents())
      .filter(({ stream }) => stream.startsWith('dlv-'))
      .map(({ type }) => type);
    expect(types).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);

    await installation.start();
    // Views may be behind for a moment: what was written down last is shown by who keeps them next.
    const states = async (): Promise<string> =>
      (await installation.api.deliveries(id)).map(({ state }) => state).join();
    await until('it is shown as delivered, once', async () => (await states()) === 'delivered');
    expect(hooks.received('/drained')).toHaveLength(1);
  });

  it('on SIGTERM finishes the current run, and leaves queued ones to the next start', async () => {
    const runs = 8;
    const answerMs = 1_000;
    site.serve('/turns', (request, response) => {
      setTimeout(() => html('in stock')(request, response), answerMs);
    });
    const { id } = await installation.api.create({
      ...whenInStock(site.address('/turns')),
      schedule: { type: 'manual' },
      actions: [],
    });
    const asked = await Promise.all(
      Array.from({ length: runs }, () => installation.api.send(`/api/notifications/${id}/execute`, { method: 'POST' })),
    );
    expect(asked.map(({ status }) => status)).toEqual(Array.from({ length: runs }, () => 202));
    await until('the page is asked for', () => site.loads('/turns') > 0);
    expect(await installation.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(site.loads('/turns')).toBeLessThan(runs);

    site.serve('/turns', html('in stock'));
    await installation.start();
    await until('all of them are done', async () => {
      const executions = await installation.api.executions(id);
      return executions.filter(({ status }) => status === 'succeeded').length === runs;
    });
  });

  it('on SIGTERM puts on record which run did not end in time, and begins it anew after the start', async () => {
    site.serve('/never', silent);
    const { id } = await installation.api.create({
      ...whenInStock(site.address('/never')),
      schedule: { type: 'manual' },
      fetch: { timeoutSeconds: 60, retry: { attempts: 1 } },
      actions: [],
    });
    await installation.api.send(`/api/notifications/${id}/execute`, { method: 'POST' });
    await until('the page is asked for', () => site.loads('/never') > 0);
    expect(await installation.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const [run] = (await installation.recordedEvents()).filter(({ type }) => type === 'run.cancelled');
    expect(run?.data).toMatchObject({ run: { taskId: id }, reason: 'shutdown' });

    site.serve('/never', html('in stock'));
    await installation.start();
    await until('it is done', async () => {
      const [execution] = await installation.api.executions(id);
      return execution?.status === 'succeeded';
    });
  });

  it('on SIGINT exits with 0 as well, without traces of a crash', async () => {
    expect(await installation.kill('SIGINT')).toEqual({ code: 0, signal: null });
    const before = installation.lines.length;
    await installation.start();
    expect(installation.lines.slice(before).join('\n')).not.toMatch(/did not end in order/);
  });
});

describe('the first start without an owner', () => {
  it('prints a link whose token sets up the instance once, with a working key', async () => {
    const installation = await createInstallation({
      settings: { OWNER_EMAIL: '', OWNER_PASSWORD: '', OWNER_API_KEY: '' },
    });
    try {
      await installation.start();
      const printed = (): string =>
        installation.lines.flatMap((line) => /(http:\S+\/setup#token=\S+)/.exec(line)?.[1] ?? []).at(-1) ?? '';
      const link = new URL(await until('the link is printed', printed));
      const page = await fetch(link);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);

      const refused = await installation.api.send('/api/notifications');
      expect(refused.status).toBe(401);

      const token = new URLSearchParams(link.hash.slice(1)).get('token') ?? '';
      const body = { setupToken: token, organization: 'Example Ltd', email: ownerEmail, password: ownerPassword };
      const wrong = await installation.api.send('/api/setup', { key: null, json: { ...body, setupToken: 'guess' } });
      expect([wrong.status, errorOf(wrong).reason]).toEqual([401, 'invalid_setup_token']);

      // The link outlives a restart: it is not the process that it belongs to.
      await installation.kill('SIGKILL');
      await installation.start();
      expect(new URL(await until('the link is printed again', printed)).hash).toBe(link.hash);

      const made = await installation.api.send('/api/setup', { key: null, json: body });
      expect(made.status).toBe(201);
      const { data } = z.object({ data: z.looseObject({ apiKey: z.string() }) }).parse(made.body);
      const again = await installation.api.send('/api/setup', { key: null, json: body });
      expect([again.status, errorOf(again).code]).toEqual([404, 'NOT_FOUND']);
      const after = await fetch(new URL('/setup', installation.url), { redirect: 'manual' });
      expect([after.status, after.headers.get('location')]).toEqual([303, '/sign-in']);

      const mine = createApi(() => installation.url, data.apiKey);
      const created = await mine.create({ ...whenInStock('https://example.com/'), status: 'paused' });
      await installation.kill('SIGKILL');
      const before = installation.lines.length;
      await installation.start();
      expect((await mine.task(created.id)).id).toBe(created.id);
      expect(installation.lines.slice(before).join('\n')).not.toContain('/setup');
    } finally {
      await installation.remove();
    }
  });
});
