/** Envelope encryption: values under a key per owner, that key under the instance's own. AES-256-GCM throughout. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { createLru } from '#concurrency/lru';
import type { VaultEvent } from '#contracts/vault';
import { decodeEvent, encodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { AppError } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import { isSealed, type Sealed, type Vault } from './vault.js';

const ivBytes = 12;
const tagBytes = 16;
/** Keys of owners used last stay in memory. */
const cachedKeys = 10_000;
const streamPrefix = 'vault-';

/** Random bytes are drawn many at a time: a system call each would cost more than the cipher. */
let drawn = Buffer.alloc(0);
function nextIv(): Buffer {
  if (drawn.length < ivBytes) drawn = randomBytes(512 * ivBytes);
  const iv = drawn.subarray(0, ivBytes);
  drawn = drawn.subarray(ivBytes);
  return iv;
}

function encrypt(key: KeyObject, plain: Uint8Array | string, associated: string): string {
  const iv = nextIv();
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(associated));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
}

function decrypt(key: KeyObject, sealed: string, associated: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(associated))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
}

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

function openAll(value: Json, path: string, open: (sealed: Sealed, path: string) => Json): Json {
  if (isSealed(value)) return open(value, path);
  if (Array.isArray(value)) return value.map((entry: Json, index) => openAll(entry, `${path}[${index}]`, open));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as JsonObject).map(([key, entry]) => [
    key,
    openAll(entry, path === '' ? key : `${path}.${key}`, open),
  ]);
  return Object.fromEntries(members) as JsonObject;
}

/** Whether this master key opens the owner's key that an event of a vault holds; null where the event holds none. */
export function opensVault(
  masterKey: Uint8Array,
  { stream, data }: Pick<RecordedEvent, 'stream' | 'data'>,
): boolean | null {
  const { wrapped } = data;
  if (!stream.startsWith(streamPrefix) || typeof wrapped !== 'string') return null;
  try {
    decrypt(createSecretKey(masterKey), wrapped, stream.slice(streamPrefix.length));
    return true;
  } catch {
    return false;
  }
}

/**
 * Keys of owners live in streams of their own (`vault-<owner>`), wrapped by `masterKey` (32 bytes): dropping the stream
 * makes everything sealed for the owner unreadable, in every event and backup.
 */
export function createEventVault(eventStore: EventStore, masterKey: Uint8Array): Vault {
  const master = createSecretKey(masterKey);
  const keys = createLru<string, Promise<KeyObject | null>>(cachedKeys);

  const remember = (ownerId: string, key: Promise<KeyObject | null>): Promise<KeyObject | null> => {
    keys.set(ownerId, key);
    key.then(
      (found) => found ?? keys.delete(ownerId),
      () => keys.delete(ownerId),
    );
    return key;
  };

  const find = async (ownerId: string): Promise<KeyObject | null> => {
    const last = await eventStore.readLast(`${streamPrefix}${ownerId}`);
    if (last === null) return null;
    const { data } = decodeEvent<VaultEvent>(last);
    try {
      return createSecretKey(decrypt(master, data.wrapped, ownerId));
    } catch (error) {
      throw new AppError(
        'SERVER_ERROR',
        'secret_unreadable',
        'A stored secret cannot be opened: SECRET_KEY is not the one it was sealed with.',
        { cause: error },
      );
    }
  };

  const make = async (ownerId: string): Promise<KeyObject | null> => {
    const known = await find(ownerId);
    if (known !== null) return known;
    const bytes = randomBytes(32);
    const id = crypto.randomUUID();
    const made: VaultEvent = { type: 'vault.key_made', data: { wrapped: encrypt(master, bytes, ownerId) } };
    const appended = await eventStore.append(
      `${streamPrefix}${ownerId}`,
      [
        encodeEvent(made, id, {
          organizationId: '',
          actor: 'system:vault',
          requestId: id,
          causationId: null,
          at: new Date().toISOString(),
        }),
      ],
      'none',
    );
    return appended.ok ? createSecretKey(bytes) : find(ownerId);
  };

  const unreadable = (cause?: unknown): AppError =>
    new AppError(
      'SERVER_ERROR',
      'secret_unreadable',
      'A stored secret cannot be opened: its key is gone or it was changed.',
      {
        cause,
      },
    );

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
      const cached = keys.get(ownerId);
      const key = (cached === undefined ? null : await cached) ?? (await remember(ownerId, make(ownerId)));
      if (key === null) throw unreadable();
      const sealOne: Visit = (entry, at) =>
        isSealed(entry) ? entry : { $sealed: encrypt(key, JSON.stringify(entry), `${ownerId}|${scope}|${at}`) };
      return paths.reduce((current, path) => mapAt(current, path, sealOne), value);
    },

    async open(ownerId, scope, value) {
      if (!JSON.stringify(value).includes('"$sealed"')) return value;
      const key = await (keys.get(ownerId) ?? remember(ownerId, find(ownerId)));
      if (key === null) throw unreadable();
      return openAll(value, '', ({ $sealed }, path) => {
        try {
          return JSON.parse(decrypt(key, $sealed, `${ownerId}|${scope}|${path}`).toString('utf8')) as Json;
        } catch (error) {
          throw unreadable(error);
        }
      }) as JsonObject;
    },
  };
}
