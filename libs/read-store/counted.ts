/** Documents that processes change together, such as counters: read, changed and written, by one at a time. */
import { randomUUID } from 'node:crypto';
import { unavailable } from '#runtime/errors';
import type { ReadStore, ViewDefinition } from './read-store.js';

export interface Expiring {
  readonly id: string;
  readonly expiresAtMs: number;
}

export interface Shared extends Expiring {
  /** Whose write it is: of two at the same revision the store keeps the first, and this tells which that was. */
  readonly write: string;
}

/** More rounds than processes that could meet on one document mean a fault. */
const rounds = 50;
const prunedAtOnce = 500;

/**
 * The document as `change` made it of the current one, once that is stored; `change` may be called several times. Where it
 * returns null, nothing is written and the answer is null. Rejects with `read_store_unavailable`.
 */
export async function changeShared<D extends Shared>(
  readStore: ReadStore,
  view: ViewDefinition<D>,
  id: string,
  change: (current: D | null) => Omit<D, 'id' | 'write'> | null,
): Promise<D | null> {
  for (let round = 0; round < rounds; round += 1) {
    const stored = (await readStore.load(view, [id])).get(id);
    const changed = change(stored?.document ?? null);
    if (changed === null) return null;
    const document = { ...changed, id, write: randomUUID() } as D;
    await readStore.save(view, [{ id, revision: (stored?.revision ?? 0) + 1, document }], null);
    const kept = await readStore.get(view, id);
    if (kept?.write === document.write) return kept;
  }
  throw unavailable('read_store_unavailable', 'A counter is changed by too many at once; try again.');
}

/** Removes what is past its time. What was changed since it was looked at stays. */
export async function pruneExpired<D extends Expiring>(
  readStore: ReadStore,
  view: ViewDefinition<D>,
  nowMs: number,
): Promise<void> {
  for (;;) {
    const { documents } = await readStore.page(view, {
      where: [{ field: 'expiresAtMs', to: nowMs }],
      sort: [{ field: 'expiresAtMs', descending: false }],
      limit: prunedAtOnce,
      offset: 0,
      count: false,
    });
    const stored = await readStore.load(
      view,
      documents.map(({ id }) => id),
    );
    const writes = [...stored.values()].map(({ id, revision }) => ({ id, revision: revision + 1, document: null }));
    if (writes.length > 0) await readStore.save(view, writes, null);
    if (documents.length < prunedAtOnce) return;
  }
}
