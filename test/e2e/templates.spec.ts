/** Templates of a webhook's body with what hostile pages say: the receiver reads the document that its writer meant. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;
let hooks: HookSink;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

const document = String.raw`{
  "place": {{ value }},
  "list": [{{ value }}, {{ values.none }}],
  "inside": "It says \"{{ value }}\".",
  "{{ value }}": true,
  "nested": "{\"inside\": \"{{ value }}\", \"place\": {{ value }}, \"all\": {{ values | json }}}"
}`;
const sent = z.object({ nested: z.string() }).catchall(z.json());

describe('the body of a webhook that is a document of JSON', () => {
  it.each([
    ['closes', '1, "admin": true'],
    ['quotes', '", "admin": true, "x": "'],
    ['escapes', '\\" \\'],
    ['is JSON', '{"admin": true}'],
    ['says', 'in stock'],
  ])('is the one that its writer meant, where a page %s: %s', async (name, said) => {
    const path = `/${name.replace(' ', '-')}`;
    site.serve(path, html(said.replaceAll('"', '&quot;')));
    const { id } = await installation.api.create({
      ...byHand(site.address(path)),
      evaluationFunction: "page.report('value', document.querySelector('#stock').textContent); return true",
      actions: [{ type: 'webhook', config: { url: hooks.address(path), body: document } }],
    });
    await installation.api.execute(id, 30);
    const hook = await until('the webhook comes', () => hooks.received(path)[0]);
    expect(hook.headers['content-type']).toBe('application/json');
    const { nested, ...rest } = sent.parse(JSON.parse(hook.body));
    expect(rest).toEqual({ place: said, list: [said, null], inside: `It says "${said}".`, [said]: true });
    expect(JSON.parse(nested)).toEqual({ inside: said, place: said, all: { value: said } });
  });
});
