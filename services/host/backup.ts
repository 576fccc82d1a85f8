/**
 * Backups of a data folder while its server runs, and the way back into an empty folder.
 *
 * Views first, pages next, events last: so the events of a backup are never behind what was made of them. The manifest is written at
 * the end, by which a backup that was cut off is told from a whole one. The bus is left out: sweeps hand over again what it held.
 * Then the events of the copy are held against their MACs: a backup of what was tampered with is one more copy of that.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { deliveryStream, type DeliveryEvent, type NotificationRequest } from '#contracts/delivery';
import type { RunEvent } from '#contracts/run';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import { createEventChain, isSameMac, type StoredHistory } from '#event-store/event-chain';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { toAuditFault } from './audit.js';
import type { AuditFault, BackedUp, HeldBack, Restored } from './cli/product.js';
import { Refused } from './cli/terminal.js';
import { openPorts, openReadStore, openSharedState } from './composition.js';
import { forOthers, keepSecretKey, knownSecretKey, makeDataFolder, restoringMarker } from './data-folder.js';
import { auditEvents } from './integrity.js';
import { refuseSomebodyThere } from './processes-at-work.js';
import { isRotating } from './rotated-key.js';
import { version } from './version.js';

const manifestFile = 'manifest.json';
const databases = ['views.db', 'snapshots.db', 'screenshots.db', 'events.db'] as const;
const plainFiles = ['audit-heads.jsonl', 'secret.key'] as const;

const manifestSchema = z.object({
  version: z.literal(1),
  meerkat: z.string(),
  createdAt: z.string(),
  lastPosition: z.int().nullable(),
  files: z.array(z.object({ name: z.string().regex(/^[a-z0-9.-]+$/), bytes: z.int(), sha256: z.string() })),
  mac: z.string(),
});
type Manifest = z.output<typeof manifestSchema>;

const signedText = ({ mac: _mac, ...manifest }: Manifest): string => `backup ${JSON.stringify(manifest)}`;

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  const stream = createReadStream(path, { highWaterMark: 1 << 20 });
  stream.on('data', (chunk) => hash.update(chunk));
  await once(stream, 'end');
  return hash.digest('hex');
}

/** On disk, and not merely with the operating system. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

const isEmpty = (folder: string): boolean => !existsSync(folder) || readdirSync(folder).length === 0;

function refuseServers({ eventStoreUrl, readStoreUrl }: Config): void {
  if (eventStoreUrl === 'sqlite' && readStoreUrl === 'sqlite') return;
  throw new Refused(
    'not_embedded',
    'Backups are of data folders. Servers are backed up with their own tools: docs/operators.md, "Backups of servers".',
  );
}

function keyOf(config: Config, what: string): Uint8Array {
  const key = knownSecretKey(config);
  if (key !== null) return key;
  throw new Refused('secret_key_missing', `SECRET_KEY: must be set to that of the ${what}.`);
}

/** Of an empty store nothing is looked at but with which key its events are signed. */
async function refuseOtherKey(history: StoredHistory, secretKey: Uint8Array): Promise<void> {
  await auditEvents({ history, lastPosition: null, secretKey }, () => undefined);
}

/** `withKey`: the backup can be restored without SECRET_KEY, and is in clear to anybody who has it. */
export async function backUp(
  config: Config,
  folder: string,
  withKey: boolean,
  found: (fault: AuditFault) => void,
): Promise<BackedUp> {
  refuseServers(config);
  if (!isEmpty(folder))
    throw new Refused('not_empty', `${folder} is not empty: a backup goes into a folder of its own.`);
  if (isRotating(config)) {
    throw new Refused(
      'rotation_unfinished',
      'The secret key is being changed: run `meerkat secret-key rotate` to its end.',
    );
  }
  const startedMs = performance.now();
  const { dataDir } = config;
  const secretKey = keyOf(config, 'installation');
  const [{ copyDatabase }, { openStoredCopy }] = await Promise.all([
    import('#sqlite/database'),
    import('#event-store/sqlite-stored'),
  ]);
  // For the files that the engine makes itself: a folder that was there before may be open to others.
  process.umask(forOthers);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names: string[] = [];
  // First: a head that is signed meanwhile would tell of an entry that the copy of the events is too old for.
  for (const name of plainFiles) {
    if (!existsSync(join(dataDir, name)) || (name === 'secret.key' && !withKey)) continue;
    await copyFile(join(dataDir, name), join(folder, name));
    names.push(name);
  }
  for (const name of databases) {
    if (!existsSync(join(dataDir, name))) continue;
    copyDatabase(join(dataDir, name), join(folder, name));
    names.push(name);
  }
  const files = [];
  for (const name of names) {
    const path = join(folder, name);
    await chmod(path, 0o600);
    await settle(path);
    files.push({ name, bytes: (await stat(path)).size, sha256: await sha256Of(path) });
  }
  const copy = openStoredCopy(join(folder, 'events.db'));
  try {
    const { stored: history, lastPosition } = copy;
    await refuseOtherKey(history, secretKey);
    const createdAt = new Date().toISOString();
    const unsigned: Manifest = { version: 1, meerkat: version, createdAt, lastPosition, files, mac: '' };
    const manifest = { ...unsigned, mac: createEventChain(secretKey).macOfText(signedText(unsigned)) };
    const written = join(folder, `${manifestFile}.new`);
    await writeFile(written, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
    await rename(written, join(folder, manifestFile));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const tookMs = Math.round(performance.now() - startedMs);
    await auditEvents({ history, lastPosition, secretKey }, (fault) => found(toAuditFault(fault)));
    const verifiedMs = Math.round(performance.now() - startedMs);
    return { folder, createdAt, lastPosition, bytes, files: files.length, tookMs, verifiedMs };
  } finally {
    copy.close();
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => null);
  if (text === null) {
    throw new Refused('no_backup', `${folder} holds no whole backup: it has no ${manifestFile}.`);
  }
  const parsed = manifestSchema.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  throw new Refused('backup_damaged', `${manifestFile} in ${folder} cannot be read.`);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    const path = join(folder, name);
    const size = (await stat(path).catch(() => null))?.size ?? null;
    if (size === bytes && (await sha256Of(path)) === sha256) continue;
    throw new Refused('backup_damaged', `${name} in ${folder} is not what was backed up.`);
  }
}

/** Those of a backup that is whole and signed with this key. */
async function checkedManifest(folder: string, secretKey: Uint8Array): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (!isSameMac(manifest.mac, createEventChain(secretKey).macOfText(signedText(manifest)))) {
    throw new Refused(
      'backup_altered',
      `${manifestFile} in ${folder} was not signed with this SECRET_KEY. Where the key was changed since, set the one of then.`,
    );
  }
  await checkFiles(folder, manifest);
  return manifest;
}

/** Of a backup: in it, or SECRET_KEY. */
export function keyOfBackup(config: Config, folder: string): Uint8Array {
  return keyOf({ ...config, dataDir: folder }, 'backup (it is not in it)');
}

export async function checkBackup(config: Config, folder: string): Promise<{ readonly createdAt: string }> {
  const { createdAt } = await checkedManifest(folder, keyOfBackup(config, folder));
  return { createdAt };
}

const metadataOf = (organizationId: string, at: string): EventMetadata => ({
  organizationId,
  actor: 'system:restore',
  requestId: 'restore',
  causationId: null,
  at,
});

/** Deliveries that were not over: whether the installation that was backed up has sent them since, nobody knows. */
async function openDeliveries(eventStore: EventStore): Promise<ReadonlyMap<string, NotificationRequest>> {
  const found = new Map<string, NotificationRequest>();
  const wanted = {
    subscribe: (subscription: Parameters<EventStore['subscribe']>[0]) =>
      eventStore.subscribe({ ...subscription, prefixes: ['run-', 'dlv-'] }),
  };
  for await (const { events } of readThrough(wanted, { end: await eventStore.lastPosition() })) {
    for (const recorded of events) {
      const event = decodeEvent<RunEvent | DeliveryEvent>(recorded);
      const id = recorded.stream.slice('dlv-'.length);
      if (event.type === 'run.recorded') {
        for (const request of event.data.notifications) found.set(request.deliveryId, request);
      } else if (event.type === 'delivery.requested' || event.type === 'delivery.resent') {
        const known = event.type === 'delivery.requested' ? event.data.request : found.get(id);
        if (known !== undefined) found.set(id, known);
      } else if (event.type === 'attempt.ended') {
        if (event.data.next.state !== 'retrying') found.delete(id);
      } else if (event.type === 'delivery.expired' || event.type === 'delivery.suppressed') found.delete(id);
    }
  }
  return found;
}

/** They stay as they were, held back: a person sends them again, or does not. */
async function holdBack(eventStore: EventStore, at: string): Promise<number> {
  const open = await openDeliveries(eventStore);
  for (const [id, request] of open) {
    const last = await eventStore.readLast(deliveryStream(id));
    const held: DeliveryEvent[] = [
      ...(last === null ? [{ type: 'delivery.requested' as const, data: { request, linkBase: null } }] : []),
      { type: 'delivery.suppressed', data: { at, reason: 'restored' } },
    ];
    const source = { commandId: `${id}|restored|${at}`, metadata: metadataOf(request.organizationId, at) };
    await eventStore.append(deliveryStream(id), encodeEvents(held, source), last?.revision ?? 'none');
  }
  return open.size;
}

export async function restore(config: Config, folder: string): Promise<Restored> {
  refuseServers(config);
  const { dataDir } = config;
  const marker = restoringMarker(config);
  const isAgain = existsSync(marker);
  if (!isAgain && !isEmpty(dataDir)) {
    throw new Refused(
      'not_empty',
      `DATA_DIR: ${dataDir} is not empty. Restore into another folder, or move this one away.`,
    );
  }
  const startedMs = performance.now();
  const secretKey = keyOfBackup(config, folder);
  const manifest = await checkedManifest(folder, secretKey);
  makeDataFolder(config);
  await writeFile(marker, `${folder}\n`, { mode: 0o600, flush: true });
  // Of a restore that was cut off nothing is kept: what it has written is in the backup.
  for (const name of readdirSync(dataDir))
    if (join(dataDir, name) !== marker) await rm(join(dataDir, name), { recursive: true });
  for (const { name } of manifest.files) {
    await copyFile(join(folder, name), join(dataDir, name));
    await settle(join(dataDir, name));
  }
  await checkFiles(dataDir, manifest);
  if (knownSecretKey(config) === null) keepSecretKey(config, secretKey);
  const ports = await openPorts(config, silentLogger, { isRestore: true });
  let heldBack: number;
  try {
    heldBack = await holdBack(ports.eventStore, new Date().toISOString());
  } finally {
    await ports.close();
  }
  await rm(marker);
  const { createdAt, lastPosition } = manifest;
  return { dataDir, createdAt, lastPosition, heldBack, tookMs: Math.round(performance.now() - startedMs) };
}

/** Of servers that their own tools have put back. Done again it holds back what is open still. */
export async function holdBackRestored(config: Config): Promise<HeldBack> {
  if (config.eventStoreUrl === 'sqlite') {
    throw new Refused(
      'no_servers',
      'A data folder is put back by `meerkat restore <backup>`, which holds back by itself.',
    );
  }
  const startedMs = performance.now();
  const readStore = await openReadStore(config, silentLogger);
  try {
    const message = 'Processes of this installation are at work; stop all of them first.';
    await refuseSomebodyThere(openSharedState(readStore), 'server_running', message);
  } finally {
    await readStore.close();
  }
  const ports = await openPorts(config, silentLogger, { isRestore: true });
  try {
    const heldBack = await holdBack(ports.eventStore, new Date().toISOString());
    return { heldBack, tookMs: Math.round(performance.now() - startedMs) };
  } finally {
    await ports.close();
  }
}
