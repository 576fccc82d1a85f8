/** Remembers in two megabytes which ids were added, whatever their number. */

const bitsLog2 = 24;
const bitsPerId = 4;

export interface BloomFilter {
  add(id: string): void;
  /** Never false for an id that was added; true for another one once in 12,000 after 400,000 additions. */
  mayContain(id: string): boolean;
}

/** FNV-1a and a Murmur-like multiplication side by side: the double hashing of Kirsch and Mitzenmacher. */
function hashesOf(id: string): { readonly first: number; readonly step: number } {
  let first = 0x811c9dc5;
  let step = 0x9747b28c;
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    first = Math.imul(first ^ code, 0x01000193);
    step = Math.imul(step ^ code, 0x5bd1e995);
  }
  // Odd, so that the four bits differ.
  return { first: first ^ (first >>> 15), step: (step ^ (step >>> 13)) | 1 };
}

const bitAt = (first: number, step: number, index: number): number => (first + index * step) >>> (32 - bitsLog2);

export function createBloomFilter(): BloomFilter {
  const bytes = new Uint8Array(2 ** (bitsLog2 - 3));
  return {
    add(id) {
      const { first, step } = hashesOf(id);
      for (let index = 0; index < bitsPerId; index += 1) {
        const bit = bitAt(first, step, index);
        bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
      }
    },
    mayContain(id) {
      const { first, step } = hashesOf(id);
      for (let index = 0; index < bitsPerId; index += 1) {
        const bit = bitAt(first, step, index);
        if (((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
      }
      return true;
    },
  };
}
