/** Where pages are loaded and evaluated, in a thread of their own or beside everything else, makes no difference to what is found. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedInstallation } from '../kit/embedded.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { byHand } from '../kit/settings.js';

const evaluationFunction = `
  page.report('value', page.number(document.querySelector('.price')));
  return page.previous === null;`;

describe('pages in a thread of their own and without one', () => {
  let site: PageSite;

  beforeAll(async () => {
    site = await startPageSite();
  });
  afterAll(() => site.close());

  const found = async (thread: string) => {
    site.serve('/offers', html('<p class=price>1.299,00 €'));
    const { api, start, remove } = await embeddedInstallation({ settings: { PAGE_THREAD: thread } });
    try {
      await start();
      const { id } = await api.create({ ...byHand(site.address('/offers')), evaluationFunction });
      const first = await api.execute(id);
      site.serve('/offers', html('<p class=price>999,00 €'));
      const second = await api.execute(id);
      const missing = await api.create({ ...byHand(site.address('/nothing')), evaluationFunction });
      const failed = await api.execute(missing.id);
      return [first, second, failed].map(({ status, outcome, values, error, page }) => ({
        status,
        outcome,
        values,
        error: error?.reason,
        contentHash: page?.contentHash,
      }));
    } finally {
      await remove();
    }
  };

  it('give the same results', async () => {
    const beside = await found('false');
    expect(await found('true')).toEqual(beside);
    expect(beside).toMatchObject([
      { status: 'succeeded', outcome: true, values: { value: 1_299 } },
      { status: 'succeeded', outcome: false, values: { value: 999 } },
      { status: 'failed', error: 'http_status' },
    ]);
  });
});
