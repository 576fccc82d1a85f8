/** A new secret key of a data folder, until it takes the place of the one before it. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { keyIdOf, newestKeyId } from '#eventing/key-ring';
import type { Config } from '#runtime/config';

type Folder = Pick<Config, 'dataDir' | 'secretKey' | 'eventStoreUrl'>;

export const nextKeyFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'secret.key.next');

/** null where there is none, or none that is whole. */
export function keyInFile(file: string): Uint8Array | null {
  if (!existsSync(file)) return null;
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  return key.length === 32 ? key : null;
}

export const isRotating = (config: Folder): boolean => config.secretKey === null && existsSync(nextKeyFile(config));

/** It is the key from here on, on disk. */
export async function putInPlace(config: Folder): Promise<void> {
  renameSync(nextKeyFile(config), join(config.dataDir, 'secret.key'));
  const folder = await open(config.dataDir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A rotation was cut off between its event and its key: the events tell which key it is. */
export async function adoptRotatedKey(config: Folder): Promise<void> {
  if (!isRotating(config) || config.eventStoreUrl !== 'sqlite') return;
  const events = join(config.dataDir, 'events.db');
  const next = keyInFile(nextKeyFile(config));
  if (next === null || !existsSync(events)) return;
  const { openStoredHistory } = await import('#event-store/sqlite-stored');
  const { stored, close } = openStoredHistory(events);
  const signing = await newestKeyId(stored).finally(close);
  // Else the rotation had not begun, and may go on in another process in this moment: its key stays where it is.
  if (signing === keyIdOf(next)) await putInPlace(config);
}
