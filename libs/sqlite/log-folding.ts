/** Keeps the write-ahead logs of databases short, so that no commit of the main thread has to fold a long one back. */
import { createWorkerThread } from '#concurrency/worker-thread';
import { builtScript } from '#runtime/built-script';
import type { Logger } from '#runtime/logger';
import { unfoldedPages } from './log-length.js';

const threadPlaces = ['./log-folding-thread.js', '../../dist/libs/sqlite/log-folding-thread.js'];
const lookEveryMs = 250;
/** 4 MB. A connection folds by itself ten times as many, as where this thread does not keep up. */
const foldedFromPages = 1_000;
/** The thread ends where nothing was to fold for so long. */
const idleMs = 60_000;

export interface LogFolding {
  /** Resolves once nothing is being folded any more. */
  stop(): Promise<void>;
}

/** `files`: databases that this process holds open; those that are not there yet, or have no log, are passed over. */
export function startLogFolding(files: readonly string[], logger: Logger): LogFolding {
  const thread = createWorkerThread<string, string | null>({
    script: () => builtScript(import.meta.url, threadPlaces),
    idleMs,
  });
  const beingFolded = new Set<string>();
  let isStopped = false;

  const fold = async (file: string): Promise<void> => {
    beingFolded.add(file);
    try {
      const fault = isStopped ? null : await thread.ask(file);
      if (fault !== null) logger.warn({ file, error: fault }, 'the log of a database could not be folded back');
    } catch (error) {
      logger.warn({ file, error: String(error) }, 'the log of a database could not be folded back');
    } finally {
      beingFolded.delete(file);
    }
  };

  let folding: Promise<unknown> = Promise.resolve();
  const look = (): void => {
    const long = files.filter((file) => !beingFolded.has(file) && unfoldedPages(file) >= foldedFromPages);
    if (long.length > 0) folding = Promise.all([folding, ...long.map((file) => fold(file))]);
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
