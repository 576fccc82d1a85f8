/**
 * Copies of keys, by which an owner can see one again: sealed with the organisation's key, beside the events and in none of them.
 * Where a copy is lost, its key stays good.
 */
import type { Clock } from '#runtime/clock';
import { toTimestamp } from '#runtime/clock';
import { isSealed, type Sealed, type Vault } from '#vault/vault';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

interface KeyCopy {
  readonly id: string;
  readonly organizationId: string;
  readonly key: Sealed;
  readonly at: string;
}

export const keyCopiesCollection: StateCollection<KeyCopy> = { name: 'key_copies', indexedBy: null };

export interface KeyCopies {
  keep(organizationId: string, keyId: string, text: string): Promise<void>;
  /** null: there is none. */
  open(organizationId: string, keyId: string): Promise<string | null>;
  drop(keyId: string): Promise<void>;
  /** Every one of them: keys are shown once from now on. */
  dropAll(): Promise<void>;
}

const droppedAtOnce = 500;

/** `keepsNone`: KEYS_SHOW_ONCE. */
export function createKeyCopies(
  sharedState: SharedState,
  vault: Vault,
  clock: Clock,
  { keepsNone }: { readonly keepsNone: boolean },
): KeyCopies {
  const scopeOf = (keyId: string): string => `key/${keyId}`;

  const look = async (keyId: string) => (await sharedState.load(keyCopiesCollection, [keyId])).get(keyId);

  const remove = async (keyIds: readonly string[]): Promise<void> => {
    const found = await sharedState.load(keyCopiesCollection, keyIds);
    const writes = [...found.values()].filter(({ value }) => value !== null);
    await sharedState.save(
      keyCopiesCollection,
      writes.map(({ key, version }) => ({ key, version: version + 1, value: null })),
    );
  };

  return {
    async keep(organizationId, keyId, text) {
      if (keepsNone) return;
      const { key } = await vault.seal(organizationId, scopeOf(keyId), { key: text }, ['key']);
      if (!isSealed(key)) throw new Error('the vault left a key in clear');
      const version = ((await look(keyId))?.version ?? 0) + 1;
      const at = toTimestamp(clock.now());
      await sharedState.save(keyCopiesCollection, [
        { key: keyId, version, value: { id: keyId, organizationId, key: { $sealed: key.$sealed }, at } },
      ]);
    },

    async open(organizationId, keyId) {
      if (keepsNone) return null;
      const copy = (await look(keyId))?.value ?? null;
      if (copy === null || copy.organizationId !== organizationId) return null;
      const { key } = await vault.open(organizationId, scopeOf(keyId), { key: { ...copy.key } });
      return typeof key === 'string' ? key : null;
    },

    drop: (keyId) => remove([keyId]),

    async dropAll() {
      for (;;) {
        const some = await sharedState.list(keyCopiesCollection, droppedAtOnce);
        if (some.length === 0) return;
        await remove(some.map(({ id }) => id));
      }
    },
  };
}
