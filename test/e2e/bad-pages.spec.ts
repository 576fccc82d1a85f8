/** Pages that cannot be loaded and code that cannot be run: each ends in time, with its own reason, and harms nothing else. */
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Execution } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import * as sites from './kit/page-site.js';
import { byHand } from './kit/settings.js';

/** Who waits for the end of a page's time waits no longer than it takes; who does not is not disturbed by a busy machine. */
const impatient = { timeoutSeconds: 2, retry: { attempts: 1 } };
const once = { retry: { attempts: 1 } };

let installation: Installation;
let site: sites.PageSite;
/** Failures of one site make the product ask it less often; those that never answer have a site of their own. */
let deadSite: sites.PageSite;

beforeAll(async () => {
  [site, deadSite, installation] = await Promise.all([
    sites.startPageSite(),
    sites.startPageSite(),
    createInstallation(),
  ]);
  await installation.start();
  site.serve('/shop', sites.html('in stock'));
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), deadSite.close()]);
});

async function run(url: string, settings: object = {}): Promise<Execution> {
  const { id } = await installation.api.create({ ...byHand(url), fetch: once, ...settings });
  return installation.api.execute(id);
}

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a page that', () => {
  it('is down ends with connect_failed', async () => {
    const { status, outcome, error } = await run(`http://127.0.0.1:${await closedPort()}/`);
    expect([status, outcome, error?.reason]).toEqual(['failed', null, 'connect_failed']);
  });

  it('has no address ends with dns_failed', async () => {
    const { status, error } = await run('http://nowhere.invalid/');
    expect([status, error?.reason]).toEqual(['failed', 'dns_failed']);
  });

  it.each<[string, sites.Respond]>([
    ['never answers', sites.silent],
    ['trickles for ever', sites.trickling],
  ])('%s ends with timed_out, once its time is over', async (_, respond) => {
    deadSite.serve('/dead', respond);
    const { status, error, timings } = await run(deadSite.address('/dead'), { fetch: impatient });
    expect([status, error?.reason]).toEqual(['timed_out', 'timed_out']);
    expect(timings?.fetchMs).toBeGreaterThanOrEqual(1_900);
  });

  it.each<[string, string, sites.Respond]>([
    ['breaks the connection', 'connect_failed|protocol_error', sites.dropping],
    ['is huge', 'too_large', sites.huge(20 * 1_048_576)],
    ['redirects for ever', 'too_many_redirects', sites.redirectingForEver],
    ['redirects to where nobody may go', 'address_denied', sites.answering(302, '', { location: 'http://10.0.0.1/' })],
    [
      'redirects to a file',
      'protocol_error|address_denied',
      sites.answering(302, '', { location: 'file:///etc/passwd' }),
    ],
    ['is an image', 'bad_encoding', sites.binary],
    ['is gone', 'http_status', sites.answering(404, 'gone')],
    ['is broken', 'http_status', sites.answering(500, 'broken')],
    ['lies about its compression', 'bad_encoding', sites.answering(200, 'x', { 'content-encoding': 'gzip' })],
  ])('%s ends with %s', async (what, reasons, respond) => {
    const path = `/${what.replaceAll(' ', '-')}`;
    site.serve(path, respond);
    const { status, outcome, error, decision } = await run(site.address(path));
    expect([status, outcome]).toEqual(['failed', null]);
    expect(reasons.split('|')).toContain(error?.reason);
    expect(error?.message).not.toMatch(/ECONN|\bundici\b|\bat \S+:\d+/);
    expect(decision?.notify).toBe(false);
  });

  it('is not HTML is evaluated as text', async () => {
    site.serve('/plain', sites.answering(200, 'in stock: <7>', { 'content-type': 'text/plain' }));
    const { status, outcome } = await run(site.address('/plain'), {
      evaluationFunction: "return page.text === 'in stock: <7>';",
    });
    expect([status, outcome]).toEqual(['succeeded', true]);
  });

  it('is JSON is evaluated as JSON', async () => {
    site.serve('/price.json', sites.answering(200, '{"price": 12.5}', { 'content-type': 'application/json' }));
    const { outcome, values } = await run(site.address('/price.json'), {
      evaluationFunction: "const { price } = page.json(); page.report('value', price); return price < 20;",
    });
    expect([outcome, values]).toEqual([true, { value: 12.5 }]);
  });

  it('comes within the retries is loaded', async () => {
    let asked = 0;
    site.serve('/shaky', (request, response) => {
      asked += 1;
      (asked === 1 ? sites.answering(503) : sites.html('in stock'))(request, response);
    });
    const { outcome } = await run(site.address('/shaky'), { fetch: { retry: { attempts: 2, baseSeconds: 0.1 } } });
    expect([outcome, asked]).toEqual([true, 2]);
  });
});

describe('code that', () => {
  it.each<[string, string, string, RegExp]>([
    ['throws', 'threw', "console.log('before');\nthrow new Error('boom');", /boom/],
    ['reads what is not there', 'threw', "return document.querySelector('#price').textContent > 1;", /null/],
    ['returns a number', 'not_boolean', 'return 1;', /number/],
    ['returns nothing', 'not_boolean', 'const a = 1; return;', /nothing/],
    ['waits for what never comes', 'never_settled', 'return new Promise(() => {});', /./],
    ['loops for ever', 'cpu_limit', 'while (true) {}', /./],
    ['eats memory', 'memory_limit', 'const all = []; while (true) all.push(new Uint8Array(1000000).fill(1));', /./],
    ['recurses for ever', 'stack_limit', 'const f = (n) => f(n + 1) + 1; return f(0) > 0;', /./],
    ['talks without end', 'output_limit', "while (true) console.log('x'.repeat(1000));", /./],
    ['keeps too much', 'state_limit', "page.state.all = 'x'.repeat(20000); return true;", /./],
    ['asks for the network', 'threw', "return fetch('http://127.0.0.1/').ok;", /fetch/],
    ['asks for the host', 'threw', "return process.env.OWNER_PASSWORD !== '';", /process/],
  ])('%s ends with %s', async (_, reason, evaluationFunction, message) => {
    const { status, outcome, error } = await run(site.address('/shop'), { evaluationFunction });
    expect([status, outcome, error?.reason]).toEqual(['failed', null, reason]);
    expect(error?.message).toMatch(message);
  });

  it('throws is reported with its line and its logs', async () => {
    const { error, logs } = await run(site.address('/shop'), {
      evaluationFunction: "console.log('before', 7);\n\nthrow new Error('no price');",
    });
    expect([error?.reason, error?.line]).toEqual(['threw', 3]);
    expect(logs).toEqual([{ level: 'log', message: 'before 7' }]);
  });

  it('runs away delays no other task', async () => {
    const bad = { ...byHand(site.address('/shop')), evaluationFunction: 'while (true) {}' };
    const runaways = await Promise.all(Array.from({ length: 3 }, () => installation.api.create(bad)));
    const ending = runaways.map(({ id }) => installation.api.execute(id));
    const good = await run(site.address('/shop'));
    expect(good.outcome).toBe(true);
    for (const { error } of await Promise.all(ending)) expect(error?.reason).toBe('cpu_limit');
  });
});

describe('a task whose runs fail', () => {
  it('keeps its condition, becomes unhealthy at the threshold, and recovers with the first good run', async () => {
    site.serve('/ill', sites.html('in stock'));
    const { id } = await installation.api.create({
      ...byHand(site.address('/ill')),
      policy: { errorThreshold: 2 },
      fetch: once,
    });
    const outcomes: string[] = [];
    const seen = async () => {
      const { decision } = await installation.api.execute(id);
      const { condition, health } = await installation.api.task(id);
      outcomes.push(`${decision?.reason} ${condition} ${health}`);
    };
    await seen();
    site.serve('/ill', sites.answering(500));
    await seen();
    await seen();
    await seen();
    site.serve('/ill', sites.html('in stock'));
    await seen();
    expect(outcomes).toEqual([
      'no_actions true ok',
      'error_below_threshold true ok',
      'no_actions true error',
      'not_changed true error',
      'still_true true ok',
    ]);
  });
});
