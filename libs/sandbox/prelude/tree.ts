/**
 * The page inside the sandbox: nodes are integers over the flat tables the page came in, and become objects only where
 * code asks for them. The tables never change. The first change of structure copies them into linked columns ("thaw");
 * nodes made by the code live in those columns from the start. A node below `frozen` is read from the tables.
 */
import type { FlatTables } from './flat-tables.js';
import { linkedRows } from './linked-rows.js';
import { NodeMap } from './node-map.js';
import { rowsInside } from './row-lists.js';

export const elementKind = 1;
export const textKind = 3;
export const cdataKind = 4;
export const instructionKind = 7;
export const commentKind = 8;
export const documentKind = 9;
export const doctypeKind = 10;
export const fragmentKind = 11;

const empty = new Int32Array(0);

let rows = 0;
let kindOf: Int32Array = empty;
let parentAt: Int32Array = empty;
let endAt: Int32Array = empty;
let textAt: Int32Array = empty;
let attributeAt: Int32Array = empty;
let valueAt: Int32Array = empty;
let templatePairs: Int32Array = empty;
let pageText = '';
let pageValues = '';
let isQuirksPage = false;
let isXmlPage = false;

/** Nodes below are read from the tables; 0 once thawed. */
let frozen = 0;
let linkedKind: number[] = [];
let linkedParent: number[] = [];
let linkedFirst: number[] = [];
let linkedLast: number[] = [];
let linkedPrevious: number[] = [];
let linkedNext: number[] = [];
let nodeCount = 0;

/** Text, comment and doctype contents that code changed or made. */
const dataOverrides: NodeMap<string> = new NodeMap();
let templateContents: NodeMap<number> | null = null;
/** False after a change of any text that came with the page. */
let isPageTextValid = true;
/** Nodes below are of the classes and ids that the indexes say; an object, so that other files see it change. */
export const classIndex = { limit: 0 };
/** Called before a node is removed, after one is inserted, and before data changes: live ranges and iterators. */
export interface TreeWatcher {
  removing(node: number): void;
  inserted(node: number): void;
  changing(node: number, offset: number, count: number, length: number): void;
  split(node: number, offset: number, rest: number): void;
}
let watcher: TreeWatcher | null = null;

export function watchTree(by: TreeWatcher): void {
  watcher = by;
}

/** What stood in a text behind an offset is a text of its own now. */
export function notifySplit(node: number, offset: number, rest: number): void {
  watcher?.split(node, offset, rest);
}

/** Grows with every change; what is cached by it is stale when it differs. */
let treeVersion = 0;

/** Takes a page's tables and the text of its text nodes; `values` also holds what comments and doctypes say. */
export function loadTree(tables: FlatTables, text: string, values: string): void {
  rows = tables.rows;
  isQuirksPage = tables.isQuirks;
  isXmlPage = tables.isXml;
  kindOf = tables.kinds;
  parentAt = tables.parents;
  endAt = tables.ends;
  textAt = tables.texts;
  attributeAt = tables.attributes;
  valueAt = tables.values;
  templatePairs = tables.templatePairs;
  pageText = text;
  pageValues = values;
  frozen = rows;
  classIndex.limit = rows;
  nodeCount = rows;
}

/** Whether nodes stand in the order of their numbers. */
export function isFrozen(node: number): boolean {
  return node < frozen;
}

export function isQuirks(): boolean {
  return isQuirksPage;
}

/** Whether the page is a document of XML. */
export function isXml(): boolean {
  return isXmlPage;
}

/** All nodes there are have numbers below this. */
export function nodeLimit(): number {
  return nodeCount;
}

export function versionOf(): number {
  return treeVersion;
}

/** Makes stale what is cached by the version. */
export function bumpVersion(): void {
  treeVersion++;
}

/** The name id of an element: foreign elements have a name of their own, prefixed `svg ` or `math `. */
export function tagOf(node: number): number {
  return (node < frozen ? (kindOf[node] ?? 0) : (linkedKind[node - frozen] ?? 0)) & 0xffffff;
}

/** Kind << 24 | name id */
export function kindWord(node: number): number {
  return node < frozen ? (kindOf[node] ?? 0) : (linkedKind[node - frozen] ?? 0);
}

export function kind(node: number): number {
  return (node < frozen ? (kindOf[node] ?? 0) : (linkedKind[node - frozen] ?? 0)) >> 24;
}

/** Text, in a CDATA section or not. */
export function isTextual(nodeKind: number): boolean {
  return nodeKind === textKind || nodeKind === cdataKind;
}

export function isElement(node: number): boolean {
  return (node < frozen ? (kindOf[node] ?? 0) : (linkedKind[node - frozen] ?? 0)) >> 24 === 1;
}

// Structure -----------------------------------------------------------------------------------------------------------

export function parentOf(node: number): number {
  return node < frozen ? (parentAt[node] ?? -1) : (linkedParent[node - frozen] ?? -1);
}

export function firstChild(node: number): number {
  if (node < frozen) return (endAt[node] ?? 0) > node + 1 ? node + 1 : -1;
  return linkedFirst[node - frozen] ?? -1;
}

export function nextSibling(node: number): number {
  if (node < frozen) {
    const parent = parentAt[node] ?? -1;
    const end = endAt[node] ?? 0;
    return parent >= 0 && end < (endAt[parent] ?? 0) ? end : -1;
  }
  return linkedNext[node - frozen] ?? -1;
}

export function lastChild(node: number): number {
  if (node >= frozen) return linkedLast[node - frozen] ?? -1;
  const end = endAt[node] ?? 0;
  if (end <= node + 1) return -1;
  // Up from the last row of the subtree: its depth is less than the number of children may be.
  let child = end - 1;
  for (let up = parentAt[child] ?? -1; up !== node; up = parentAt[child] ?? -1) child = up;
  return child;
}

export function previousSibling(node: number): number {
  if (node >= frozen) return linkedPrevious[node - frozen] ?? -1;
  const parent = parentAt[node] ?? -1;
  if (parent < 0 || node === parent + 1) return -1;
  let sibling = node - 1;
  for (let up = parentAt[sibling] ?? -1; up !== parent; up = parentAt[sibling] ?? -1) sibling = up;
  return sibling;
}

/** Those of the page's rows, in order, that lie inside one of its elements, of which none holds another. */
export function inside(list: ArrayLike<number>, holders: ArrayLike<number>): number[] {
  return rowsInside(list, holders, endAt);
}

/** Where the subtree of a node of the page ends; good for nodes that the indexes answer for. */
export function endOf(node: number): number {
  return endAt[node] ?? 0;
}

/** The next node in document order within `root`, -1 at its end. */
export function following(node: number, root: number): number {
  if (node < frozen) return node + 1 < (endAt[root] ?? 0) ? node + 1 : -1;
  const child = linkedFirst[node - frozen] ?? -1;
  return child >= 0 ? child : followingSubtree(node, root);
}

/** The next node in document order within `root` that is not inside `node`. */
export function followingSubtree(node: number, root: number): number {
  if (node < frozen) {
    const end = endAt[node] ?? 0;
    return end < (endAt[root] ?? 0) ? end : -1;
  }
  for (let up = node; up !== root && up >= 0; up = linkedParent[up - frozen] ?? -1) {
    const next = linkedNext[up - frozen] ?? -1;
    if (next >= 0) return next;
  }
  return -1;
}

export function containsNode(ancestor: number, node: number): boolean {
  if (node < frozen && ancestor < frozen) return ancestor <= node && node < (endAt[ancestor] ?? 0);
  for (let up = node; up >= 0; up = parentOf(up)) if (up === ancestor) return true;
  return false;
}

/** Written out, not composed: selectors climb by it more than by anything else. */
export function parentElementOf(node: number): number {
  if (node < frozen) {
    const parent = parentAt[node] ?? -1;
    return parent >= 0 && (kindOf[parent] ?? 0) >> 24 === elementKind ? parent : -1;
  }
  const parent = linkedParent[node - frozen] ?? -1;
  return parent >= 0 && isElement(parent) ? parent : -1;
}

/** Stands for any tag where name ids are asked for. */
export const anyTag = -1;

/** Of one of two tags, by their name ids. Written out over the tables: rows and cells are found by it. */
export function childElementsOf(node: number, first: number = anyTag, second: number = first): number[] {
  const children: number[] = [];
  if (node < frozen) {
    const end = endAt[node] ?? 0;
    for (let child = node + 1; child < end; child = endAt[child] ?? end) {
      const word = kindOf[child] ?? 0;
      if (word >> 24 !== elementKind) continue;
      const name = word & 0xffffff;
      if (first === anyTag || name === first || name === second) children.push(child);
    }
    return children;
  }
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) {
    if (!isElement(child)) continue;
    const name = tagOf(child);
    if (first === anyTag || name === first || name === second) children.push(child);
  }
  return children;
}

function thaw(): void {
  if (frozen === 0) return;
  const columns = linkedRows(rows, kindOf, parentAt);
  linkedKind = columns.kinds.concat(linkedKind);
  linkedParent = columns.parents.concat(linkedParent);
  linkedFirst = columns.firsts.concat(linkedFirst);
  linkedLast = columns.lasts.concat(linkedLast);
  linkedPrevious = columns.previouses.concat(linkedPrevious);
  linkedNext = columns.nexts.concat(linkedNext);
  frozen = 0;
  classIndex.limit = 0;
}

/** A node outside any tree. `name` is the name id of an element. */
export function createNode(nodeKind: number, name: number, data: string): number {
  const node = nodeCount++;
  linkedKind.push((nodeKind << 24) | name);
  linkedParent.push(-1);
  linkedFirst.push(-1);
  linkedLast.push(-1);
  linkedPrevious.push(-1);
  linkedNext.push(-1);
  if (nodeKind !== elementKind) dataOverrides.set(node, data);
  return node;
}

export function detachNode(node: number): void {
  const isFromPage = node < frozen;
  if (parentOf(node) < 0) return;
  if (isFromPage) thaw();
  watcher?.removing(node);
  treeVersion++;
  const at = node - frozen;
  const parent = linkedParent[at] ?? -1;
  const previous = linkedPrevious[at] ?? -1;
  const next = linkedNext[at] ?? -1;
  if (previous < 0) linkedFirst[parent - frozen] = next;
  else linkedNext[previous - frozen] = next;
  if (next < 0) linkedLast[parent - frozen] = previous;
  else linkedPrevious[next - frozen] = previous;
  linkedParent[at] = -1;
  linkedPrevious[at] = -1;
  linkedNext[at] = -1;
}

/** Puts a node before `reference`, at the end where that is -1; it leaves its old place. */
export function insertNode(parent: number, node: number, reference: number): void {
  detachNode(node);
  if (parent < frozen || node < frozen) thaw();
  treeVersion++;
  const at = node - frozen;
  const previous = reference < 0 ? (linkedLast[parent - frozen] ?? -1) : (linkedPrevious[reference - frozen] ?? -1);
  linkedParent[at] = parent;
  linkedPrevious[at] = previous;
  linkedNext[at] = reference;
  if (previous < 0) linkedFirst[parent - frozen] = node;
  else linkedNext[previous - frozen] = node;
  if (reference < 0) linkedLast[parent - frozen] = node;
  else linkedPrevious[reference - frozen] = node;
  watcher?.inserted(node);
}

/** A fragment holding a template's contents, -1 for other elements. */
export function templateContent(node: number): number {
  if (templateContents === null) {
    templateContents = new NodeMap();
    for (let at = 0; at < templatePairs.length; at += 2) {
      templateContents.set(templatePairs[at] ?? 0, templatePairs[at + 1] ?? 0);
    }
  }
  return templateContents.get(node) ?? -1;
}

export function setTemplateContent(node: number, fragment: number): void {
  templateContent(node);
  templateContents?.set(node, fragment);
}

// Contents ------------------------------------------------------------------------------------------------------------

/** What a text or comment node says. */
export function dataOf(node: number): string {
  if (dataOverrides.isUsed || node >= rows) {
    const data = dataOverrides.get(node);
    if (data !== undefined) return data;
  }
  if (node >= rows) return '';
  const what = (kindOf[node] ?? 0) >> 24;
  if (what === textKind || what === cdataKind) return pageText.substring(textAt[node] ?? 0, textAt[node + 1] ?? 0);
  const at = attributeAt[node] ?? 0;
  return pageValues.substring(valueAt[at] ?? 0, valueAt[at + 1] ?? 0);
}

export function setData(node: number, data: string): void {
  replaceData(node, 0, -1, data);
}

/** Puts a text in the place of so many units, of all to the end where `count` is -1. */
export function replaceData(node: number, offset: number, count: number, text: string): void {
  const before = count < 0 && offset === 0 && watcher === null ? '' : dataOf(node);
  const end = count < 0 ? before.length : Math.min(before.length, offset + count);
  watcher?.changing(node, offset, end - offset, text.length);
  const data = before.slice(0, offset) + text + before.slice(end);
  treeVersion++;
  if (node < rows) isPageTextValid = false;
  dataOverrides.set(node, data);
}

/** Name, public id and system id of a doctype. */
export function doctypeParts(node: number): [string, string, string] {
  const data = dataOverrides.get(node);
  if (data !== undefined) {
    const [name = '', publicId = '', systemId = ''] = data.split('\0');
    return [name, publicId, systemId];
  }
  const at = attributeAt[node] ?? 0;
  const part = (index: number): string => pageValues.substring(valueAt[at + index] ?? 0, valueAt[at + index + 1] ?? 0);
  return [part(0), part(1), part(2)];
}

/** All text inside a node. */
export function textOf(node: number): string {
  if (node < frozen && isPageTextValid) return pageText.substring(textAt[node] ?? 0, textAt[endAt[node] ?? 0] ?? 0);
  if (isTextual(kind(node))) return dataOf(node);
  const parts: string[] = [];
  for (let each = following(node, node); each >= 0; each = following(each, node)) {
    if (isTextual(kind(each))) parts.push(dataOf(each));
  }
  return parts.join('');
}
