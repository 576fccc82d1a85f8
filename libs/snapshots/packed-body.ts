/** A page's content as it is stored: compressed, and checked against its hash when it comes back. */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import type { Snapshot } from './snapshots.js';

/** Above this a body is worked on in another thread, so that nobody waits for it. */
const besideBytes = 262_144;
/** A level up costs half as much again and saves a tenth. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

const compressBeside = promisify(zstdCompress);
const decompressBeside = promisify(zstdDecompress);

export async function packed(body: Uint8Array): Promise<Uint8Array> {
  // Told the size, it makes its tables no larger than that takes.
  const options = { params, pledgedSrcSize: body.byteLength };
  return body.byteLength > besideBytes ? compressBeside(body, options) : zstdCompressSync(body, options);
}

/** null: what is stored is damaged. */
export async function unpacked(stored: Uint8Array, { bytes, contentHash }: Snapshot): Promise<Uint8Array | null> {
  const limit = { maxOutputLength: Math.max(1, bytes) };
  try {
    const body = bytes > besideBytes ? await decompressBeside(stored, limit) : zstdDecompressSync(stored, limit);
    return `sha256:${hash('sha256', body, 'hex')}` === contentHash ? body : null;
  } catch {
    return null;
  }
}
