/** Guests: engines that hold the prelude, and the functions through which the host enters. */
import { Engine, evalFlags } from './engine.js';
import type { GuestValue, HostFunction } from './engine.js';
import { PageImages } from './page-images.js';
import type { EngineImage } from './image.js';
import { hostFunctionName, readPrelude } from '../prelude-source.js';

const entryNames = [
  'loadPage',
  'openPage',
  'openScript',
  'conclude',
  'concludeAwaited',
  'settled',
  'fail',
  'neverSettled',
] as const;
export type GuestEntry = { readonly [name in (typeof entryNames)[number]]: GuestValue };

export interface Guest {
  readonly engine: Engine;
  readonly entry: GuestEntry;
}

/** The memory of an engine that holds the prelude, and where in it the host enters. Good for every instance of the build. */
export interface GuestImage {
  readonly engine: EngineImage;
  readonly entry: GuestEntry;
}

interface KeptGuest {
  readonly memoryMb: number;
  readonly guest: Guest;
  readonly pages: PageImages;
}

/** An instance that has grown past this is replaced: memory of WebAssembly never shrinks. */
const renewAboveBytes = 48 * 1024 * 1024;

export class Guests {
  readonly #wasmModule: WebAssembly.Module;
  readonly #parseMarkup: HostFunction;
  #image: GuestImage | null;
  #kept: KeptGuest | null = null;

  /** `parseMarkup` answers where code writes markup (`innerHTML =`, `DOMParser`); see `prelude/parse-markup.ts`. */
  constructor(wasmModule: WebAssembly.Module, parseMarkup: HostFunction, image: GuestImage | null = null) {
    this.#wasmModule = wasmModule;
    this.#parseMarkup = parseMarkup;
    this.#image = image;
  }

  /** Makes the image where there is none yet, and a guest for the first job. */
  async prepare(memoryMb: number): Promise<GuestImage> {
    const guest = await this.fresh(memoryMb);
    return this.#image ?? { engine: guest.engine.takeImage(), entry: guest.entry };
  }

  /** A guest as it was imaged, with a memory that cannot grow past `memoryMb`. One is kept for the next job. */
  async fresh(memoryMb: number): Promise<Guest> {
    const kept = this.#kept;
    if (kept !== null && kept.memoryMb === memoryMb && kept.guest.engine.memoryBytes <= renewAboveBytes) {
      kept.guest.engine.restore();
      return kept.guest;
    }
    const guest = await this.another(memoryMb);
    this.#kept = { memoryMb, guest, pages: new PageImages() };
    return guest;
  }

  /** A guest that has read this page already; null where there is none. */
  withPage(key: string): Guest | null {
    if (this.#kept === null || this.#kept.guest.engine.memoryBytes > renewAboveBytes) return null;
    const image = this.#kept.pages.use(key);
    if (image === null) return null;
    this.#kept.guest.engine.restore(image);
    return this.#kept.guest;
  }

  /** The guest has just read this page. True where its memory was imaged with it: the page has come before, and may again. */
  keepPage(key: string): boolean {
    const kept = this.#kept;
    if (kept === null) return false;
    const isKnown = kept.pages.has(key);
    kept.pages.keep(key, isKnown ? kept.guest.engine.takePageImage() : null);
    return isKnown;
  }

  /** After running out of memory or stack, or a failure of the engine itself, nothing of the instance is trusted. */
  discard(): void {
    this.#kept = null;
  }

  /** An instance that the caller keeps. */
  async another(memoryMb: number): Promise<Guest> {
    const known = this.#image;
    if (known !== null) {
      const engine = await Engine.create(this.#wasmModule, memoryMb, known.engine);
      engine.restore();
      engine.setHostFunction(this.#parseMarkup);
      return { engine, entry: known.entry };
    }
    const engine = await Engine.create(this.#wasmModule, memoryMb, null);
    engine.setHostFunction(this.#parseMarkup);
    engine.defineHostFunction(hostFunctionName);
    let last: GuestValue | null = null;
    for (const script of readPrelude()) {
      if (last !== null) engine.free(last);
      const evaluated = engine.eval(script, 'prelude.js', evalFlags.global);
      if (!evaluated.ok) throw new Error(`the prelude does not evaluate: ${engine.describe(evaluated.thrown)}`);
      last = evaluated.value;
    }
    if (last === null) throw new Error('there is no prelude');
    const prelude = last;
    const entries = entryNames.map((name) => [name, engine.property(prelude, name)]);
    const entry = Object.fromEntries(entries) as GuestEntry;
    this.#image = { engine: engine.takeImage(), entry };
    return { engine, entry };
  }
}
