/** Pages are kept as they were evaluated, shown and replayed, and not loaded and evaluated again where nothing changed; in either mode. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite, type Respond } from './kit/page-site.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await site.close();
});

const settings = (path: string, evaluationFunction: string): object => ({
  name: 'Price',
  url: site.address(path),
  evaluationFunction,
  schedule: { type: 'manual' },
});
const price = `const price = page.number(document.querySelector('#stock')); page.report('value', price); return price < 10;`;
const snapshotOf = (id: string) => installation.api.send(`/api/executions/${id}/snapshot`);
const replayOf = (id: string) => installation.api.send(`/api/executions/${id}/replay`, { method: 'POST' });

/** Answers 304 to who knows the page already. */
function tagged(words: string, asked: (string | undefined)[]): Respond {
  const page = html(words);
  return (request, response) => {
    asked.push(request.headers['if-none-match']);
    response.setHeader('etag', '"v1"');
    if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end();
    else page(request, response);
  };
}

describe('an evaluated page', () => {
  it('is shown and replayed as it was after the page has changed', async () => {
    const { api } = installation;
    site.serve('/shop', html('7,50 €'));
    const { id } = await api.create(settings('/shop', price));
    const first = await api.execute(id);
    site.serve('/shop', html('12,00 €'));
    const second = await api.execute(id);
    expect([first.outcome, second.outcome]).toEqual([true, false]);
    expect((await snapshotOf(first.id)).text).toContain('<p id="stock">7,50 €</p>');
    const shown = await snapshotOf(second.id);
    expect(shown.text).toContain('<p id="stock">12,00 €</p>');
    expect(shown.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    expect((await replayOf(first.id)).body).toMatchObject({
      data: { same: true, outcome: true, values: { value: 7.5 }, differences: [] },
    });
    expect((await replayOf(second.id)).body).toMatchObject({ data: { same: true, outcome: false } });
  });

  it('is requested conditionally, and each run of an unchanged page is recorded with the same outcome', async () => {
    const { api } = installation;
    const asked: (string | undefined)[] = [];
    site.serve('/tagged', tagged('5 €', asked));
    const { id } = await api.create(settings('/tagged', price));
    const runs = [await api.execute(id), await api.execute(id), await api.execute(id)];
    expect(asked).toEqual([undefined, '"v1"', '"v1"']);
    expect(new Set(runs.map((run) => run.id)).size).toBe(3);
    const documents = await Promise.all(runs.map((run) => api.send(`/api/executions/${run.id}`)));
    for (const { body } of documents) expect(body).toMatchObject({ data: { outcome: true, values: { value: 5 } } });
    expect((await snapshotOf(runs[2]?.id ?? '')).text).toContain('5 €');
    expect((await replayOf(runs[2]?.id ?? '')).body).toMatchObject({ data: { same: true } });
  });

  it('is available to the next run as the previous text', async () => {
    const { api } = installation;
    const code = `page.report('before', /id="stock">([^<]*)/.exec(page.previous?.text ?? '')?.[1] ?? null); return true;`;
    site.serve('/news', html('one'));
    const { id } = await api.create(settings('/news', code));
    expect((await api.execute(id)).values).toEqual({ before: null });
    site.serve('/news', html('two'));
    expect((await api.execute(id)).values).toEqual({ before: 'one' });
    const third = await api.execute(id);
    expect(third.values).toEqual({ before: 'two' });
    expect((await replayOf(third.id)).body).toMatchObject({ data: { same: true, values: { before: 'two' } } });
  });

  it('survives kill -9, and is deleted when its task is archived', async () => {
    const { api } = installation;
    site.serve('/kept', html('3 €'));
    const { id } = await api.create(settings('/kept', price));
    const run = await api.execute(id);
    await installation.kill('SIGKILL');
    await installation.start();
    await until(
      'the execution is there again',
      async () => (await api.send(`/api/executions/${run.id}`)).status === 200,
    );
    expect((await snapshotOf(run.id)).text).toContain('3 €');
    expect((await replayOf(run.id)).body).toMatchObject({ data: { same: true } });
    expect((await api.send(`/api/notifications/${id}`, { method: 'DELETE' })).status).toBe(200);
    await until('the page is gone', async () => (await snapshotOf(run.id)).status === 404);
    expect(errorOf(await snapshotOf(run.id)).reason).toBe('snapshot_gone');
    expect(errorOf(await replayOf(run.id)).reason).toBe('snapshot_gone');
  });
});
