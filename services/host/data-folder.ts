/** The folder of embedded parts, closed to other users, and the secret key in it. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError, type Config } from '#runtime/config';
import type { Logger } from '#runtime/logger';

/** Permission bits of group and others. */
export const forOthers = 0o077;

/** The folder of embedded parts. `unclean` stands in it while a process runs, so that the next one knows how it ended. */
interface DataFolder {
  readonly path: string;
  readonly wasUnclean: boolean;
  leave(): void;
  /** Somebody else is in it: the marker is theirs again, and not that of a process that ended without a word. */
  giveBack(): void;
}

/** Makes a folder and those above it. Not by `recursive`: that never returns where a file system answers ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it at the same time.
    if (!existsSync(path)) throw error;
  }
}

/** Never through what stands there: it is another file afterwards. In one step, also where several processes do it at once. */
export function replaceFile(path: string, text: string): void {
  const written = `${path}.${randomBytes(8).toString('hex')}`;
  writeFileSync(written, text, { mode: 0o600, flag: 'wx' });
  renameSync(written, path);
}

/** Throws `ConfigError` where it is no folder and cannot be made one. */
export function makeDataFolder({ dataDir }: Config): void {
  try {
    process.umask(forOthers);
    makeFolder(dataDir);
    readdirSync(dataDir);
  } catch (error) {
    throw new ConfigError([`DATA_DIR: ${dataDir} cannot be used (${String(error)}); set another folder.`]);
  }
}

/** Closes the folder and all in it to other users. Throws `ConfigError` where that cannot be done. */
function closeToOthers(dataDir: string, logger: Logger): void {
  if (process.platform === 'win32') return;
  const open = [
    dataDir,
    ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(dataDir, name)),
  ]
    // Another process may start on the folder at the same moment: what it has taken away again is open to nobody.
    .flatMap((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ path, mode: stat.mode, isLink: stat.isSymbolicLink() }];
    })
    .filter(({ mode, isLink }) => !isLink && (mode & forOthers) !== 0);
  if (open.length === 0) return;
  try {
    for (const { path, mode } of open) {
      if (existsSync(path)) chmodSync(path, mode & 0o777 & ~forOthers);
    }
  } catch (error) {
    throw new ConfigError([
      `DATA_DIR: ${dataDir} is open to other users and cannot be closed (${String(error)}); run chmod -R go= on it as its owner.`,
    ]);
  }
  logger.warn(
    { dataDir, closed: open.length },
    'the data folder was open to other users of this machine; it is closed now',
  );
}

/** The files that this product makes itself, by their names. */
const ownFile = /^(secret\.key(\.next)?|unclean|verified|address|[a-z]+\.db(-wal|-shm|-journal)?)$/;

/**
 * Throws `ConfigError` where something else than a file has the name of one of ours: a link would be written through, to
 * wherever it leads, and a pipe or a device read for ever. Somebody who could write here put it there.
 */
function refusePlanted(dataDir: string): void {
  const planted = readdirSync(dataDir, { withFileTypes: true }).find(
    (entry) => ownFile.test(entry.name) && !entry.isFile(),
  );
  if (planted === undefined) return;
  throw new ConfigError([
    `DATA_DIR: ${join(dataDir, planted.name)} is a link, a folder or a device; put the file itself there, or remove it. To keep data elsewhere set DATA_DIR.`,
  ]);
}

/** Throws `ConfigError` where the folder cannot be used. */
export function enterDataFolder({ dataDir }: Config, logger: Logger): DataFolder {
  const marker = join(dataDir, 'unclean');
  try {
    // For the files that the engines make themselves.
    process.umask(forOthers);
    makeFolder(dataDir);
    refusePlanted(dataDir);
    closeToOthers(dataDir, logger);
    const before = existsSync(marker) ? readFileSync(marker, 'utf8') : null;
    const own = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
    replaceFile(marker, own);
    const isOwn = (): boolean => existsSync(marker) && readFileSync(marker, 'utf8') === own;
    return {
      path: dataDir,
      wasUnclean: before !== null,
      // The next process may have come in already: what it wrote stays.
      leave: () => {
        if (isOwn()) rmSync(marker, { force: true });
      },
      giveBack: () => {
        if (before !== null && isOwn()) replaceFile(marker, before);
      },
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
    const remedy = isFull ? 'the disk is full: make room on it, then start again' : 'set another folder';
    throw new ConfigError([`DATA_DIR: ${dataDir} cannot be written (${String(error)}); ${remedy}.`]);
  }
}

const secretKeyFile = ({ dataDir }: Config): string => join(dataDir, 'secret.key');

/** In the data folder, readable by its owner alone; never in the place of another. Throws `ConfigError` where there is one. */
export function keepSecretKey(config: Config, key: Uint8Array): void {
  const text = `${Buffer.from(key).toString('base64')}\n`;
  try {
    writeFileSync(secretKeyFile(config), text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new ConfigError([
      `DATA_DIR: ${config.dataDir} is in use by another Meerkat, which made its key in this moment; start one alone.`,
    ]);
  }
}

/** SECRET_KEY, or the one in the data folder; null where there is neither. */
export function knownSecretKey(config: Config): Uint8Array | null {
  if (config.secretKey !== null) return config.secretKey;
  const file = secretKeyFile(config);
  if (!existsSync(file)) return null;
  const key = lstatSync(file).isFile() ? Buffer.from(readFileSync(file, 'utf8').trim(), 'base64') : null;
  if (key?.length === 32) return key;
  throw new ConfigError([`SECRET_KEY: ${file} does not hold 32 bytes in base64; restore it from a backup.`]);
}

/** Made once where there is none. */
export function findSecretKey(config: Config): Uint8Array {
  const known = knownSecretKey(config);
  if (known !== null) return known;
  const key = randomBytes(32);
  keepSecretKey(config, key);
  return key;
}

/** Stands in the folder while a backup is put into it: what is there then is half. */
export const restoringMarker = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'restoring');

/** Throws `ConfigError` where a restore into the folder was cut off. */
export function refuseHalfRestored(config: Config): void {
  if (!existsSync(restoringMarker(config))) return;
  throw new ConfigError([
    `DATA_DIR: a restore into ${config.dataDir} was not finished; run \`meerkat restore\` again, or set another folder.`,
  ]);
}

/** Where each day's signed heads of the audit stand. */
export const auditHeadsFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'audit-heads.jsonl');

/** On disk when it resolves. */
export function keepHeadLineIn(config: Config): (line: string) => Promise<void> {
  return (line) => appendFile(auditHeadsFile(config), `${line}\n`, { mode: 0o600, flush: true });
}
