/** Tables: their parts, rows and cells. */
import { takeOut } from './documents.js';
import { domError } from './dom-exception.js';
import type { HTMLCollection } from './lists.js';
import { liveCollection, oncePerNode } from './lists.js';
import { insertInto } from './mutations.js';
import { NodeMap } from './node-map.js';
import { numberOf, tag } from './nodes.js';
import { positionOf } from './sibling-positions.js';
import { findName, internName } from './name-table.js';
import {
  childElementsOf,
  containsNode,
  createNode,
  elementKind,
  firstChild,
  insertNode,
  nextSibling,
  parentElementOf,
  versionOf,
} from './tree.js';
import { wrap } from './wrappers.js';

/** The children of one of two tags. A name that nothing bears has the id -1, which would be any. */
function childrenWith(node: number, tag_: string, other: string = tag_): number[] {
  const first = findName(tag_);
  const second = other === tag_ ? first : findName(other);
  if (first < 0 && second < 0) return [];
  return childElementsOf(node, first < 0 ? second : first, second);
}

function rowsOf(table: number): number[] {
  const heads: number[] = [];
  const bodies: number[] = [];
  const feet: number[] = [];
  for (const child of childElementsOf(table)) {
    const name = tag(child);
    if (name === 'tr') bodies.push(child);
    else if (name === 'tbody') bodies.push(...childrenWith(child, 'tr'));
    else if (name === 'thead') heads.push(...childrenWith(child, 'tr'));
    else if (name === 'tfoot') feet.push(...childrenWith(child, 'tr'));
  }
  return [...heads, ...bodies, ...feet];
}

let indexedTable = -1;
let indexedVersion = -1;
let rowIndexes = new NodeMap<number>();

/** Where a row stands in its table, counted once for all rows of a table. */
function rowIndexIn(table: number, row: number): number {
  if (table !== indexedTable || indexedVersion !== versionOf()) {
    indexedTable = table;
    indexedVersion = versionOf();
    rowIndexes = new NodeMap();
    for (const [at, each] of rowsOf(table).entries()) rowIndexes.set(each, at);
  }
  return rowIndexes.get(row) ?? -1;
}

function tableOf(node: number): number {
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) if (tag(up) === 'table') return up;
  return -1;
}

const tableRows = oncePerNode(liveCollection, rowsOf);
const tableBodies = oncePerNode(liveCollection, (node) => childrenWith(node, 'tbody'));
const sectionRows = oncePerNode(liveCollection, (node) => childrenWith(node, 'tr'));
const rowCells = oncePerNode(liveCollection, (node) => childrenWith(node, 'td', 'th'));

export const tableMembers = {
  get rows(): HTMLCollection {
    return tableRows(numberOf(this));
  },
  get tBodies(): HTMLCollection {
    return tableBodies(numberOf(this));
  },
  get tHead(): object | null {
    return wrap(childrenWith(numberOf(this), 'thead')[0] ?? -1);
  },
  set tHead(value: unknown) {
    replacePart(numberOf(this), 'thead', value);
  },
  get tFoot(): object | null {
    return wrap(childrenWith(numberOf(this), 'tfoot')[0] ?? -1);
  },
  set tFoot(value: unknown) {
    replacePart(numberOf(this), 'tfoot', value);
  },
  get caption(): object | null {
    return wrap(childrenWith(numberOf(this), 'caption')[0] ?? -1);
  },
  set caption(value: unknown) {
    replacePart(numberOf(this), 'caption', value);
  },
  createCaption(): object | null {
    return partOf(numberOf(this), 'caption');
  },
  createTHead(): object | null {
    return partOf(numberOf(this), 'thead');
  },
  createTFoot(): object | null {
    return partOf(numberOf(this), 'tfoot');
  },
  createTBody(): object | null {
    const table = numberOf(this);
    const last = childrenWith(table, 'tbody').at(-1) ?? -1;
    return put(table, 'tbody', last < 0 ? -1 : nextSibling(last));
  },
  deleteCaption(): void {
    for (const each of childrenWith(numberOf(this), 'caption').slice(0, 1)) takeOut(each);
  },
  deleteTHead(): void {
    for (const each of childrenWith(numberOf(this), 'thead').slice(0, 1)) takeOut(each);
  },
  deleteTFoot(): void {
    for (const each of childrenWith(numberOf(this), 'tfoot').slice(0, 1)) takeOut(each);
  },
  insertRow(index: unknown = -1): object | null {
    const table = numberOf(this);
    const rows = rowsOf(table);
    const at = placeIn(rows.length, index);
    const last = rows.at(-1);
    if (last !== undefined) {
      const before = rows[at];
      return put(parentElementOf(before ?? last), 'tr', before ?? nextSibling(last));
    }
    const body = childrenWith(table, 'tbody').at(-1) ?? numberOf(put(table, 'tbody', -1));
    return put(body, 'tr', -1);
  },
  deleteRow(index: unknown): void {
    removeAt(rowsOf(numberOf(this)), index);
  },
};

function put(parent: number, name: string, before: number): object | null {
  const node = createNode(elementKind, internName(name), '');
  insertNode(parent, node, before);
  return wrap(node);
}

/** The part that a table has one of, made where it has none. */
function partOf(table: number, name: string): object | null {
  const [known] = childrenWith(table, name);
  if (known !== undefined) return wrap(known);
  return put(table, name, placeOf(table, name));
}

/** What a part of a table stands before. */
function placeOf(table: number, name: string): number {
  if (name !== 'thead') return name === 'caption' ? firstChild(table) : -1;
  return childElementsOf(table).find((each) => tag(each) !== 'caption' && tag(each) !== 'colgroup') ?? -1;
}

/** Puts a part in the place of the first of its kind; null only takes that away. */
function replacePart(table: number, name: string, value: unknown): void {
  const part = value === null || value === undefined ? -1 : numberOf(value);
  if (part >= 0 && tag(part) !== name) {
    if (name === 'caption' || !/^(?:thead|tbody|tfoot)$/.test(tag(part))) throw new TypeError(`That is no ${name}.`);
    throw domError('HierarchyRequestError', `A ${tag(part)} cannot be the ${name} of a table.`);
  }
  if (part >= 0 && containsNode(part, table)) throw domError('HierarchyRequestError', 'The part holds the table.');
  for (const each of childrenWith(table, name).slice(0, 1)) takeOut(each);
  if (part >= 0) insertInto(table, part, placeOf(table, name));
}

function placeIn(count: number, index: unknown): number {
  const at = Number(index) | 0;
  if (at < -1 || at > count) throw domError('IndexSizeError', `There is no place ${at} among ${count}.`);
  return at < 0 ? count : at;
}

function removeAt(nodes: readonly number[], index: unknown): void {
  const at = Number(index) | 0;
  if (at < -1 || at >= nodes.length) throw domError('IndexSizeError', `There is no place ${at} among ${nodes.length}.`);
  const node = at < 0 ? nodes.at(-1) : nodes[at];
  if (node !== undefined) takeOut(node);
}

export const sectionMembers = {
  get rows(): HTMLCollection {
    return sectionRows(numberOf(this));
  },
  insertRow(index: unknown = -1): object | null {
    const rows = childrenWith(numberOf(this), 'tr');
    return put(numberOf(this), 'tr', rows[placeIn(rows.length, index)] ?? -1);
  },
  deleteRow(index: unknown): void {
    removeAt(childrenWith(numberOf(this), 'tr'), index);
  },
};

export const rowMembers = {
  get cells(): HTMLCollection {
    return rowCells(numberOf(this));
  },
  insertCell(index: unknown = -1): object | null {
    const cells = childrenWith(numberOf(this), 'td', 'th');
    return put(numberOf(this), 'td', cells[placeIn(cells.length, index)] ?? -1);
  },
  deleteCell(index: unknown): void {
    removeAt(childrenWith(numberOf(this), 'td', 'th'), index);
  },
  get rowIndex(): number {
    const table = tableOf(numberOf(this));
    return table < 0 ? -1 : rowIndexIn(table, numberOf(this));
  },
  get sectionRowIndex(): number {
    return parentElementOf(numberOf(this)) < 0 ? -1 : positionOf(numberOf(this), false, true) - 1;
  },
};

export const cellMembers = {
  get cellIndex(): number {
    const parent = parentElementOf(numberOf(this));
    return parent < 0 ? -1 : childrenWith(parent, 'td', 'th').indexOf(numberOf(this));
  },
};
