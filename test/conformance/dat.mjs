// The tree-construction tests of html5lib (`*.dat`): markup, its context if it is a fragment, and the tree it must give.

/**
 * @typedef {object} TreeTest
 * @property {string} file
 * @property {string} data
 * @property {{ tag: string, namespace: 'html' | 'svg' | 'math' } | null} context
 * @property {boolean | null} scripting null: the same either way
 * @property {string} document
 */

const heading = /^#(data|errors|new-errors|document-fragment|script-on|script-off|document)$/;

function contextOf(text) {
  const [, namespace = 'html', tag] = /^(?:(svg|math) )?(.*)$/.exec(text.trim());
  return { namespace, tag };
}

/** @returns {TreeTest[]} */
export function readTests(file, source) {
  const tests = [];
  let sections = null;
  let section = null;
  const finish = () => {
    if (sections === null) return;
    const text = (name) => sections.get(name)?.join('\n') ?? '';
    const scripting = sections.has('script-on') ? true : sections.has('script-off') ? false : null;
    const context = sections.has('document-fragment') ? contextOf(text('document-fragment')) : null;
    tests.push({ file, data: text('data'), context, scripting, document: text('document').replace(/\n+$/, '') });
  };
  for (const line of source.split('\n')) {
    const name = heading.exec(line)?.[1];
    // Within the data of a test nothing is a heading but the one that ends it.
    const isHeading = name !== undefined && !(section === 'data' && name !== 'errors');
    if (isHeading && name === 'data') {
      finish();
      sections = new Map();
    }
    if (isHeading) {
      section = name;
      sections?.set(name, []);
    } else sections?.get(section)?.push(line);
  }
  finish();
  return tests;
}
