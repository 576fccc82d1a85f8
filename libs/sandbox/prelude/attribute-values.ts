/** Attributes of elements: read from the page's tables until code changes or makes them. */
import type { FlatTables } from './flat-tables.js';
import { findName, internName, nameText, spacedNames } from './name-table.js';
import { NodeMap } from './node-map.js';
import { bumpVersion, classIndex } from './tree.js';

const empty = new Int32Array(0);

let rows = 0;
let attributeAt: Int32Array = empty;
let attributeName: Int32Array = empty;
let valueAt: Int32Array = empty;
let pageValues = '';
/** Of elements that code changed or made. */
const attributeOverrides: NodeMap<Map<string, string>> = new NodeMap();

export function loadAttributes(tables: FlatTables, values: string): void {
  rows = tables.rows;
  attributeAt = tables.attributes;
  attributeName = tables.attributeNames;
  valueAt = tables.values;
  pageValues = values;
}

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
    if (overrides !== undefined) return overrides.get(nameText(id)) ?? null;
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
    list.set(nameText(attributeName[at] ?? 0), pageValues.substring(valueAt[at] ?? 0, valueAt[at + 1] ?? 0));
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
      markup += ` ${writtenName(nameText(attributeName[at] ?? 0))}="${escape(value)}"`;
    }
    return markup;
  }
  for (const [name, value] of attributesOf(node)) markup += ` ${writtenName(name)}="${escape(value)}"`;
  return markup;
}

function ownAttributes(node: number, name: string): Map<string, string> {
  bumpVersion();
  if (node < rows && (name === 'class' || name === 'id')) {
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
