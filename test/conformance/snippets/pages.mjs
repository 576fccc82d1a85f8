// The pages of this folder, the snippets that are run on them, and where the answers of a browser stand.
import { readdirSync, readFileSync } from 'node:fs';

const kinds = { html: 'html', xml: 'xml', json: 'json', text: 'text' };

/** For each page `name.kind` the snippets of `name.txt`, one a line; the answers are in `name.answers.json`. */
export function readPages() {
  const files = readdirSync(new URL('.', import.meta.url)).sort();
  const names = files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -'.txt'.length));
  return names.map((name) => {
    const file = files.find((each) => each.startsWith(`${name}.`) && Object.hasOwn(kinds, each.slice(name.length + 1)));
    if (file === undefined) throw new Error(`There is no page for ${name}.txt.`);
    const read = (each) => readFileSync(new URL(each, import.meta.url), 'utf8');
    const lines = read(`${name}.txt`).split('\n');
    return {
      name,
      kind: kinds[file.slice(name.length + 1)],
      url: `https://${name}.example/start/page?x=1#part`,
      body: read(file),
      snippets: lines.filter((line) => line !== ''),
      answersUrl: new URL(`${name}.answers.json`, import.meta.url),
    };
  });
}

/** Answers as JSON: what the snippet comes to, or the name of what it throws. */
export function expressionFor(snippet) {
  return `{ try { const answer = (${snippet}); return JSON.stringify({ answer: answer === undefined ? null : answer }); } catch (error) { return JSON.stringify({ throws: error.name }); } }`;
}
