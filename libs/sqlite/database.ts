/** Opens the embedded database files: the one importer of `node:sqlite`. */
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

export type Database = DatabaseSync;
export type Statement = StatementSync;

/** Another process holds the file. */
export class DatabaseInUse extends Error {
  constructor(readonly file: string) {
    super(`${file} is in use by another process`);
    this.name = 'DatabaseInUse';
  }
}

/** The engine found the file damaged, or to be none of its own. */
export class DatabaseDamaged extends Error {
  constructor(readonly file: string) {
    super(`${file} is damaged or no database; restore the folder from a backup`);
    this.name = 'DatabaseDamaged';
  }
}

/** Connections that share a file wait this long for one another. */
const sharedWaitMs = 2_000;

export interface DatabaseOptions {
  /** A path, or `:memory:`. */
  readonly file: string;
  /** `full`: a commit is on disk when it returns. `normal`: it survives the process, and a power cut only up to the last checkpoint. */
  readonly durability: 'full' | 'normal';
  readonly schema: string;
  /** `alone`: no other connection may open the file, the default. `shared`: other connections may, of other processes too. */
  readonly held?: 'alone' | 'shared';
  /** Check the file first, as after a process that did not end in order. Throws `DatabaseDamaged`. */
  readonly checked?: boolean;
  /** Of its pages in memory; 16,000 by default. */
  readonly cacheKb?: number;
}

const defaultCacheKb = 16_000;

/** Larger files of earlier versions keep their size: pages that become free in them are used again. */
const largestConverted = 64 * 1_024 * 1_024;

/**
 * A file of an earlier version gives no page back to the file system: a small one is written anew so that it does, which takes
 * well under a second. Nobody else may have it open. Returns whether it was.
 */
export function giveBackFreePages(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > largestConverted) return false;
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    if (Number(database.prepare('PRAGMA auto_vacuum').get()?.['auto_vacuum']) !== 0) return false;
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    return true;
  } catch {
    // In use, damaged or without room: who opens it next says so.
    return false;
  } finally {
    database.close();
  }
}

/** A connection; held alone no second process can write beside it. Throws `DatabaseInUse`, `DatabaseDamaged`. */
export function openDatabase({
  file,
  durability,
  schema,
  held = 'alone',
  checked = false,
  cacheKb = defaultCacheKb,
}: DatabaseOptions): Database {
  const database = new DatabaseSync(file, { timeout: held === 'shared' ? sharedWaitMs : 0 });
  try {
    database.exec(`
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA locking_mode = ${held === 'alone' ? 'EXCLUSIVE' : 'NORMAL'};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'};
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${cacheKb};
      PRAGMA wal_autocheckpoint = 10000;
      BEGIN ${held === 'alone' ? 'EXCLUSIVE' : 'IMMEDIATE'};
      ${schema}
      COMMIT;
    `);
  } catch (error) {
    database.close();
    // By its text: an error of the engine is no instance of this realm's Error under a test runner.
    if (/database is (locked|busy)/i.test(String(error))) throw new DatabaseInUse(file);
    if (/not a database|malformed/i.test(String(error))) throw new DatabaseDamaged(file);
    throw error;
  }
  if (checked && database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') {
    database.close();
    throw new DatabaseDamaged(file);
  }
  return database;
}

/** A copy of a database as it is at one moment, without what is free in it; others read and write it meanwhile. */
export function copyDatabase(file: string, target: string): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: sharedWaitMs });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
}

/** Nobody writes it, and nothing is written beside it. */
export const openReadOnly = (file: string): Database => new DatabaseSync(file, { readOnly: true });

const foldTries = 50;
const foldPauseMs = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * What was written is in the database file, and nothing of it or of what it took the place of is left in the log beside it. Waits
 * a moment for readers; throws where they do not end.
 */
export function foldLogBack(database: Database): void {
  for (let tries = 0; tries < foldTries; tries += 1) {
    const folded = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (folded?.['busy'] === 0) return;
    Atomics.wait(pause, 0, 0, foldPauseMs);
  }
  throw new Error('the log of the database cannot be folded back: it is being read');
}

/** What is written while one pass is under way is left to the next, which is short. */
const mostPasses = 5;

/**
 * Folds the log of a file that other connections hold open back into it, so far as none of them has to wait. Where nothing is
 * left of it the log begins anew with the next write. Returns how many pages the log had.
 */
export function foldLogBesideWriters(file: string): number {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    const pass = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    let pages = 0;
    for (let passes = 0; passes < mostPasses; passes += 1) {
      const folded = pass.get();
      pages = Math.max(pages, Number(folded?.['log'] ?? 0));
      if (folded?.['busy'] !== 0 || folded['log'] === folded['checkpointed']) break;
    }
    return pages;
  } finally {
    database.close();
  }
}

/** Runs `work` in one transaction: all of it is written, or nothing. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
