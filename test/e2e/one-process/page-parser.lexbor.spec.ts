/** Which page parser an installation takes, and that both read a page alike. Needs what `npm run build:parser` makes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedInstallation } from '../kit/embedded.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { byHand } from '../kit/settings.js';

const page = html(
  '<p>Offers <b>of <i>today</b></i><table><tr><td class=price>1.299,00 €<td>in stock</table><template><p>not seen</p></template>',
);
const evaluationFunction = `
  page.report('markup', document.body.innerHTML);
  page.report('value', page.number(document.querySelector('table > tbody > tr > td.price')));
  return document.querySelector('table p, template p') === null;`;

describe('the page parser', () => {
  let site: PageSite;

  beforeAll(async () => {
    site = await startPageSite();
    site.serve('/offers', page);
  });
  afterAll(() => site.close());

  const evaluateBy = async (settings: Readonly<Record<string, string>>) => {
    const installation = embeddedInstallation({ settings });
    const { api, start, remove } = await installation;
    try {
      await start();
      const { text } = await api.send('/metrics', { key: null });
      const { id } = await api.create({ ...byHand(site.address('/offers')), evaluationFunction });
      const { outcome, values, error } = await api.execute(id);
      return {
        parser: /meerkat_page_parser_info\{parser="(\w+)"\} 1/.exec(text)?.[1],
        result: { outcome, values, error },
      };
    } finally {
      await remove();
    }
  };

  it('is the fast one where it is built, unless set otherwise, and both give the same answers', async () => {
    const byDefault = await evaluateBy({});
    const chosen = await evaluateBy({ PAGE_PARSER: 'parse5' });
    expect([byDefault.parser, chosen.parser]).toEqual(['lexbor', 'parse5']);
    expect(byDefault.result).toEqual(chosen.result);
    expect(byDefault.result).toMatchObject({ outcome: true, values: { value: 1299 }, error: null });
  });
});
