/** The pages that came last, those that came more than once with the memory after reading them; bounded by number and bytes. */
import type { MemoryImage } from './image.js';

export interface PageImageLimits {
  readonly pages: number;
  readonly bytes: number;
}

/** Per thread of an evaluator. An image of a usual page is a few megabytes. */
export const pageImageLimits: PageImageLimits = { pages: 8, bytes: 64 * 1024 * 1024 };

function bytesOf(image: MemoryImage | null): number {
  return image?.runs.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) ?? 0;
}

export class PageImages {
  readonly #limits: PageImageLimits;
  /** By the caller's key, least recently used first: null where the page was read once. */
  readonly #images = new Map<string, MemoryImage | null>();
  #bytes = 0;

  constructor(limits: PageImageLimits = pageImageLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#images.has(key);
  }

  /** The page's image, which counts as used now; null where there is none. */
  use(key: string): MemoryImage | null {
    const image = this.#images.get(key) ?? null;
    if (image === null) return null;
    this.#images.delete(key);
    this.#images.set(key, image);
    return image;
  }

  /** Keeps what was read last; the pages that were not used for longest go. One that is larger than all may be is not kept. */
  keep(key: string, image: MemoryImage | null): void {
    this.#drop(key);
    const bytes = bytesOf(image);
    this.#images.set(key, bytes > this.#limits.bytes ? null : image);
    this.#bytes += bytes > this.#limits.bytes ? 0 : bytes;
    for (const oldest of this.#images.keys()) {
      if (this.#images.size <= this.#limits.pages && this.#bytes <= this.#limits.bytes) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= bytesOf(this.#images.get(key) ?? null);
    this.#images.delete(key);
  }
}
