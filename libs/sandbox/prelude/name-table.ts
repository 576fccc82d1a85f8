/** Names of tags and attributes, foreign tags prefixed; ids are stable, names made by the code are added. */
import { searchesBeforeMap } from './row-lists.js';

let names: string[] = [];
let nameIds: Map<string, number> | null = null;
let searches = 0;

/** Counts names that carry their namespace (`names.ts`); most pages have none. An object, so that other files see it change. */
export const spacedNames = { count: 0 };

/** Takes the names of a page, divided by NUL. */
export function loadNames(list: string): void {
  names = list === '' ? [] : list.split('\0');
  nameIds = null;
  spacedNames.count = list.includes('\n') ? 1 : 0;
}

export function nameCount(): number {
  return names.length;
}

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
