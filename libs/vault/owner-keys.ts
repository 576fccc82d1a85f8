/** A key per owner, wrapped by the instance's own key and kept in a stream of its own: what is sealed with it goes with it. */
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { createLru } from '#concurrency/lru';
import { taskStream } from '#contracts/task';
import type { VaultEvent } from '#contracts/vault';
import { decodeEvent, encodeEvent } from '#eventing/codec';
import type { KeyRing } from '#eventing/key-ring';
import type { EventMetadata, EventStore, RecordedEvent } from '#event-store/event-store';
import { AppError, reject } from '#runtime/errors';
import { decrypt, encrypt } from '#runtime/cipher';

/** Keys of owners used last stay in memory, and no longer than this: another process may have dropped one. */
const cachedKeys = 10_000;
const cachedMs = 300_000;
export const vaultStreamPrefix = 'vault-';

export const vaultStream = (ownerId: string): string => `${vaultStreamPrefix}${ownerId}`;

export interface OwnerKeys {
  /** The key where it is in memory: no waiting. */
  known(ownerId: string): KeyObject | undefined;
  /** null: the owner has none. Rejects with `secret_unreadable` where SECRET_KEY is not the one that it was wrapped by. */
  find(ownerId: string): Promise<KeyObject | null>;
  /** The owner's key, made where there is none. Rejects with `purged` where it was dropped. */
  make(ownerId: string): Promise<KeyObject>;
  /** Whether the owner is a task whose contents were purged. */
  isPurged(ownerId: string): Promise<boolean>;
  /** Goes from memory, and is looked for in the store when it is needed next. */
  forget(ownerId: string): void;
  /** An event says that the task was purged: its key goes from memory and is not looked for again. */
  notePurged(ownerId: string): void;
}

/** `masterKey`: a single one, or the installation's, of which any may have wrapped it. */
export type MasterKeys = Uint8Array | Pick<KeyRing, 'current' | 'former'>;

export interface OwnerKeyWrapper {
  wrap(bytes: Uint8Array, ownerId: string): string;
  /** Throws where none of the keys has wrapped it. `isCurrent`: the one that is set did. */
  unwrap(wrapped: string, ownerId: string): { readonly bytes: Uint8Array; readonly isCurrent: boolean };
}

export function createOwnerKeyWrapper(keys: MasterKeys): OwnerKeyWrapper {
  const ring = keys instanceof Uint8Array ? { current: keys, former: [] } : keys;
  const current = createSecretKey(ring.current);
  const former = ring.former.map(({ key }) => createSecretKey(key));
  return {
    wrap: (bytes, ownerId) => encrypt(current, bytes, ownerId),
    unwrap(wrapped, ownerId) {
      let fault: unknown = null;
      for (const master of [current, ...former]) {
        try {
          return { bytes: decrypt(master, wrapped, ownerId), isCurrent: master === current };
        } catch (error) {
          fault ??= error;
        }
      }
      throw fault;
    },
  };
}

export function unwrapOwnerKey(wrapper: OwnerKeyWrapper, wrapped: string, ownerId: string): KeyObject {
  return createSecretKey(wrapper.unwrap(wrapped, ownerId).bytes);
}

/** Whether this master key opens the owner's key that an event of a vault holds; null where the event holds none. */
export function opensVault(
  masterKey: Uint8Array,
  { stream, data }: Pick<RecordedEvent, 'stream' | 'data'>,
): boolean | null {
  const { wrapped } = data;
  if (!stream.startsWith(vaultStreamPrefix) || typeof wrapped !== 'string') return null;
  try {
    decrypt(createSecretKey(masterKey), wrapped, stream.slice(vaultStreamPrefix.length));
    return true;
  } catch {
    return false;
  }
}

interface CachedKey {
  readonly key: Promise<KeyObject | null>;
  found: KeyObject | null;
  readonly untilMs: number;
}

/** Of an event in the stream of a key. */
export function vaultMetadata(requestId: string): EventMetadata {
  const at = new Date().toISOString();
  return { organizationId: '', actor: 'system:vault', requestId, causationId: null, at };
}

/** `eventStore`: with the events as they are stored. */
export function createOwnerKeys(eventStore: EventStore, masterKeys: MasterKeys): OwnerKeys {
  const wrapper = createOwnerKeyWrapper(masterKeys);
  const keys = createLru<string, CachedKey>(cachedKeys);
  const purged = createLru<string, true>(cachedKeys);

  const cached = (ownerId: string): CachedKey | undefined => {
    const known = keys.get(ownerId);
    return known === undefined || known.untilMs < performance.now() ? undefined : known;
  };

  const remember = (ownerId: string, key: Promise<KeyObject | null>): Promise<KeyObject | null> => {
    const entry: CachedKey = { key, found: null, untilMs: performance.now() + cachedMs };
    keys.set(ownerId, entry);
    const drop = (): void => {
      if (keys.get(ownerId) === entry) keys.delete(ownerId);
    };
    key.then((found) => {
      entry.found = found;
      if (found === null) drop();
    }, drop);
    return key;
  };

  const load = async (ownerId: string): Promise<KeyObject | null> => {
    if (purged.has(ownerId)) return null;
    const last = await eventStore.readLast(vaultStream(ownerId));
    if (last === null) return null;
    const event = decodeEvent<VaultEvent>(last);
    if (event.type === 'vault.key_dropped') return null;
    try {
      return unwrapOwnerKey(wrapper, event.data.wrapped, ownerId);
    } catch (error) {
      throw new AppError(
        'SERVER_ERROR',
        'secret_unreadable',
        'A stored secret cannot be opened: SECRET_KEY is not the one it was sealed with.',
        { cause: error },
      );
    }
  };

  const isPurged = async (ownerId: string): Promise<boolean> => {
    if (purged.has(ownerId)) return true;
    const last = await eventStore.readLast(taskStream(ownerId));
    if (last?.type !== 'task.purged') return false;
    purged.set(ownerId, true);
    return true;
  };

  const make = async (ownerId: string): Promise<KeyObject | null> => {
    const known = await load(ownerId);
    if (known !== null) return known;
    if (await isPurged(ownerId)) return null;
    const bytes = randomBytes(32);
    const id = crypto.randomUUID();
    const made: VaultEvent = { type: 'vault.key_made', data: { wrapped: wrapper.wrap(bytes, ownerId) } };
    const appended = await eventStore.append(vaultStream(ownerId), [encodeEvent(made, id, vaultMetadata(id))], 'none');
    return appended.ok ? createSecretKey(bytes) : load(ownerId);
  };

  return {
    known: (ownerId) => cached(ownerId)?.found ?? undefined,
    find: (ownerId) => cached(ownerId)?.key ?? remember(ownerId, load(ownerId)),
    async make(ownerId) {
      const key = (await cached(ownerId)?.key) ?? (await remember(ownerId, make(ownerId)));
      if (key === null) throw reject('purged', 'The contents of this notification are gone for good.');
      return key;
    },
    isPurged,
    forget: (ownerId) => void keys.delete(ownerId),
    notePurged(ownerId) {
      purged.set(ownerId, true);
      keys.delete(ownerId);
    },
  };
}
