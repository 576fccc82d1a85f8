/** Advice on what to write instead, derived from the user's own code where it failed. Rules in tables, one sentence each. */
import { isFunction } from './code-tree.js';
import type { AnyNode, CodeTree } from './code-tree.js';
import type { CodeForm, SandboxFailure } from '../sandbox.js';

/** What failed, where it is known, and the offset of the place that is shown. */
export interface Fault {
  readonly node: AnyNode | null;
  readonly at: number;
}

const asServed =
  'The page is read as the server sends it, before any script of its own has run. If it may be missing, write `?.`.';

const consoleOnly = 'That is a helper of the browser’s console; ';
const noNode = 'The code runs as in a page, not in Node.js; it has no modules.';

/** Names that people expect to be there. */
const missingNames: Readonly<Record<string, string>> = {
  $: "There is no jQuery here: write document.querySelector('…').textContent, and [...document.querySelectorAll('…')] for all.",
  jQuery: "There is no jQuery here: write document.querySelector('…') and [...document.querySelectorAll('…')].",
  $$: `${consoleOnly}write [...document.querySelectorAll('…')].`,
  $x: `${consoleOnly}write document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.`,
  $0: `${consoleOnly}write document.querySelector('…').`,
  $_: `${consoleOnly}write the expression itself.`,
  copy: `${consoleOnly}write console.log(…) or page.report('name', …).`,
  require: noNode,
  module: noNode,
  exports: noNode,
  process: noNode,
  __dirname: noNode,
  Buffer: `${noNode} For bytes there are Uint8Array, TextEncoder, atob() and btoa().`,
  global: 'The global object is `globalThis`, or `window`.',
  chrome: 'There is no browser around the page, so its interfaces for extensions are not there.',
  browser: 'There is no browser around the page; fetch.mode renders a page where an instance has a browser.',
  event: 'Nothing happens on a page at rest, so there is no event.',
  cheerio: 'Read the page through `document`: document.querySelector(…).',
  _: 'lodash is not loaded; arrays have map(), filter(), find(), some() and more of their own.',
  moment: 'moment is not loaded; use Date.',
  axios: 'Code has no network: set the task’s url to what should be loaded, and read page.json() or page.text.',
};

const listOnly: ReadonlySet<string> = new Set(
  'map filter reduce some every find findIndex flatMap slice join includes indexOf sort reverse at concat forEach'.split(
    ' ',
  ),
);
const jQueryOnly: ReadonlySet<string> = new Set(
  'text html val attr prop each hasClass addClass removeClass eq first last is not on css data get index size trigger'.split(
    ' ',
  ),
);
const properties: ReadonlySet<string> = new Set(
  'textContent innerText innerHTML outerHTML value href src length title id className children status text url'.split(
    ' ',
  ),
);
const methods: readonly string[] = (
  'querySelector querySelectorAll getElementById getElementsByClassName getElementsByTagName getElementsByName ' +
  'getAttribute hasAttribute closest matches contains replaceAll toLowerCase toUpperCase startsWith endsWith includes ' +
  'indexOf lastIndexOf parseInt parseFloat toFixed trim substring charAt padStart getTime toISOString stringify number report json'
).split(' ');

const foundNothing: Readonly<Record<string, string>> = {
  querySelector: 'found nothing: no element matches',
  closest: 'found nothing: no element around it matches',
  getElementById: 'found nothing: no element has that id',
  match: 'found nothing: the pattern does not occur in the text',
  exec: 'found nothing: the pattern does not occur in the text',
  getAttribute: 'is null: the element has no such attribute',
  find: 'found nothing: no item fits',
  at: 'is undefined: the list has no such item',
  item: 'is null: the list has no such item',
  namedItem: 'is null: the list has no such item',
  pop: 'is undefined: the list is empty',
  shift: 'is undefined: the list is empty',
  get: 'found nothing under that name',
};
const fromThePage: ReadonlySet<string> = new Set(['querySelector', 'closest', 'getElementById']);
const neighbours: ReadonlySet<string> = new Set(
  'parentElement parentNode firstElementChild lastElementChild nextElementSibling previousElementSibling firstChild lastChild nextSibling previousSibling singleNodeValue'.split(
    ' ',
  ),
);

const shown = 70;
/** How many names are followed to where they got their value. */
const followed = 4;

function shownSource(code: string, node: AnyNode): string {
  const text = code.slice(node.start, node.end).replace(/\s+/g, ' ');
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}

function sourceOf(code: string, node: AnyNode): string {
  return `\`${shownSource(code, node)}\``;
}

function unwrapped(node: AnyNode): AnyNode {
  if (node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression') return unwrapped(node.expression);
  return node.type === 'AwaitExpression' ? unwrapped(node.argument) : node;
}

function memberName(node: AnyNode): string | null {
  if (node.type !== 'MemberExpression' || node.computed) return null;
  return node.property.type === 'Identifier' ? node.property.name : null;
}

/** What the name last got before the place, as far as it is written down. */
function lastValueOf(tree: CodeTree, name: string, before: number): AnyNode | null {
  let last: AnyNode | null = null;
  for (const { node } of tree.steps) {
    const [target, value] =
      node.type === 'VariableDeclarator'
        ? [node.id, node.init ?? null]
        : node.type === 'AssignmentExpression'
          ? [node.left, node.right]
          : [null, null];
    if (target?.type !== 'Identifier' || target.name !== name || value === null || node.start >= before) continue;
    if (last === null || value.start > last.start) last = value;
  }
  return last;
}

/** Why an expression came to nothing; null where the code does not show it. */
function whyNothing(tree: CodeTree, code: string, expression: AnyNode, depth = 0): string | null {
  const node = unwrapped(expression);
  if (node.type === 'Identifier') {
    const value = depth < followed ? lastValueOf(tree, node.name, node.start) : null;
    return value === null ? null : whyNothing(tree, code, value, depth + 1);
  }
  const source = sourceOf(code, node);
  if (node.type === 'CallExpression') {
    const name = memberName(unwrapped(node.callee)) ?? '';
    const said = Object.hasOwn(foundNothing, name) ? foundNothing[name] : undefined;
    if (said === undefined) return null;
    const selector = name === 'querySelector' || name === 'closest' ? node.arguments[0] : undefined;
    const what = selector === undefined ? said : `${said} ${sourceOf(code, selector)}`;
    return `${source} ${what}. ${fromThePage.has(name) ? asServed : 'If that may be so, write `?.`.'}`;
  }
  if (node.type !== 'MemberExpression') return null;
  if (source === '`page.previous`') return 'page.previous is null in the first run; write `page.previous?.values`.';
  if (node.computed) return `${source} is undefined: the list has no such item. ${asServed}`;
  if (neighbours.has(memberName(node) ?? '')) return `${source} is null: there is no such element. ${asServed}`;
  return `${source} is undefined: there is nothing of that name.`;
}

/** Why what page.number was given is nothing; null where the code does not show it. */
export function whyNoNumber(tree: CodeTree, code: string, source: AnyNode): string | null {
  const why = whyNothing(tree, code, source);
  return why === null ? null : why.replace('write `?.`', 'give page.number `{ or: null }` as well');
}

function nearest(name: string): string | undefined {
  const plain = name.toLowerCase().replace(/s$/, '');
  return methods.find((known) => known !== name && known.toLowerCase().replace(/s$/, '') === plain);
}

function isListOfElements(tree: CodeTree, expression: AnyNode): boolean {
  let node: AnyNode | null = unwrapped(expression);
  if (node.type === 'Identifier') node = lastValueOf(tree, node.name, node.start);
  if (node === null) return false;
  const value = unwrapped(node);
  const name = memberName(value.type === 'CallExpression' ? unwrapped(value.callee) : value) ?? '';
  return /^(?:querySelectorAll|getElementsBy\w+|children|childNodes|rows|cells|options|links|images|forms)$/.test(name);
}

function notCallable(tree: CodeTree, code: string, callee: AnyNode): string | null {
  const name = memberName(callee);
  if (name === null || callee.type !== 'MemberExpression') return null;
  const object = callee.object;
  if (listOnly.has(name) && isListOfElements(tree, object)) {
    return `A list of elements is no array: write \`[...${shownSource(code, object)}].${name}(…)\`.`;
  }
  if (properties.has(name)) return `\`${name}\` is a property: leave the brackets away.`;
  const known = nearest(name);
  if (known !== undefined) return `Did you mean \`${known}\`?`;
  return jQueryOnly.has(name)
    ? `\`.${name}()\` is jQuery’s: elements have textContent, innerHTML, value and getAttribute('…').`
    : null;
}

const jQuerySelectors =
  /:(?:contains|visible|hidden|first|last|eq|gt|lt|even|odd|button|input|text|selected|parent|header)\b/;

function aboutSelector(message: string): string | null {
  if (!/^SyntaxError: .* is not a valid selector/.test(message)) return null;
  if (/^SyntaxError: '\s*(?:\/\/|\.\/\/|\()/.test(message)) {
    return "That is XPath: write document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.";
  }
  if (jQuerySelectors.test(message)) {
    return 'That is jQuery’s and not CSS: take all elements, [...document.querySelectorAll(…)], and find yours by textContent.';
  }
  if (/[#.][0-9]/.test(message))
    return 'A name that begins with a digit is escaped: write [id="1a"], or `#${CSS.escape(…)}`.';
  return 'Look for brackets and quotation marks that are not closed; names with special characters go through CSS.escape().';
}

function aboutThrown(tree: CodeTree, code: string, message: string, { node }: Fault): string | null {
  const name = /^ReferenceError: (\S+) is not defined$/.exec(message)?.[1];
  if (name !== undefined) {
    const known = Object.hasOwn(missingNames, name) ? missingNames[name] : undefined;
    if (known !== undefined) return known;
    const meant = nearest(name);
    return meant === undefined ? null : `Did you mean \`${meant}\`?`;
  }
  if (/^ReferenceError: \S+ is not initialized$/.test(message)) return 'It is used above the line that declares it.';
  if (/^TypeError: '.*' is read-only$/.test(message)) return 'It is a `const`: declare it with `let` to change it.';
  if (/^TypeError: not a (?:function|constructor)$/.test(message)) {
    return node === null ? null : notCallable(tree, code, node);
  }
  if (node !== null && /of (?:null|undefined)$/.test(message)) {
    if (node.type === 'MemberExpression') return whyNothing(tree, code, node.object);
    if (node.type === 'SpreadElement') return whyNothing(tree, code, node.argument);
    if (node.type === 'ForOfStatement') return whyNothing(tree, code, node.right);
  }
  if (node?.type === 'ObjectPattern') return 'What is taken apart here is null or undefined.';
  if (/could not load module/.test(message)) return 'There are no modules here: the code has to hold all that it uses.';
  return aboutSelector(message);
}

function returnsValue(tree: CodeTree, within: AnyNode): boolean {
  return tree.steps.some(
    ({ node, inside }) =>
      node.type === 'ReturnStatement' && node.argument !== null && (inside?.node ?? tree.root) === within,
  );
}

function lastStatement(root: AnyNode): AnyNode | null {
  return root.type === 'Program' ? (root.body.at(-1) ?? null) : null;
}

/** What came back is no boolean: where the code shows why, else what the message says at its end. */
function aboutReturned(tree: CodeTree, form: CodeForm, message: string): string | null {
  const { root } = tree;
  const last = lastStatement(root);
  if (form === 'script' && last?.type === 'ExpressionStatement' && last.expression.type === 'AssignmentExpression') {
    if (last.expression.operator === '=') return '`=` assigns; compare with `===`, or end with a line that compares.';
  }
  if (message.startsWith('The code returned nothing')) {
    if (form === 'script' && last !== null && last.type !== 'ExpressionStatement') {
      return 'The value of the last line counts: end with one such as `price < 100`, or write `return price < 100`.';
    }
    const isExpression = isFunction(root) && 'body' in root && 'expression' in root && root.expression === true;
    if (form !== 'script' && !isExpression && !returnsValue(tree, root)) {
      return form === 'function'
        ? 'The function has no `return` with a value: between braces it needs one.'
        : 'No `return` has a value.';
    }
    if (form !== 'script' && !isExpression)
      return 'Not every way through the code ends with a `return` that has a value.';
  }
  // What the message says behind its first semicolon.
  const at = message.indexOf('; ');
  if (at === -1 || !message.endsWith('.')) return null;
  const advice = message.slice(at + 2);
  return `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
}

/** null where there is nothing to add to the message. */
export function adviceFor(
  tree: CodeTree,
  code: string,
  form: CodeForm,
  { reason, message }: SandboxFailure,
  fault: Fault,
): string | null {
  return reason === 'not_boolean' ? aboutReturned(tree, form, message) : aboutThrown(tree, code, message, fault);
}
