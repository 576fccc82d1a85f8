/**
 * The memory image of a guest: what of an instance's memory is in use at one moment, taken apart, and restored before each
 * run. The engine's build lays out its memory the same way each time, so an image is good for every instance of it.
 */
import type {
  JSContextPointer,
  JSRuntimePointer,
  JSValuePointer,
  QuickJSEmscriptenModule,
} from 'quickjs-emscripten-core';

/** The guest's own limit on the C stack; the build reserves 5 MB, so regular expressions have room above it. */
export const guestStackBytes = 262_144;
/** How much of the C stack is cleared on restore: twice the guest's limit, or what creating an instance writes. */
export const clearedStackBytes = { used: 2 * guestStackBytes, fresh: 16_384 } as const;
const granuleBytes = 4_096;
/** The engine's initial heap size at which it collects cycles. */
const engineCollectAtBytes = 262_144;
/** The engine's record of a runtime is smaller than this. */
const runtimeWords = 256;

interface ImageRun {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Bytes and where they go; between them there is nothing but zeros. */
export interface MemoryImage {
  readonly runs: readonly ImageRun[];
  /** Where the reserve of the C stack ends, which grows downwards from there and is the one great gap. */
  readonly stackEnd: number;
}

/** The guest's memory at one moment, with the addresses that the host needs. */
export interface EngineImage extends MemoryImage {
  readonly heapEndWord: number;
  readonly collectAtWord: number;
  readonly runtime: JSRuntimePointer;
  readonly context: JSContextPointer;
  readonly undefinedValue: JSValuePointer;
}

/**
 * Finds the word in which the C library keeps the end of its heap, by watching which words move when memory is
 * allocated. The greatest of those that lie beyond the new block is it: all others point into the heap.
 */
export function findHeapEndWord(module: QuickJSEmscriptenModule): number {
  const blockBytes = 1 << 20;
  const staticWords = 1 << 18;
  const before = new Int32Array(module.HEAPU8.buffer, 0, staticWords).slice();
  const first = module._malloc(blockBytes) + blockBytes;
  const between = new Int32Array(module.HEAPU8.buffer, 0, staticWords).slice();
  const second = module._malloc(blockBytes) + blockBytes;
  const after = new Int32Array(module.HEAPU8.buffer, 0, staticWords);
  let found = -1;
  for (let word = 0; word < staticWords; word++) {
    const moved = before[word] !== between[word] && between[word] !== after[word];
    const isBeyond = (between[word] ?? 0) >= first && (after[word] ?? 0) >= second;
    if (moved && isBeyond && (found < 0 || (after[word] ?? 0) > (after[found] ?? 0))) found = word;
  }
  module._free(second - blockBytes);
  module._free(first - blockBytes);
  if (found < 0) throw new Error('the engine build keeps its heap end where it is not found');
  return found;
}

/** Finds the word of a new runtime that says at which heap size it collects; nothing else in there has its value. */
export function findCollectAtWord(module: QuickJSEmscriptenModule, runtime: JSRuntimePointer): number {
  const words = new Int32Array(module.HEAPU8.buffer, runtime, runtimeWords);
  const at = words.indexOf(engineCollectAtBytes);
  if (at < 0 || words.indexOf(engineCollectAtBytes, at + 1) >= 0) {
    throw new Error('the engine build keeps its collection threshold where it is not found');
  }
  return runtime / 4 + at;
}

function usedRuns(memory: Uint8Array, heapEnd: number): ImageRun[] {
  const words = new BigUint64Array(memory.buffer);
  const granuleWords = granuleBytes / 8;
  const runs: ImageRun[] = [];
  let start = -1;
  for (let at = 0; at <= heapEnd; at += granuleBytes) {
    let isUsed = false;
    for (let word = at / 8; at < heapEnd && word < at / 8 + granuleWords && !isUsed; word++)
      isUsed = words[word] !== 0n;
    if (isUsed && start < 0) start = at;
    if (!isUsed && start >= 0) {
      runs.push({ at: start, bytes: memory.slice(start, Math.min(at, heapEnd)) });
      start = -1;
    }
  }
  return runs;
}

/** Where the greatest gap between runs ends. */
function endOfGreatestGap(runs: readonly ImageRun[]): number {
  let [end, greatest, filledTo] = [0, 0, 0];
  for (const { at, bytes } of runs) {
    if (at - filledTo > greatest) [end, greatest] = [at, at - filledTo];
    filledTo = at + bytes.byteLength;
  }
  return end;
}

/** `stackEnd` where it is known already: memory in use makes other gaps, and moves this one's end. */
export function takeMemory(memory: Uint8Array, heapEnd: number, stackEnd?: number): MemoryImage {
  const runs = usedRuns(memory, heapEnd);
  return { runs, stackEnd: stackEnd ?? endOfGreatestGap(runs) };
}

/** Memory that is free again still holds what was in it: zeros are no part of an image. */
export function scrubFreeMemory(module: QuickJSEmscriptenModule, heapEnd: () => number): void {
  const taken: number[] = [];
  for (let size = 1 << 16; size >= 1 << 6; size >>= 1) {
    const end = heapEnd();
    for (let at = module._malloc(size); at !== 0; at = module._malloc(size)) {
      module.HEAPU8.fill(0, at, at + size);
      taken.push(at);
      if (heapEnd() !== end) break;
    }
  }
  for (const at of taken) module._free(at);
}

/** Nothing that was written since the image was taken is left. `usedEnd` is the end of the heap as it is now. */
export function restoreMemory(
  memory: Uint8Array,
  { runs, stackEnd }: MemoryImage,
  usedEnd: number,
  stackBytes: number,
): void {
  let filledTo = 0;
  for (const { at, bytes } of runs) {
    memory.fill(0, at <= stackEnd ? Math.max(filledTo, at - stackBytes) : filledTo, at);
    memory.set(bytes, at);
    filledTo = at + bytes.byteLength;
  }
  memory.fill(0, filledTo, Math.min(usedEnd, memory.byteLength));
}
