/** What follows the tree as it changes: ranges and iterators, while there are any. */
import type { TreeWatcher } from './tree.js';
import { watchTree } from './tree.js';

const all: Partial<TreeWatcher>[] = [];

/** Each is notified of every change from now on. */
export function follow(watcher: Partial<TreeWatcher>): void {
  all.push(watcher);
  if (all.length > 1) return;
  watchTree({
    removing: (node) => {
      for (const each of all) each.removing?.(node);
    },
    inserted: (node) => {
      for (const each of all) each.inserted?.(node);
    },
    changing: (node, offset, count, length) => {
      for (const each of all) each.changing?.(node, offset, count, length);
    },
    split: (node, offset, rest) => {
      for (const each of all) each.split?.(node, offset, rest);
    },
  });
}
