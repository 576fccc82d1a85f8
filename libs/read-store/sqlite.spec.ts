import { describe } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoreContract } from './read-store.contract.js';
import type { AnyView, ViewStore } from './read-store.js';
import { rememberDocuments } from './remembered-documents.js';
import { createSqliteReadStore } from './sqlite.js';

/** Every view is one whose documents are remembered. */
function rememberingAll(opened: ViewStore): ViewStore {
  const store = rememberDocuments(opened);
  const marked = <V extends AnyView>(view: V): V => ({ ...view, isRemembered: true });
  return {
    ...store,
    save: (view, ...more) => store.save(marked(view), ...more),
    get: (view, id) => store.get(marked(view), id),
    load: (view, ids) => store.load(marked(view), ids),
    forget: (view, documents) => store.forget(marked(view), documents),
    reset: (view) => store.reset(marked(view)),
    replace: (view, built) => store.replace(marked(view), built),
  };
}

describe.each([
  { name: 'SQLite', opened: (store: ViewStore) => store },
  { name: 'SQLite with its last documents in memory', opened: rememberingAll },
])('$name', ({ name, opened }) => {
  readStoreContract(name, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-views-'));
    const file = join(folder, 'views.db');
    let store = opened(createSqliteReadStore(file));
    return {
      store,
      second: async () => store,
      async reopen() {
        await store.close();
        store = opened(createSqliteReadStore(file));
        return store;
      },
      async destroy() {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  });
});
