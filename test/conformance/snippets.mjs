// `node test/conformance/snippets.mjs`: asks Chromium what each snippet of test/conformance/snippets answers, and writes the
// answers beside them. Nothing goes over any network: the pages are files here, served by interception.
import { writeFile } from 'node:fs/promises';
import { launchChromium } from './chromium.mjs';
import { expressionFor, readPages } from './snippets/pages.mjs';

const types = { html: 'text/html; charset=utf-8', json: 'application/json', text: 'text/plain; charset=utf-8' };

/** XML is shown by a viewer of the browser's own, so it is read by `DOMParser` on a blank page. */
async function openPage(browser, page) {
  if (page.kind !== 'xml') return browser.open({ url: page.url, body: page.body, type: types[page.kind] });
  await browser.open({ url: page.url, body: '<!doctype html><title></title>' });
}

/** Those that may change the page are functions that are called; they have it for themselves. */
const isAct = (snippet) => snippet.startsWith('(() =>');

async function answerOf(browser, page, snippet) {
  const code = `(async () => ${expressionFor(snippet)})()`;
  const onDocument =
    page.kind === 'xml'
      ? `((document) => ${code})(new DOMParser().parseFromString(${JSON.stringify(page.body)}, 'application/xml'))`
      : code;
  return JSON.parse(await browser.evaluate(onDocument));
}

const browser = await launchChromium();
try {
  let count = 0;
  for (const page of readPages()) {
    const answers = {};
    await openPage(browser, page);
    for (const snippet of page.snippets) {
      if (isAct(snippet)) await openPage(browser, page);
      answers[snippet] = await answerOf(browser, page, snippet);
      if (isAct(snippet)) await openPage(browser, page);
      count += 1;
    }
    await writeFile(page.answersUrl, `${JSON.stringify(answers, null, 2)}\n`);
  }
  const note = { browser: browser.product, snippets: count };
  await writeFile(new URL('./snippets/source.json', import.meta.url), `${JSON.stringify(note, null, 2)}\n`);
  process.stdout.write(`${count} answers of ${browser.product}\n`);
} finally {
  await browser.close();
}
