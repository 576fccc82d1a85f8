/** What is sealed, opened with the key of its owner. */
import type { KeyObject } from 'node:crypto';
import { AppError } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import { decrypt } from '#runtime/cipher';
import { isSealed, type Sealed } from './vault.js';

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

export const unreadable = (cause?: unknown): AppError =>
  new AppError(
    'SERVER_ERROR',
    'secret_unreadable',
    'A stored secret cannot be opened: its key is gone or it was changed.',
    {
      cause,
    },
  );

/** As `Vault.open` does, with the owner's key at hand. */
export function openSealed(key: KeyObject, ownerId: string, scope: string, value: JsonObject): JsonObject {
  return openAll(value, '', ({ $sealed }, path) => {
    try {
      return JSON.parse(decrypt(key, $sealed, `${ownerId}|${scope}|${path}`).toString('utf8')) as Json;
    } catch (error) {
      throw unreadable(error);
    }
  }) as JsonObject;
}
