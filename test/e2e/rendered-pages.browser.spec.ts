/** Tasks whose pages a browser renders, through the built product, in either mode. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveHttps, testCertificate, type Loopback } from '#outbound/loopback.contract';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';

const shop = `<div id="root"></div><p style="display:none" class="old">99 €</p><script>
  root.innerHTML = '<h2 class="price">' + 39 + ' €</h2>';
</script>`;
const login = `<form action="/account"><input name="word" type="password"><button>In</button></form>`;

let installation: Installation;
let without: Installation;
let site: PageSite;
let vouchedByNobody: Loopback;

beforeAll(async () => {
  site = await startPageSite();
  vouchedByNobody = await serveHttps((_request, response) =>
    response.setHeader('content-type', 'text/html').end(`<meta charset="utf-8">${shop}`),
  );
  site.serve('/shop', html(shop));
  site.serve('/login', html(login));
  site.serve('/account', (request, response) => {
    const isRight = request.url === '/account?word=canary-word';
    html(isRight ? '<b id="in">inside</b>' : 'outside')(request, response);
  });
  const asRoot = process.getuid?.() === 0 ? { BROWSER_NO_SANDBOX: 'true' } : {};
  installation = await createInstallation({ settings: { BROWSER: process.env['CHROMIUM'] ?? 'auto', ...asRoot } });
  without = await createInstallation({ settings: { BROWSER: 'off' } });
  await installation.start();
}, 120_000);
afterAll(async () => {
  await Promise.all([installation.remove(), without.remove()]);
  await Promise.all([site.close(), vouchedByNobody.close()]);
}, 60_000);

const fetch = { mode: 'browser', browser: { waitFor: '.price' } };

function task(evaluationFunction: string, more: object = {}): object {
  const base = { name: 'Price', url: site.address('/shop'), schedule: { type: 'manual' }, fetch };
  return { ...base, evaluationFunction, ...more };
}

const post = (path: string, json: object): Promise<Reply> => installation.api.send(path, { method: 'POST', json });

describe('a task with a rendered page', () => {
  it('is evaluated on what the scripts of the page made, and replays the same without a browser', async () => {
    const code = `page.report('value', page.number(document.querySelector('.price'))); return page.visible('.price') && !page.visible('.old');`;
    const { id } = await installation.api.create(task(code));
    const run = await installation.api.execute(id, 60);
    expect(run).toMatchObject({ status: 'succeeded', outcome: true, values: { value: 39 } });
    expect(await post(`/api/executions/${run.id}/replay`, {})).toMatchObject({
      status: 200,
      body: { data: { same: true, outcome: true } },
    });
  }, 120_000);

  it('is trusted by fetch.tls as a plain one is, and shows its certificate to the code', async () => {
    const code = 'return page.certificate.subject === "CN=localhost" && page.certificate.daysLeft > 0';
    const tried = (tls: object | null) =>
      post('/api/notifications/test', task(code, { url: vouchedByNobody.origin, fetch: { ...fetch, tls } }));
    expect(await tried(null)).toMatchObject({ body: { data: { error: { reason: 'tls_failed' } } } });
    expect(await tried({ ca: testCertificate })).toMatchObject({ body: { data: { outcome: true, error: null } } });
  }, 120_000);

  it('is looked at with the place of each element and a picture', async () => {
    const { status, body } = await post('/api/pages/preview', { url: site.address('/shop'), fetch });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        document: expect.not.stringContaining('data-box'),
        screenshot: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        elements: expect.arrayContaining([
          expect.objectContaining({ text: '39 €', box: expect.objectContaining({ width: expect.any(Number) }) }),
        ]),
        error: null,
      },
    });
    expect(JSON.stringify(body)).not.toContain('"text":"99 €"');
  }, 120_000);

  const screenshotOf = (id: unknown): Promise<Reply> =>
    installation.api.send(`/api/executions/${String(id)}/screenshot`);

  it('has a screenshot where something changed or failed, and where it is asked for, until it is purged', async () => {
    const kept = async (code: string, browser: object) => {
      const { id } = await installation.api.create(task(code, { fetch: { mode: 'browser', browser } }));
      const runs = [];
      for (let round = 0; round < 2; round += 1) {
        const run = await installation.api.execute(id, 60);
        const { status, headers, text } = await screenshotOf(run.id);
        runs.push(status === 200 ? [headers.get('content-type'), text.slice(1, 4)] : status);
      }
      return { id, runs };
    };
    const png = ['image/png', 'PNG'];
    expect((await kept('return true', {})).runs).toEqual([png, 404]);
    expect((await kept('return true', { screenshot: 'never' })).runs).toEqual([404, 404]);
    expect((await kept('throw new Error("no")', {})).runs).toEqual([png, png]);
    const failing = {
      screenshot: 'transition',
      steps: [
        { do: 'wait', value: '0' },
        { do: 'click', selector: '#none' },
      ],
    };
    const always = await kept('return true', { screenshot: 'always' });
    expect(always.runs).toEqual([png, png]);
    const failed = await installation.api.execute(
      (
        await installation.api.create(
          task('return true', { fetch: { mode: 'browser', timeoutSeconds: 5, browser: failing } }),
        )
      ).id,
      60,
    );
    expect(failed).toMatchObject({ status: 'failed', error: { reason: 'step_failed' } });
    expect((await screenshotOf(failed.id)).status).toBe(200);
    const run = await installation.api.execute(always.id, 60);
    await installation.api.send(`/api/notifications/${always.id}?purge=true`, { method: 'DELETE' });
    expect((await screenshotOf(run.id)).status).toBe(404);
  }, 180_000);

  it('keeps what is filled in to itself, also where it is saved again', async () => {
    const steps = [
      { do: 'fill', selector: '[name=word]', value: 'canary-word' },
      { do: 'click', selector: 'button' },
    ];
    const settings = task('console.log(page.finalUrl); return document.querySelector("#in") !== null', {
      url: site.address('/login'),
      fetch: { mode: 'browser', browser: { steps } },
    });
    const { id } = await installation.api.create(settings);
    const shown = await installation.api.send(`/api/notifications/${id}`);
    expect(shown.body).toMatchObject({ data: { fetch: { browser: { steps: [{ value: '********' }, {}] } } } });
    const reversed = {
      steps: [{ do: 'wait', selector: 'form' }, ...steps.map((step) => ({ ...step, value: step.value && '********' }))],
    };
    const patched = await installation.api.send(`/api/notifications/${id}`, {
      method: 'PATCH',
      json: { fetch: { mode: 'browser', browser: reversed } },
    });
    expect(patched.status).toBe(200);
    const run = await installation.api.execute(id, 60);
    expect(run).toMatchObject({ outcome: true, page: { finalUrl: site.address('/account?word=********') } });
    expect((await installation.stored()).some(({ bytes }) => bytes.includes('canary-word'))).toBe(false);
    const elsewhere = await installation.api.send(`/api/notifications/${id}`, {
      method: 'PATCH',
      json: { url: 'https://other.example/' },
    });
    expect(errorOf(elsewhere)).toMatchObject({ reason: 'secret_required' });
    const history = await installation.api.send(`/api/notifications/${id}/history`);
    expect(JSON.stringify(history.body)).not.toContain('canary-word');
  }, 120_000);

  it('signs in once where it keeps its session, shares it with no other task, and signs in again where the way in changes', async () => {
    let signIns = 0;
    site.serve('/members', (request, response) => {
      if (/member=ada/.test(request.headers.cookie ?? '')) return html('<p id="balance">12 €</p>')(request, response);
      html(login.replace('/account', '/come-in'))(request, response);
    });
    site.serve('/come-in', (_request, response) => {
      signIns += 1;
      response.writeHead(302, { location: '/members', 'set-cookie': 'member=ada; Path=/; HttpOnly' }).end();
    });
    const steps = [
      { do: 'fill', selector: '[name=word]', value: 'canary-in' },
      { do: 'click', selector: 'button' },
    ];
    const browser = { steps, keepSession: true, waitFor: '#balance' };
    const settings = { url: site.address('/members'), fetch: { mode: 'browser', browser } };
    const code = `return document.querySelector('#balance').textContent === '12 €'`;
    const { id } = await installation.api.create(task(code, settings));
    const other = await installation.api.create(task(code, settings));
    const run = async (taskId: string) => {
      expect(await installation.api.execute(taskId, 60)).toMatchObject({ status: 'succeeded', outcome: true });
      return signIns;
    };
    expect([await run(id), await run(id), await run(other.id), await run(other.id)]).toEqual([1, 1, 2, 2]);
    expect(
      (await installation.stored()).some(({ bytes }) => bytes.includes('member=ada') || bytes.includes('canary-in')),
    ).toBe(false);
    await installation.kill('SIGKILL');
    await installation.start();
    expect(await run(id)).toBe(2);
    const changed = [{ ...steps[0], value: 'another word' }, steps[1]];
    const patched = await installation.api.send(`/api/notifications/${id}`, {
      method: 'PATCH',
      json: { fetch: { mode: 'browser', browser: { ...browser, steps: changed } } },
    });
    expect(patched.status).toBe(200);
    expect([await run(id), await run(id)]).toEqual([3, 3]);
  }, 180_000);

  it('says what to do where a page was not rendered', async () => {
    const plain = task('return page.visible("h1")', { fetch: { mode: 'http' } });
    expect(await post('/api/notifications/test', plain)).toMatchObject({
      body: { data: { status: 'failed', error: { reason: 'not_rendered' } } },
    });
  });

  it('is refused where there is no browser, naming what to set', async () => {
    await without.start();
    const refused = await without.api.send('/api/notifications', { method: 'POST', json: task('return true') });
    expect(errorOf(refused)).toMatchObject({ reason: 'browser_unavailable' });
    expect(JSON.stringify(refused.body)).toContain('BROWSER');
  }, 60_000);
});
