/** The text of the pages that need no file of their own. */

interface Line {
  readonly path: string;
  readonly says: string;
}

function linesOf(isSetUp: boolean): readonly Line[] {
  return [
    isSetUp
      ? { path: '/tasks', says: 'the console: sign in, see, ask and change' }
      : { path: '/setup', says: 'set this instance up (with the token printed at start)' },
    { path: '/docs', says: 'read and try the API' },
    { path: '/api/openapi.json', says: 'the same as a document for machines' },
    { path: '/readyz', says: 'whether every part answers' },
  ];
}

const what = 'Meerkat watches web pages with your own code and tells you when it matters.';

/** For a terminal; a browser is shown the console. */
export function frontText(isSetUp: boolean): string {
  const lines = linesOf(isSetUp).map(({ path, says }) => `  ${path.padEnd(18)} ${says}`);
  return `${what}\nIt runs. From here:\n${lines.join('\n')}\n`;
}

export const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Meerkat API</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
    <script type="module" src="/docs/reader.js"></script>
    <script type="module" src="/docs/start.js"></script>
  </head>
  <body>
    <noscript>The reader needs JavaScript; the document is at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
    <openapi-explorer collapse="true" hide-server-selection="true"></openapi-explorer>
  </body>
</html>
`;

/** Tells the reader where this instance is, so that requests tried out go here, and lets its search find fields. */
export const docsScript = `const reader = document.querySelector('openapi-explorer');
reader.setAttribute('server-url', location.origin);
document.body.style.margin = '0';
// Its search begins with paths alone: who looks for a field finds it in requests too.
const widen = () => {
  for (const box of reader.shadowRoot.querySelectorAll('.advanced-search-options input[type=checkbox]')) {
    if (box.dataset.widened !== undefined) continue;
    box.dataset.widened = '';
    box.checked = true;
  }
};
const namesIn = (schema, names, seen) => {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return names;
  seen.add(schema);
  for (const [key, inner] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(inner)) names.add(name);
    if (key !== 'example' && key !== 'examples') namesIn(inner, names, seen);
  }
  return names;
};
// Several patterns of one text stand in allOf, which it shows as an object without a type: it gets them as one.
const joinPatterns = (schema, seen) => {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return;
  seen.add(schema);
  const { type, allOf } = schema;
  if (type === 'string' && Array.isArray(allOf) && allOf.every((part) => Object.keys(part).join() === 'pattern')) {
    schema.pattern = allOf.map(({ pattern }) => pattern).join(' and ');
    delete schema.allOf;
  }
  for (const inner of Object.values(schema)) joinPatterns(inner, seen);
};
// Its filter looks at an operation's id, which it shows nowhere: with the fields of request and answer beside it, it finds them.
const prepare = (spec) => {
  const joined = new Set();
  for (const path of spec.tags.flatMap((tag) => tag.paths)) {
    const contents = [path.requestBody, ...Object.values(path.responses)].map((one) => one?.content);
    const names = namesIn([contents, path.parameters], new Set(), new Set());
    for (const parameter of path.parameters ?? []) names.add(parameter.name);
    path.operationId = [path.operationId, ...names].join(' ');
    joinPatterns([contents, path.parameters], joined);
  }
};
reader.addEventListener('spec-loaded', ({ detail }) => prepare(detail));
await customElements.whenDefined('openapi-explorer');
new MutationObserver(widen).observe(reader.shadowRoot, { childList: true, subtree: true });
// It would give up after five seconds, without a word; a busy server may take longer.
try {
  const answer = await fetch('/api/openapi.json');
  if (!answer.ok) throw new Error('the server answered ' + answer.status);
  await reader.loadSpec(await answer.json());
} catch (error) {
  const said = document.createElement('p');
  said.setAttribute('role', 'alert');
  said.textContent = 'The document could not be loaded (' + error.message + '). Reload the page.';
  document.body.replaceChildren(said);
}
`;
