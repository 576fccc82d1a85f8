/** Keeps the write-ahead logs of databases short, so that no commit of the main thread has to fold a long one back. */
import { statSync } from 'node:fs';
import { createWorkerThread } from '#concurrency/worker-thread';
import { builtScript } from '#runtime/built-script';
import type { Logger } from '#runtime/logger';
import type { FoldedLog } from './log-folding-thread.js';

const threadPlaces = ['./log-folding-thread.js', '../../dist/libs/sqlite/log-folding-thread.js'];
const lookEveryMs = 250;
/** A log that was never longer is left to its writer. One that was keeps its length, whatever is in it. */
const foldedFromBytes = 4 * 1_024 * 1_024;
/** About so many pages are folded at once. A connection folds by itself where there are ten times as many. */
const wantedPages = 1_000;
const longestPauseMs = 5_000;
/** The thread ends where nothing was to fold for so long. */
const idleMs = 60_000;

export interface LogFolding {
  /** Resolves once nothing is being folded any more. */
  stop(): Promise<void>;
}

interface Log {
  readonly file: string;
  /** When it was written last before it was folded. */
  writtenAtMs: number;
  foldedAtMs: number;
  nextAtMs: number;
  isBeingFolded: boolean;
}

/**
 * Only asked of the file system: to open and close a file of SQLite beside it would drop the locks that this process holds on it
 * (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
function writtenSince({ file, writtenAtMs }: Log): number | null {
  const found = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (found === undefined || found.size < foldedFromBytes || found.mtimeMs === writtenAtMs) return null;
  return found.mtimeMs;
}

/** `files`: databases that this process holds open; those that are not there yet, or have no log, are passed over. */
export function startLogFolding(files: readonly string[], logger: Logger): LogFolding {
  const thread = createWorkerThread<string, FoldedLog>({
    script: () => builtScript(import.meta.url, threadPlaces),
    idleMs,
  });
  const startedAtMs = performance.now();
  const logs: readonly Log[] = files.map((file) => ({
    file,
    writtenAtMs: 0,
    foldedAtMs: startedAtMs,
    nextAtMs: startedAtMs,
    isBeingFolded: false,
  }));
  let isStopped = false;

  const fold = async (log: Log): Promise<void> => {
    log.isBeingFolded = true;
    const beganAtMs = performance.now();
    try {
      const folded = isStopped ? { pages: 0 } : await thread.ask(log.file);
      if ('fault' in folded) throw new Error(folded.fault);
      const pauseMs = ((beganAtMs - log.foldedAtMs) * wantedPages) / Math.max(folded.pages, 1);
      log.foldedAtMs = beganAtMs;
      log.nextAtMs = performance.now() + Math.min(pauseMs, longestPauseMs);
    } catch (error) {
      log.nextAtMs = performance.now() + longestPauseMs;
      logger.warn({ file: log.file, error: String(error) }, 'the log of a database could not be folded back');
    } finally {
      log.isBeingFolded = false;
    }
  };

  let folding: Promise<unknown> = Promise.resolve();
  const look = (): void => {
    const nowMs = performance.now();
    for (const log of logs) {
      const writtenAtMs = log.isBeingFolded || nowMs < log.nextAtMs ? null : writtenSince(log);
      if (writtenAtMs === null) continue;
      log.writtenAtMs = writtenAtMs;
      folding = Promise.all([folding, fold(log)]);
    }
  };
  const timer = setInterval(look, lookEveryMs).unref();

  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await folding;
      await thread.stop();
    },
  };
}
