/** The ways in which the DOM finds elements. */
import { domError } from './dom-exception.js';
import { isXmlNode } from './documents.js';
import { htmlNamespace, partsOfName } from './names.js';
import { SelectorError } from './selector-reader.js';
import { select } from './selectors.js';
import { asciiLowerCase } from './row-lists.js';
import { getAttribute } from './attribute-values.js';
import { nameCount, spacedNames } from './name-table.js';
import { indexedById, indexedByTag } from './page-indexes.js';
import { following, isElement, isQuirks, tagOf } from './tree.js';

export function asDomError(thrown: unknown): unknown {
  return thrown instanceof SelectorError ? domError('SyntaxError', thrown.message) : thrown;
}

export function selecting<Result>(select: () => Result): Result {
  try {
    return select();
  } catch (thrown) {
    throw asDomError(thrown);
  }
}

/** Elements inside `root` whose names are among these. */
function byNameIds(root: number, ids: readonly number[]): ArrayLike<number> {
  const lists: ArrayLike<number>[] = [];
  for (const id of ids) {
    const rows = indexedByTag(root, id);
    if (rows === null) {
      const found: number[] = [];
      for (let node = following(root, root); node >= 0; node = following(node, root)) {
        if (isElement(node) && ids.includes(tagOf(node))) found.push(node);
      }
      return found;
    }
    if (rows.length > 0) lists.push(rows);
  }
  if (lists.length <= 1) return lists[0] ?? [];
  return lists.flatMap((rows) => Array.from(rows)).sort((left, right) => left - right);
}

const plainTag = /^[a-z][a-z0-9]*$/;

export function byTag(root: number, name: string): ArrayLike<number> {
  if (name === '*') return select(root, '*');
  const lower = asciiLowerCase(name);
  if (spacedNames.count === 0 && plainTag.test(lower)) return select(root, name);
  const isOfXml = isXmlNode(root);
  const ids: number[] = [];
  for (let id = 0; id < nameCount(); id++) {
    const { qualified, namespace } = partsOfName(id);
    if (qualified === (namespace === htmlNamespace && !isOfXml ? lower : name)) ids.push(id);
  }
  return byNameIds(root, ids);
}

export function byTagNS(root: number, namespace: string | null, name: string): ArrayLike<number> {
  const ids: number[] = [];
  for (let id = 0; id < nameCount(); id++) {
    const parts = partsOfName(id);
    const isOfSpace = namespace === '*' || parts.namespace === namespace;
    if (isOfSpace && (name === '*' || parts.local === name)) ids.push(id);
  }
  return byNameIds(root, ids);
}

export function byClass(root: number, names: string): ArrayLike<number> {
  const wanted = names.split(/[\t\n\f\r ]+/).filter((name) => name !== '');
  if (wanted.length === 0) return [];
  const escaped = wanted.map((name) => `.${escapeIdentifier(name)}`).join('');
  return select(root, escaped);
}

export function byAttribute(root: number, attribute: string, value: string): number[] {
  const found: number[] = [];
  for (let node = following(root, root); node >= 0; node = following(node, root)) {
    if (isElement(node) && getAttribute(node, attribute) === value) found.push(node);
  }
  return found;
}

export function byId(root: number, id: string): number {
  if (id === '') return -1;
  if (!isQuirks()) {
    const indexed = indexedById(root, id);
    if (indexed !== null) return indexed[0] ?? -1;
  }
  return byAttribute(root, 'id', id)[0] ?? -1;
}

/** `CSS.escape` */
export function escapeIdentifier(text: string): string {
  return Array.from(text, (mark, at) => {
    const isDigit = mark >= '0' && mark <= '9';
    if (mark === '\0') return '\ufffd';
    if (/[\x01-\x1f\x7f]/.test(mark) || (isDigit && (at === 0 || (at === 1 && text.startsWith('-'))))) {
      return `\\${mark.charCodeAt(0).toString(16)} `;
    }
    if (mark === '-' && text.length === 1) return '\\-';
    return /[\w\u0080-\u{10ffff}-]/u.test(mark) ? mark : `\\${mark}`;
  }).join('');
}
