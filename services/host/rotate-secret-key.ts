/**
 * Changes the secret key of an installation whose processes are stopped. One event makes the change: before it the old key is
 * the key, from it on the new one, which also opens the old one. Everything else can be done again: the file that the key is
 * in, and the keys of owners, which are sealed anew and taken out of where the old key opened them.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { recordKeys } from '#eventing/integrity';
import { keyIdOf, newestKeyId, rotationOf } from '#eventing/key-ring';
import type { EventArchive } from '#event-store/event-store';
import { ConfigError, type Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { systemClock, toTimestamp } from '#runtime/clock';
import type { ResealedKeys } from '#vault/reseal-keys';
import type { RotatedKey } from './cli/product.js';
import { isInUse } from './cli/data-folder.js';
import { Refused } from './cli/terminal.js';
import { keyRingAt, openEventStore, openReadStore, openSharedState } from './composition.js';
import { knownSecretKey, refuseHalfRestored } from './data-folder.js';
import { refuseAltered } from './integrity.js';
import { refuseSomebodyThere } from './processes-at-work.js';
import { adoptRotatedKey, keyInFile, nextKeyFile, putInPlace } from './rotated-key.js';

/** Where the new key comes from, or goes to. */
async function nextKey(file: string): Promise<Uint8Array> {
  const found = keyInFile(file);
  if (found !== null) return found;
  if (existsSync(file)) {
    throw new Refused(
      'malformed_key',
      `${file} does not hold 32 bytes in base64 (make them with: openssl rand -base64 32).`,
    );
  }
  const key = randomBytes(32);
  await writeFile(`${file}.new`, `${key.toString('base64')}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  return key;
}

async function alone<Store>(open: () => Promise<Store>): Promise<Store> {
  try {
    return await open();
  } catch (error) {
    if (!isInUse(error)) throw error;
    throw new Refused('server_running', 'A server, or another command, is at work on this DATA_DIR; stop it first.');
  }
}

/** `READ_STORE_URL` holds who is at work there. */
async function refuseProcesses(config: Config): Promise<void> {
  if (config.readStoreUrl === 'sqlite' && config.eventStoreUrl === 'sqlite') return;
  const readStore = await alone(() => openReadStore(config, silentLogger));
  try {
    await refuseSomebodyThere(
      openSharedState(readStore),
      'server_running',
      'Processes of this installation are at work; stop all of them first.',
    );
  } finally {
    await readStore.close();
  }
}

async function withStore<Result>(
  config: Config,
  secretKey: Uint8Array,
  work: (store: EventArchive) => Promise<Result>,
): Promise<Result> {
  const store = await alone(() => openEventStore(config, silentLogger, { checked: true, secretKey }));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface Choice {
  readonly next: Uint8Array;
  /** The events say already that it is the key. */
  readonly isChanged: boolean;
  /** It is the one that is set: a rotation to it was not ended. */
  readonly isBegun: boolean;
}

/** Where the new key is set already, or one is on its way, what was begun is ended and nothing begun anew. */
async function choose(store: EventArchive, old: Uint8Array, file: string): Promise<Choice> {
  const signing = await newestKeyId(store.stored);
  if (signing === null) throw new Refused('not_set_up', 'Nothing was signed with a key yet: start Meerkat once first.');
  const waiting = keyInFile(file);
  if (waiting !== null && keyIdOf(waiting) === signing) return { next: waiting, isChanged: true, isBegun: false };
  // Rejects where the key that is set is neither the one of now nor the one of before.
  const { isSettled } = await keyRingAt(store.stored, old);
  if (!isSettled) return { next: old, isChanged: true, isBegun: true };
  return { next: await nextKey(file), isChanged: false, isBegun: false };
}

/** Once it resolves the new key is the key. */
async function change(store: EventArchive, old: Uint8Array, next: Uint8Array): Promise<void> {
  await refuseAltered({ history: store.stored, lastPosition: await store.lastPosition(), secretKey: old });
  await recordKeys(store, rotationOf(next, old), toTimestamp(systemClock.now()));
}

async function reseal(store: EventArchive, key: Uint8Array): Promise<ResealedKeys> {
  const keyRing = await keyRingAt(store.stored, key);
  if (keyRing.isSettled) return { resealed: 0, owners: 0 };
  const { resealOwnerKeys } = await import('#vault/reseal-keys');
  const counts = await resealOwnerKeys(store, keyRing);
  await recordKeys(
    store,
    { type: 'integrity.resealed', data: { keyId: keyIdOf(key) } },
    toTimestamp(systemClock.now()),
  );
  return counts;
}

/** Rejects with `Refused` or `ConfigError`, and with `EventsAltered` where the events are not what was written. */
export async function rotateSecretKey(config: Config, keyFile: string | null): Promise<RotatedKey> {
  refuseHalfRestored(config);
  await adoptRotatedKey(config);
  const old = knownSecretKey(config);
  if (old === null) throw new ConfigError(['SECRET_KEY: must be set to that of the installation.']);
  const isSet = config.secretKey !== null;
  if (isSet && keyFile === null) {
    throw new Refused(
      'key_file_required',
      'SECRET_KEY is set by you, and so is the new one: name a file with --key-file; where it is not there it is made.',
    );
  }
  if (!isSet && keyFile !== null) {
    throw new Refused(
      'key_is_in_folder',
      'The key stands in DATA_DIR/secret.key, and the new one will: leave --key-file out.',
    );
  }
  await refuseProcesses(config);
  const file = keyFile ?? nextKeyFile(config);
  const which = await withStore(config, old, (store) => choose(store, old, file));
  const counts = await withStore(config, which.next, async (store) => {
    if (!which.isChanged) await change(store, old, which.next);
    if (!isSet && !which.isBegun) await putInPlace(config);
    return reseal(store, which.next);
  });
  return { ...counts, keyFile: isSet && !which.isBegun ? file : null, wasBegun: which.isChanged };
}
