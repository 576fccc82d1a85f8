/** The tree of parse5 while it grows: integers in columns that every page uses again. */
import type { Token } from 'parse5';
import { PageTooComplex } from './page-parser.js';
import type { PageLimits } from './page-parser.js';

type Attributes = Token.Attribute[];

export const svgNamespace = 'http://www.w3.org/2000/svg';
export const mathNamespace = 'http://www.w3.org/1998/Math/MathML';
export const noAttributes: Attributes = [];

/** The tree while it grows. Node 0 is unused, so that 0 can mean "none". */
class Columns {
  capacity = 1 << 14;
  count = 1;
  kind = new Uint8Array(this.capacity);
  name = new Int32Array(this.capacity);
  parent = new Int32Array(this.capacity);
  first = new Int32Array(this.capacity);
  last = new Int32Array(this.capacity);
  previous = new Int32Array(this.capacity);
  next = new Int32Array(this.capacity);
  depth = new Int32Array(this.capacity);
  /** Contents of a text, comment or doctype. */
  data: string[] = [''];
  attributes: Attributes[] = [noAttributes];
  names = new Map<string, number>();
  namespaces: string[] = [''];
  templates = new Map<number, number>();
  isQuirks = false;
  elements = 0;

  reset(): void {
    this.first.fill(0, 0, this.count);
    this.last.fill(0, 0, this.count);
    this.parent.fill(0, 0, this.count);
    this.depth.fill(0, 0, this.count);
    this.count = 1;
    this.elements = 0;
    this.data = [''];
    this.attributes = [noAttributes];
    this.names = new Map();
    this.namespaces = [''];
    this.templates = new Map();
    this.isQuirks = false;
    // A huge page must not keep its columns for the rest of the worker's life.
    if (this.capacity > 1 << 18) Object.assign(this, new Columns());
  }

  add(kind: number, name: number, data: string, attributes: Attributes, namespace: string): number {
    const node = this.count;
    if (node === this.capacity) this.#grow();
    this.count = node + 1;
    this.kind[node] = kind;
    this.name[node] = name;
    this.data.push(data);
    this.attributes.push(attributes);
    this.namespaces.push(namespace);
    return node;
  }

  nameOf(name: string): number {
    let id = this.names.get(name);
    if (id === undefined) {
      id = this.names.size;
      this.names.set(name, id);
    }
    return id;
  }

  #grow(): void {
    this.capacity *= 2;
    const kind = new Uint8Array(this.capacity);
    kind.set(this.kind);
    this.kind = kind;
    for (const column of ['name', 'parent', 'first', 'last', 'previous', 'next', 'depth'] as const) {
      const grown = new Int32Array(this.capacity);
      grown.set(this[column]);
      this[column] = grown;
    }
  }
}

export const columns = new Columns();

export function refuseDepth(limits: PageLimits): never {
  throw new PageTooComplex(`nests its elements more than ${limits.depth} deep`);
}

function setDepth(node: number, parent: number, limits: PageLimits): void {
  const depth = (columns.depth[parent] ?? 0) + 1;
  columns.depth[node] = depth;
  if (depth > limits.depth) refuseDepth(limits);
}

export function appendChild(parent: number, node: number, limits: PageLimits): void {
  const last = columns.last[parent] ?? 0;
  columns.parent[node] = parent;
  columns.previous[node] = last;
  columns.next[node] = 0;
  if (last === 0) columns.first[parent] = node;
  else columns.next[last] = node;
  columns.last[parent] = node;
  setDepth(node, parent, limits);
}

export function insertBefore(parent: number, node: number, reference: number, limits: PageLimits): void {
  const previous = columns.previous[reference] ?? 0;
  columns.parent[node] = parent;
  columns.previous[node] = previous;
  columns.next[node] = reference;
  columns.previous[reference] = node;
  if (previous === 0) columns.first[parent] = node;
  else columns.next[previous] = node;
  setDepth(node, parent, limits);
}

export function detach(node: number): void {
  const parent = columns.parent[node] ?? 0;
  if (parent === 0) return;
  const previous = columns.previous[node] ?? 0;
  const next = columns.next[node] ?? 0;
  if (previous === 0) columns.first[parent] = next;
  else columns.next[previous] = next;
  if (next === 0) columns.last[parent] = previous;
  else columns.previous[next] = previous;
  columns.parent[node] = 0;
}
