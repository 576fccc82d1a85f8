/**
 * The code that lists the elements of a page for somebody who picks one, run in the sandbox on the very document that runs
 * see: those with text of their own, controls and images, each with a selector that matches it alone. A selector never
 * depends on the text, which is what is watched, and goes by what its author named before it goes by places.
 */

/** What the code reports and how much of it; `boxAttribute`: where a browser left the places of elements, or null. */
export interface ListedBounds {
  readonly mostElements: number;
  readonly longestText: number;
  readonly mostBytes: number;
  readonly boxAttribute: string | null;
}

const script = String.raw`
const all = Array.from(document.querySelectorAll('*'));
const quirks = document.compatMode === 'BackCompat';
const tagOf = (element) => element.localName;
const attribute = (element, name) => {
  const value = element.getAttribute(name);
  return value === null ? '' : value;
};

const escapedName = (name) =>
  name.replace(/[^\w\u0080-\uffff-]/g, (letter) => '\\' + letter.codePointAt(0).toString(16) + ' ')
    .replace(/^(-?)(\d)/, (_all, dash, digit) => dash + '\\3' + digit + ' ')
    .replace(/^-$/, '\\-');
const quoted = (value) => '"' + value.replace(/[\\"]/g, '\\$&') + '"';

const generatedPrefix = /^(?:css|sc|jss|emotion|styled|svelte|astro)-/i;
const numberedPrefix = /^_*(?:ember|ext-gen|yui|radix|headlessui|mui|mat|cdk|react|gwt|ui-id|uid|popper|tooltip|r)[-_]?.*\d/i;
const state = /^(?:(?:is|has|js|no)-.*|active|inactive|selected|current|disabled|enabled|open|opened|closed|hidden|shown|show|hide|visible|invisible|loading|loaded|lazyload(?:ed|ing)?|hover|focus|focused|checked|collapsed|expanded|first|last|odd|even|clearfix|container|row|wrapper)$/i;
const utility = /^-?(?:m|p|mx|my|mt|mr|mb|ml|px|py|pt|pr|pb|pl|w|h|min-[wh]|max-[wh]|text|font|bg|border|rounded|flex|grid|gap|space|col|row|order|items|justify|content|self|shadow|z|top|left|right|bottom|inset|opacity|leading|tracking|overflow|d|float|align|position|block|inline|relative|absolute|sticky|fixed|sr|transition|duration|ease|cursor|object)(?:-.*)?$/;

const looksHashed = (part) => {
  if (/^[0-9a-f]{8,}$/i.test(part) && /\d/.test(part)) return true;
  if (part.length < 5) return false;
  const turns = part.match(/[a-z](?=\d)|\d(?=[a-z])/gi);
  if (turns !== null && turns.length >= 2) return true;
  return /[A-Z][a-z][A-Z]/.test(part) || /^[bcdfghjklmnpqrstvwxz]{6,}$/i.test(part);
};
const isSteady = (word) =>
  word.length >= 2 && word.length <= 60 && /^[\w\u0080-\uffff-]+$/.test(word) && !/^-?\d/.test(word) && !/\d{4,}/.test(word) &&
  !generatedPrefix.test(word) && !numberedPrefix.test(word) && !word.split(/[-_]+/).some(looksHashed);
const isSteadyClass = (word) => isSteady(word) && !state.test(word) && !utility.test(word);
const isShortLine = (value) => value !== '' && value.length <= 80 && !/[\u0000-\u001f\u007f]/.test(value);

const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy', 'itemprop'];
const labels = ['aria-label', 'name', 'alt', 'placeholder'];
const landmarks = new Set('h1 h2 main nav header footer form table article aside dialog address time video'.split(' '));

/** What names an element, best first. Each is written alike for every element that it matches, so that counting them tells which match one alone. */
const namesOf = (element) => {
  const names = [];
  const tag = tagOf(element);
  const kind = escapedName(tag);
  const id = attribute(element, 'id');
  if (isSteady(id)) names.push('#' + escapedName(id));
  for (const name of testIds) {
    const value = attribute(element, name);
    if (isShortLine(value) && !value.split(/[-_\s]+/).some(looksHashed)) names.push('[' + name + '=' + quoted(value) + ']');
  }
  const role = attribute(element, 'role');
  for (const name of labels) {
    const value = attribute(element, name);
    if (!isShortLine(value) || /\d{4,}/.test(value)) continue;
    const about = '[' + name + '=' + quoted(value) + ']';
    if (isShortLine(role)) names.push('[role=' + quoted(role) + ']' + about);
    names.push(kind + about);
  }
  if (isShortLine(role)) names.push('[role=' + quoted(role) + ']');
  if (landmarks.has(tag)) names.push(kind);
  const words = [...new Set(attribute(element, 'class').split(/[\t\n\f\r ]+/))].filter(isSteadyClass).slice(0, 6).sort();
  for (const word of words) names.push('.' + escapedName(word));
  for (const word of words) names.push(kind + '.' + escapedName(word));
  return names;
};

const keyOf = (name) => (quirks ? name.toLowerCase() : name);
const counts = new Map();
for (const element of all) {
  for (const name of namesOf(element)) counts.set(keyOf(name), (counts.get(keyOf(name)) || 0) + 1);
}
const known = new Map();
const ownSelector = (element) => {
  if (known.has(element)) return known.get(element);
  let found = namesOf(element).find((name) => counts.get(keyOf(name)) === 1);
  if (found === undefined && element === document.body) found = 'body';
  if (found === undefined && element === document.documentElement) found = ':root';
  known.set(element, found === undefined ? null : found);
  return known.get(element);
};

const places = new Map();
/** Of all children at once: rows of a long list are many. */
const notePlaces = (siblings) => {
  const [spaces, mixed, ofType] = [new Map(), new Set(), new Map()];
  for (const one of siblings) {
    const tag = tagOf(one);
    if (!spaces.has(tag)) spaces.set(tag, one.namespaceURI);
    else if (spaces.get(tag) !== one.namespaceURI) mixed.add(tag);
  }
  siblings.forEach((one, at) => {
    const tag = tagOf(one);
    ofType.set(tag, (ofType.get(tag) || 0) + 1);
    const place = mixed.has(tag) ? ':nth-child(' + (at + 1) + ')' : ':nth-of-type(' + ofType.get(tag) + ')';
    places.set(one, escapedName(tag) + place);
  });
};
const placeOf = (element) => {
  if (!places.has(element)) notePlaces(element.parentElement === null ? [element] : Array.from(element.parentElement.children));
  return places.get(element);
};

let lookups = 3000;
const isAlone = (around, name) => {
  if (lookups <= 0) return false;
  lookups -= 1;
  return around.querySelectorAll(name).length === 1;
};
const isNamedBody = (selector) => selector !== 'body' && selector !== ':root';

const selectorOf = (element) => {
  const own = ownSelector(element);
  if (own !== null) return own;
  const names = namesOf(element);
  let path = placeOf(element);
  for (let around = element.parentElement; around !== null; around = around.parentElement) {
    const anchor = ownSelector(around);
    if (anchor === null) {
      path = placeOf(around) + ' > ' + path;
      continue;
    }
    if (isNamedBody(anchor)) {
      const name = names.find((one) => isAlone(around, one));
      if (name !== undefined) return anchor + ' ' + name;
    }
    return anchor + ' > ' + path;
  }
  return path;
};

const roles = {
  button: 'button', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading',
  img: 'img', nav: 'navigation', main: 'main', header: 'banner', footer: 'contentinfo', aside: 'complementary', form: 'form',
  table: 'table', tr: 'row', td: 'cell', th: 'columnheader', ul: 'list', ol: 'list', li: 'listitem', p: 'paragraph',
  textarea: 'textbox', option: 'option', progress: 'progressbar', meter: 'meter', output: 'status', article: 'article',
  dialog: 'dialog', summary: 'button', time: 'time', dt: 'term', dd: 'definition', strong: 'strong', em: 'emphasis', code: 'code',
  blockquote: 'blockquote', figure: 'figure', caption: 'caption', svg: 'img',
};
const inputRoles = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio', range: 'slider',
  number: 'spinbutton', search: 'searchbox',
};
const roleOf = (element) => {
  const given = attribute(element, 'role').trim().split(/\s+/)[0];
  if (given !== '') return given.slice(0, 60);
  const tag = tagOf(element);
  if (tag === 'a') return element.hasAttribute('href') ? 'link' : null;
  if (tag === 'input') return inputRoles[attribute(element, 'type').toLowerCase()] || 'textbox';
  if (tag === 'select') return element.hasAttribute('multiple') ? 'listbox' : 'combobox';
  return Object.hasOwn(roles, tag) ? roles[tag] : null;
};

const shortened = (text) => {
  const line = text.slice(0, 20000).replace(/\s+/g, ' ').trim();
  return line.length <= limits.longestText ? line : line.slice(0, limits.longestText - 1).replace(/[\ud800-\udbff]$/, '') + '…';
};
const labelled = new Map();
for (const label of document.querySelectorAll('label[for]')) {
  const id = attribute(label, 'for');
  if (!labelled.has(id)) labelled.set(id, label);
}
const namedByContent = new Set(['button', 'link', 'heading', 'cell', 'columnheader', 'option', 'checkbox', 'radio', 'tab', 'menuitem', 'treeitem', 'row']);
const nameOf = (element, role, text) => {
  const label = attribute(element, 'aria-label');
  if (label.trim() !== '') return shortened(label);
  const by = attribute(element, 'aria-labelledby').split(/\s+/).filter((id) => id !== '').slice(0, 5)
    .map((id) => document.getElementById(id)).filter((one) => one !== null);
  if (by.length > 0) return shortened(by.map((one) => one.textContent).join(' '));
  const id = attribute(element, 'id');
  const named = id !== '' && controls.has(tagOf(element)) ? labelled.get(id) : undefined;
  const around = named === undefined && controls.has(tagOf(element)) ? element.closest('label') : named;
  if (around !== null && around !== undefined) return shortened(around.textContent);
  for (const name of ['alt', 'placeholder', 'title']) {
    const value = attribute(element, name);
    if (value.trim() !== '' && !(name === 'title' && text !== '')) return shortened(value);
  }
  if (role === 'button' && tagOf(element) === 'input' && attribute(element, 'value') !== '') return shortened(attribute(element, 'value'));
  return namedByContent.has(role) && text !== '' ? text : null;
};

const controls = new Set(['input', 'select', 'textarea', 'button', 'meter', 'progress', 'output']);
const never = new Set('html head title meta link base script style template noscript iframe frame object embed param source track option optgroup br wbr hr col colgroup area map datalist'.split(' '));
const hasOwnText = (element) => {
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === 3 && /\S/.test(node.data)) return true;
  }
  return false;
};
const isHidden = (element) => {
  const style = attribute(element, 'style');
  return element.hasAttribute('hidden') || element.hasAttribute('data-not-shown') || (style !== '' && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style));
};
const skipped = new Set();
const isListed = (element) => {
  const tag = tagOf(element);
  const parent = element.parentElement;
  const outer = parent !== null && skipped.has(parent);
  const drawn = tag === 'svg' || tag === 'math' || tag === 'select' || tag === 'datalist';
  if (outer || tag === 'head' || (never.has(tag) && tag !== 'html') || isHidden(element) || (parent !== null && inner.has(parent))) {
    // What a browser rendered says of each element by itself whether it was shown.
    if (limits.boxAttribute === null || outer || never.has(tag)) skipped.add(element);
    return false;
  }
  if (drawn) inner.add(element);
  if (tag === 'html') return false;
  if (tag === 'input' && attribute(element, 'type').toLowerCase() === 'hidden') return false;
  if (controls.has(tag) || tag === 'img' || (tag === 'a' && element.hasAttribute('href'))) return true;
  if (tag === 'svg' || attribute(element, 'role') === 'img') return element.hasAttribute('aria-label') || element.hasAttribute('role');
  return hasOwnText(element);
};
const inner = new Set();
const boxOf = (element) => {
  if (limits.boxAttribute === null) return null;
  const numbers = attribute(element, limits.boxAttribute).split(',').map(Number);
  if (numbers.length !== 4 || !numbers.every(Number.isFinite)) return undefined;
  return { x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3] };
};

page.report('title', String(document.title || '').slice(0, 1000));
let listed = 0;
let bytes = 0;
let part = [];
const hand = () => {
  if (part.length > 0) page.report('elements ' + listed, part);
  part = [];
};
for (const element of all) {
  if (!isListed(element)) continue;
  const box = boxOf(element);
  if (box === undefined) continue;
  const tag = tagOf(element);
  const selector = selectorOf(element);
  if (selector.length > 2000) continue;
  const text = controls.has(tag) && tag !== 'button' && tag !== 'output' ? '' : shortened(element.textContent || '');
  const role = roleOf(element);
  const entry = { selector, text, role, name: nameOf(element, role, text), box };
  const json = JSON.stringify(entry);
  bytes += json.length + 2 * json.replace(/[\u0000-\u007f]+/g, '').length;
  if (bytes > limits.mostBytes) break;
  part.push(entry);
  listed += 1;
  if (part.length === 25) hand();
  if (listed === limits.mostElements) break;
}
hand();
return true;
`;

/** Reports `title`, and `elements <n>` with some elements each. */
export function elementsScript(bounds: ListedBounds): string {
  return `const limits = ${JSON.stringify(bounds)};\n${script}`;
}
