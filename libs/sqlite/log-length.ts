/** How much of a database's write-ahead log is not in the database file yet, read from its index (`-shm`). */
import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Places in the index, 32 bits each in the machine's own order: https://www.sqlite.org/walformat.html, sections 2.1 and 2.2.
 */
const lastFrameAt = 16;
const foldedFramesAt = 96;
const headerBytes = 100;

/** In pages, about: it is read while others write it. 0 where there is no log. */
export function unfoldedPages(file: string): number {
  const header = new Int32Array(headerBytes / Int32Array.BYTES_PER_ELEMENT);
  try {
    const index = openSync(`${file}-shm`, 'r');
    try {
      if (readSync(index, header, 0, headerBytes, 0) < headerBytes) return 0;
    } finally {
      closeSync(index);
    }
  } catch {
    return 0;
  }
  const at = (byte: number): number => header[byte / Int32Array.BYTES_PER_ELEMENT] ?? 0;
  return Math.max(0, at(lastFrameAt) - at(foldedFramesAt));
}
