/** Envelope encryption: values under a key per owner, that key under the instance's own. */
import type { EventStore } from '#event-store/event-store';
import type { Json, JsonObject } from '#runtime/json';
import { encrypt } from '#runtime/cipher';
import { openSealed, unreadable } from './open-sealed.js';
import { createOwnerKeys, type OwnerKeys } from './owner-keys.js';
import { isSealed, type Vault } from './vault.js';

/** `to` names a plain value, `to[]` each entry of a list, `headers.*` each member of an object, `auth.password` one of them. */
type Visit = (value: Json, path: string) => Json;

function mapAt(value: JsonObject, path: string, visit: Visit): JsonObject {
  const [, name, kind] = /^([^.[]+)(\[\]|\.(?:\*|[A-Za-z]+))?$/.exec(path) ?? [];
  // What is not understood would be stored in clear.
  if (name === undefined) throw new Error(`no path to seal: ${path}`);
  const target = value[name];
  if (target === undefined || target === null) return value;
  if (kind === '[]') {
    if (!Array.isArray(target)) return value;
    return { ...value, [name]: target.map((entry: Json, index) => visit(entry, `${name}[${index}]`)) };
  }
  if (kind?.startsWith('.') === true) {
    if (typeof target !== 'object' || Array.isArray(target)) return value;
    const isSought = (key: string): boolean => kind === '.*' || kind === `.${key}`;
    const members = Object.entries(target as JsonObject).map(([key, entry]) => [
      key,
      isSought(key) ? visit(entry, `${name}.${key}`) : entry,
    ]);
    return { ...value, [name]: Object.fromEntries(members) as JsonObject };
  }
  return Array.isArray(target) ? value : { ...value, [name]: visit(target, name) };
}

/** Dropping an owner's key makes everything sealed for the owner unreadable, in every event and in backups made later. */
export function createVault(keys: OwnerKeys): Vault {
  return {
    async seal(ownerId, scope, value, paths) {
      const targets: string[] = [];
      for (const path of paths) {
        mapAt(value, path, (entry, at) => {
          if (!isSealed(entry)) targets.push(at);
          return entry;
        });
      }
      if (targets.length === 0) return value;
      const key = keys.known(ownerId) ?? (await keys.make(ownerId));
      const sealOne: Visit = (entry, at) =>
        isSealed(entry) ? entry : { $sealed: encrypt(key, JSON.stringify(entry), `${ownerId}|${scope}|${at}`) };
      return paths.reduce((current, path) => mapAt(current, path, sealOne), value);
    },

    async open(ownerId, scope, value) {
      if (!JSON.stringify(value).includes('"$sealed"')) return value;
      const key = keys.known(ownerId) ?? (await keys.find(ownerId));
      if (key === null) throw unreadable();
      return openSealed(key, ownerId, scope, value);
    },

    forgetKey: (ownerId) => keys.forget(ownerId),
  };
}

/** `masterKey`: 32 bytes, of the installation. */
export function createEventVault(eventStore: EventStore, masterKey: Uint8Array): Vault {
  return createVault(createOwnerKeys(eventStore, masterKey));
}
