/**
 * The page inside the sandbox: nodes are integers over the flat tables the page came in, and become objects only where
 * code asks for them. The tables never change. The first change of structure copies them into linked columns ("thaw");
 * nodes made by the code live in those columns from the start. A node below `frozen` is read from the tables.
 */
import { linkedRows } from './linked-rows.js';
import { NodeMap } from './node-map.js';
import { isAmong, NamePlaces, rowsInside, rowsWithin, searchesBeforeMap } from './row-lists.js';

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
let attributeName: Int32Array = empty;
let valueAt: Int32Array = empty;
let tagStart: Int32Array = empty;
let tagRows: Int32Array = empty;
let classStart: Int32Array = empty;
let classRows: Int32Array = empty;
let idStart: Int32Array = empty;
let idRows: Int32Array = empty;
let templatePairs: Int32Array = empty;
let pageText = '';
let pageValues = '';
let classNames = '';
let idNames = '';
let isQuirksPage = false;
let isXmlPage = false;

/** Names of tags and attributes, foreign tags prefixed; ids are stable, names made by the code are added. */
let names: string[] = [];
let nameIds: Map<string, number> | null = null;
let classIds: NamePlaces | null = null;
let idIds: NamePlaces | null = null;

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
/** Attributes of elements that code changed or made. */
const attributeOverrides: NodeMap<Map<string, string>> = new NodeMap();
let templateContents: NodeMap<number> | null = null;
/** False after a change of any class or id. */
let areIndexesValid = true;
/** False after a change of any text that came with the page. */
let isPageTextValid = true;
/** Nodes below are of the classes and ids that the indexes say; an object, so that other files see it change. */
export const classIndex = { limit: 0 };
/** Counts names that say their namespace (`names.ts`); most pages have none. An object, so that other files see it change. */
export const spacedNames = { count: 0 };

/** Told before a node leaves its place, after one has got one, and before data changes: live ranges and iterators. */
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
export function tellSplit(node: number, offset: number, rest: number): void {
  watcher?.split(node, offset, rest);
}

/** Grows with every change; what is cached by it is stale when it differs. */
let treeVersion = 0;

/** Takes a page's tables; see `flat-page.ts` for their order. */
export function loadTree(
  buffer: ArrayBuffer,
  text: string,
  values: string,
  nameList: string,
  classList: string,
  idList: string,
): void {
  const tables = new Int32Array(buffer);
  const word = (at: number): number => tables[at] ?? 0;
  rows = word(0);
  const attributes = word(1);
  const nameCount = word(2);
  const classCount = word(3);
  const idCount = word(4);
  isQuirksPage = word(9) === 1;
  isXmlPage = word(9) === 2;
  let at = 10;
  const take = (length: number): Int32Array => {
    const table = new Int32Array(buffer, at * 4, length);
    at += length;
    return table;
  };
  kindOf = take(rows);
  parentAt = take(rows);
  endAt = take(rows);
  textAt = take(rows + 1);
  attributeAt = take(rows + 1);
  attributeName = take(attributes);
  valueAt = take(attributes + 1);
  tagStart = take(nameCount + 1);
  tagRows = take(word(5));
  classStart = take(classCount + 1);
  classRows = take(word(6));
  idStart = take(idCount + 1);
  idRows = take(word(7));
  templatePairs = take(word(8) * 2);
  pageText = text;
  pageValues = values;
  names = nameList === '' ? [] : nameList.split('\0');
  nameIds = null;
  spacedNames.count = nameList.includes('\n') ? 1 : 0;
  classNames = classList;
  idNames = idList;
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

export function nameCount(): number {
  return names.length;
}

/** All nodes there are have numbers below this. */
export function nodeLimit(): number {
  return nodeCount;
}

export function versionOf(): number {
  return treeVersion;
}

// Names ---------------------------------------------------------------------------------------------------------------

let searches = 0;

function nameMap(): Map<string, number> {
  if (nameIds === null) {
    nameIds = new Map();
    for (let id = 0; id < names.length; id++) nameIds.set(names[id] ?? '', id);
  }
  return nameIds;
}

/** The id of a name, -1 if nothing on the page bears it. */
export function findName(name: string): number {
  if (nameIds === null && searches++ < searchesBeforeMap) return names.indexOf(name);
  return nameMap().get(name) ?? -1;
}

export function internName(name: string): number {
  let id = findName(name);
  if (id < 0) {
    id = names.length;
    names.push(name);
    nameIds?.set(name, id);
    if (name.includes('\n')) spacedNames.count++;
  }
  return id;
}

export function nameText(id: number): string {
  return names[id] ?? '';
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
  if (nodeKind === elementKind) attributeOverrides.set(node, new Map());
  else dataOverrides.set(node, data);
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

// Attributes ----------------------------------------------------------------------------------------------------------

export function getAttribute(node: number, name: string): string | null {
  if (attributeOverrides.isUsed) {
    const overrides = attributeOverrides.get(node);
    if (overrides !== undefined) return overrides.get(name) ?? null;
  }
  const id = findName(name);
  return id < 0 ? null : attributeByName(node, id);
}

/** As `getAttribute`, for a name id of the page's own tables. */
export function attributeByName(node: number, id: number): string | null {
  if (attributeOverrides.isUsed) {
    const overrides = attributeOverrides.get(node);
    if (overrides !== undefined) return overrides.get(names[id] ?? '') ?? null;
  }
  const end = attributeAt[node + 1] ?? 0;
  for (let at = attributeAt[node] ?? 0; at < end; at++) {
    if (attributeName[at] === id) return pageValues.substring(valueAt[at] ?? 0, valueAt[at + 1] ?? 0);
  }
  return null;
}

/** Names and values in source order; a copy. */
export function attributesOf(node: number): Map<string, string> {
  const overrides = attributeOverrides.get(node);
  if (overrides !== undefined) return new Map(overrides);
  const list = new Map<string, string>();
  if (node >= rows) return list;
  const end = attributeAt[node + 1] ?? 0;
  for (let at = attributeAt[node] ?? 0; at < end; at++) {
    list.set(names[attributeName[at] ?? 0] ?? '', pageValues.substring(valueAt[at] ?? 0, valueAt[at + 1] ?? 0));
  }
  return list;
}

/** A name without the namespace that may follow it (`names.ts`). */
function writtenName(name: string): string {
  return spacedNames.count === 0 || !name.includes('\n') ? name : name.slice(0, name.indexOf('\n'));
}

/** Attributes as they stand in markup, each with a blank before it. */
export function attributeMarkup(node: number, escape: (value: string) => string): string {
  let markup = '';
  if (node < rows && (!attributeOverrides.isUsed || attributeOverrides.get(node) === undefined)) {
    const end = attributeAt[node + 1] ?? 0;
    for (let at = attributeAt[node] ?? 0; at < end; at++) {
      const value = pageValues.substring(valueAt[at] ?? 0, valueAt[at + 1] ?? 0);
      markup += ` ${writtenName(names[attributeName[at] ?? 0] ?? '')}="${escape(value)}"`;
    }
    return markup;
  }
  for (const [name, value] of attributesOf(node)) markup += ` ${writtenName(name)}="${escape(value)}"`;
  return markup;
}

function ownAttributes(node: number, name: string): Map<string, string> {
  treeVersion++;
  if (node < rows && (name === 'class' || name === 'id')) {
    areIndexesValid = false;
    classIndex.limit = 0;
  }
  let own = attributeOverrides.get(node);
  if (own === undefined) {
    own = attributesOf(node);
    attributeOverrides.set(node, own);
  }
  return own;
}

export function setAttribute(node: number, name: string, value: string): void {
  if (name.includes('\n')) internName(name);
  ownAttributes(node, name).set(name, value);
}

export function removeAttribute(node: number, name: string): void {
  ownAttributes(node, name).delete(name);
}

// Indexes -------------------------------------------------------------------------------------------------------------

/** Whether the tables' indexes answer for the subtree of `root`. */
function isIndexed(root: number): boolean {
  return root < frozen;
}

function merged(start: Int32Array, list: Int32Array, keys: readonly number[] | null, root: number): ArrayLike<number> {
  if (keys === null) return empty;
  if (keys.length === 1) return rowsWithin(start, list, keys[0] ?? 0, root, endAt[root] ?? 0);
  const all: number[] = [];
  for (const key of keys) all.push(...Array.from(rowsWithin(start, list, key, root, endAt[root] ?? 0)));
  return all.sort((left, right) => left - right);
}

/** In the class index; null where nothing on the page is of the class. */
function keysOfClass(name: string): readonly number[] | null {
  classIds ??= new NamePlaces(classNames, isQuirksPage);
  return classIds.of(name);
}

/** Elements of a class inside `root`, in document order; null where the index cannot tell. */
export function indexedByClass(root: number, name: string): ArrayLike<number> | null {
  if (!isIndexed(root) || !areIndexesValid) return null;
  return merged(classStart, classRows, keysOfClass(name), root);
}

/** Whether a node is of a class; good for nodes below `classIndex.limit`. */
export function isOfClass(node: number, name: string): boolean {
  const keys = keysOfClass(name) ?? [];
  for (let each = 0; each < keys.length; each++) {
    const key = keys[each] ?? 0;
    if (isAmong(classRows, node, classStart[key] ?? 0, classStart[key + 1] ?? 0)) return true;
  }
  return false;
}

const classMarks: Map<string, Uint8Array> = new Map();

/** One byte for each node of the page: 1 where it is of the class. Good for nodes below `classIndex.limit`. */
export function marksOfClass(name: string): Uint8Array {
  let marks = classMarks.get(name);
  if (marks === undefined) {
    marks = new Uint8Array(rows);
    for (const key of keysOfClass(name) ?? []) {
      const end = classStart[key + 1] ?? 0;
      for (let at = classStart[key] ?? 0; at < end; at++) marks[classRows[at] ?? 0] = 1;
    }
    classMarks.set(name, marks);
  }
  return marks;
}

export function indexedById(root: number, id: string): ArrayLike<number> | null {
  if (!isIndexed(root) || !areIndexesValid) return null;
  idIds ??= new NamePlaces(idNames, isQuirksPage);
  return merged(idStart, idRows, idIds.of(id), root);
}

/** Elements with this name id inside `root`, in document order; null where the index cannot tell. */
export function indexedByTag(root: number, name: number): ArrayLike<number> | null {
  if (!isIndexed(root)) return null;
  if (name >= tagStart.length - 1) return empty;
  return rowsWithin(tagStart, tagRows, name, root, endAt[root] ?? 0);
}
