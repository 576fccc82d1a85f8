/**
 * A QuickJS instance that can be put back: its memory is imaged (`image.ts`), with the prelude inside, and restored before
 * every run. This file drives the engine's C interface directly, because the package's own wrapper keeps handles outside that
 * memory. It calls the host in two places: the interrupt handler, and one function from texts to values.
 */
import importedVariant from '@jitl/quickjs-ng-wasmfile-release-sync';
import { newVariant } from 'quickjs-emscripten-core';
import { decodeText } from '../parsers/flat-page.js';
import type { EncodedText } from '../parsers/flat-page.js';
import {
  clearedStackBytes,
  findCollectAtWord,
  findHeapEndWord,
  guestStackBytes,
  restoreMemory,
  scrubFreeMemory,
  takeMemory,
} from './image.js';
import type { EngineImage, MemoryImage } from './image.js';
import type {
  EmscriptenModuleLoader,
  EvalDetectModule,
  EvalFlags,
  HostRefId,
  JSContextPointer,
  JSContextPointerPointer,
  JSRuntimePointer,
  JSValueConstPointer,
  JSValueConstPointerPointer,
  JSValuePointer,
  JSVoidPointer,
  OwnedHeapCharPointer,
  QuickJSEmscriptenModule,
  QuickJSFFI,
  QuickJSSyncVariant,
} from 'quickjs-emscripten-core';

// The package's types describe its CommonJS build, the import is the other one.
const baseVariant = importedVariant as unknown as QuickJSSyncVariant;

const wasmPageBytes = 65_536;
/** What the engine's build declares as its smallest memory. */
const initialPages = 256;
const allIntrinsics = 0;
/**
 * The share of its memory that a guest may fill before the first search for cycles. Each search walks the whole heap,
 * the prelude with it, and most runs end before it could find anything; what counts references frees the rest.
 */
const collectAtShare = 0.25;
/** The heap grows in steps, so it stops short of its maximum. */
const usedUpShare = 0.85;

/** QuickJS's evaluation flags that the package's types leave unnamed. */
export const evalFlags = { global: 0, module: 1, compileOnly: 1 << 5, asyncGlobal: 1 << 7 } as const;

export type GuestValue = JSValuePointer;

/** What a call into the guest came to. `thrown` holds the error where it threw. */
export type GuestOutcome =
  { readonly ok: true; readonly value: GuestValue } | { readonly ok: false; readonly thrown: GuestValue };

/** One argument of a `decode`: written straight into the guest's memory. */
export type GuestInput = string | EncodedText | Uint8Array;

/** The one function of the host that the guest may call: it is given strings, and answers what `decode` takes. */
export type HostFunction = (texts: readonly string[]) => readonly GuestInput[];
const hostFunctionId = 1;

const wideCharacter = /[^\x00-\xff]/;

/** The engine's binary form of a value (`JS_WriteObject`); strings and buffers are copied without any conversion. */
const binaryFormat = { version: 0x17, string: 7, array: 9, arrayBuffer: 15 } as const;

function leb128Bytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}

interface EncodedInput {
  readonly head: readonly number[];
  readonly byteLength: number;
  write(target: Buffer, at: number): void;
}

function encodeInput(input: GuestInput): EncodedInput {
  if (typeof input !== 'string' && 'isWide' in input) {
    const { bytes, isWide } = input;
    const { byteLength } = bytes;
    const head = [binaryFormat.string, ...leb128Bytes(isWide ? byteLength + 1 : byteLength * 2)];
    return { head, byteLength, write: (target, at) => target.set(bytes, at) };
  }
  if (typeof input !== 'string') {
    const length = leb128Bytes(input.byteLength);
    const unlimited = [0xff, 0xff, 0xff, 0xff, 0x0f];
    return {
      head: [binaryFormat.arrayBuffer, ...length, ...unlimited],
      byteLength: input.byteLength,
      write: (target, at) => target.set(input, at),
    };
  }
  const isWide = wideCharacter.test(input);
  return {
    head: [binaryFormat.string, ...leb128Bytes(input.length * 2 + (isWide ? 1 : 0))],
    byteLength: isWide ? input.length * 2 : input.length,
    write: (target, at) => void target.write(input, at, isWide ? 'utf16le' : 'latin1'),
  };
}

/** The string that the engine's binary form of one holds. */
function readString(encoded: Uint8Array): string {
  const [version, atoms, type] = encoded;
  if (version !== binaryFormat.version || atoms !== 0 || type !== binaryFormat.string) {
    throw new Error('the engine build writes strings in another form');
  }
  let at = 3;
  let size = 0;
  for (let factor = 1; ; factor *= 0x80) {
    const byte = encoded[at++] ?? 0;
    size += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
  }
  const isWide = size % 2 === 1;
  const byteLength = isWide ? size - 1 : size / 2;
  return decodeText({ bytes: encoded.subarray(at, at + byteLength), isWide });
}

async function instantiate(
  wasmModule: WebAssembly.Module,
  maximum: number,
): Promise<{ readonly module: QuickJSEmscriptenModule; readonly ffi: QuickJSFFI }> {
  const wasmMemory = new WebAssembly.Memory({ initial: initialPages, maximum });
  const variant = newVariant(baseVariant, { wasmMemory, wasmModule });
  const [loader, FFI] = await Promise.all([variant.importModuleLoader(), variant.importFFI()]);
  const module = await (loader as EmscriptenModuleLoader<QuickJSEmscriptenModule>)();
  module.type = 'sync';
  return { module, ffi: new FFI(module) };
}

/** What an instance starts from: the image of another one, or only the word that will hold its heap's end. */
type Origin =
  | { readonly image: EngineImage; readonly heapEndWord?: never }
  | { readonly image: null; readonly heapEndWord: number };

export class Engine {
  readonly #module: QuickJSEmscriptenModule;
  readonly #ffi: QuickJSFFI;
  readonly #runtime: JSRuntimePointer;
  readonly #context: JSContextPointer;
  readonly #heapEndWord: number;
  readonly #collectAtWord: number;
  readonly #maximumBytes: number;
  readonly #undefined: GuestValue;
  #image: EngineImage | null;
  #shouldInterrupt: () => boolean = () => false;
  #hostFunction: HostFunction | null = null;
  /** Code ran in it, or the engine was made in it: more of the stack is to be cleared than a new instance has written. */
  #isUsed: boolean;

  private constructor(module: QuickJSEmscriptenModule, ffi: QuickJSFFI, maximumBytes: number, origin: Origin) {
    this.#maximumBytes = maximumBytes;
    this.#module = module;
    this.#ffi = ffi;
    this.#isUsed = origin.image === null;
    this.#image = origin.image;
    const refuse = (): never => {
      throw new Error('the sandbox has no such host function');
    };
    module.callbacks = {
      // What this throws ends the run and the instance with it.
      callFunction: (_async, _context, _this, count, values, id) => {
        if (id !== hostFunctionId || this.#hostFunction === null) return refuse();
        const texts = Array.from({ length: count }, (_, index) =>
          this.#exactText(ffi.QTS_ArgvGetJSValueConstPointer(values, index)),
        );
        const answer = this.decode(this.#hostFunction(texts));
        if (answer.ok) return answer.value;
        this.free(answer.thrown);
        throw new GuestMemoryExhausted();
      },
      loadModuleSource: refuse,
      normalizeModule: refuse,
      freeHostRef: () => undefined,
      shouldInterrupt: () => (this.#shouldInterrupt() ? 1 : 0),
    };
    if (origin.image !== null) {
      const { image } = origin;
      this.#heapEndWord = image.heapEndWord;
      this.#collectAtWord = image.collectAtWord;
      this.#runtime = image.runtime;
      this.#context = image.context;
      this.#undefined = image.undefinedValue;
      return;
    }
    this.#heapEndWord = origin.heapEndWord;
    this.#runtime = ffi.QTS_NewRuntime();
    this.#collectAtWord = findCollectAtWord(module, this.#runtime);
    ffi.QTS_RuntimeSetMaxStackSize(this.#runtime, guestStackBytes);
    ffi.QTS_RuntimeEnableInterruptHandler(this.#runtime);
    this.#context = ffi.QTS_NewContext(this.#runtime, allIntrinsics as Parameters<QuickJSFFI['QTS_NewContext']>[1]);
    this.#undefined = ffi.QTS_DupValuePointer(this.#context, ffi.QTS_GetUndefined());
  }

  /**
   * `memoryMb` is a hard cap: the memory of the WebAssembly instance cannot grow past it. With an image the instance is
   * as good as the one it was taken from, after a `restore`: the build lays out its memory the same way each time.
   */
  static async create(wasmModule: WebAssembly.Module, memoryMb: number, image: EngineImage | null): Promise<Engine> {
    const maximum = Math.max(initialPages, Math.ceil((memoryMb * 1024 * 1024) / wasmPageBytes));
    // The search leaves a larger heap behind, which each restore would have to clear: a throw-away instance does it.
    const origin: Origin =
      image === null
        ? { image, heapEndWord: findHeapEndWord((await instantiate(wasmModule, initialPages)).module) }
        : { image };
    const { module, ffi } = await instantiate(wasmModule, maximum);
    return new Engine(module, ffi, maximum * wasmPageBytes, origin);
  }

  get memoryBytes(): number {
    return this.#module.HEAPU8.byteLength;
  }

  /** Whether the guest has used up its memory, judged by the end of its heap. */
  get isMemoryUsedUp(): boolean {
    return this.#heapEnd() > this.#maximumBytes * usedUpShare;
  }

  /** Bytes that a restore writes. */
  get imageBytes(): number {
    return this.#image?.runs.reduce((sum, run) => sum + run.bytes.byteLength, 0) ?? 0;
  }

  /** Asked every few microseconds while guest code runs; true ends it, uncatchably. */
  interruptWhen(shouldInterrupt: () => boolean): void {
    this.#shouldInterrupt = shouldInterrupt;
  }

  /** Sets what the guest's host function does. It exists only where it was defined before the image was taken. */
  setHostFunction(hostFunction: HostFunction): void {
    this.#hostFunction = hostFunction;
  }

  /** Defines the guest's host function under a global name, which trusted code removes. */
  defineHostFunction(name: string): void {
    const made = this.#ffi.QTS_NewFunction(this.#context, name, 0, false, hostFunctionId as HostRefId);
    const key = this.#latin1String(name);
    const global = this.#ffi.QTS_GetGlobalObject(this.#context);
    this.#ffi.QTS_SetProp(this.#context, global, key, made);
    for (const value of [made, key, global]) this.free(value);
  }

  /** Remembers the memory as it is now; pointers held by the caller stay good across restores. */
  takeImage(): EngineImage {
    scrubFreeMemory(this.#module, () => this.#heapEnd());
    this.#image = {
      ...takeMemory(this.#module.HEAPU8, this.#heapEnd()),
      heapEndWord: this.#heapEndWord,
      collectAtWord: this.#collectAtWord,
      runtime: this.#runtime,
      context: this.#context,
      undefinedValue: this.#undefined,
    };
    this.#collectRarely();
    return this.#image;
  }

  /** The memory as it is now, for a later `restore` of this very instance. */
  takePageImage(): MemoryImage {
    return takeMemory(this.#module.HEAPU8, this.#heapEnd(), this.#image?.stackEnd);
  }

  /** Puts the memory back to the image, or to one that was taken since; nothing that ran after that is left. */
  restore(image: MemoryImage | null = this.#image): void {
    if (image === null) throw new Error('no image was taken');
    const { used, fresh } = clearedStackBytes;
    restoreMemory(this.#module.HEAPU8, image, this.#heapEnd(), this.#isUsed ? used : fresh);
    this.#isUsed = true;
    this.#collectRarely();
  }

  #collectRarely(): void {
    new Int32Array(this.#module.HEAPU8.buffer)[this.#collectAtWord] = Math.floor(this.#maximumBytes * collectAtShare);
  }

  /** Runs source text as a script; with `compileOnly` nothing of it runs. */
  eval(source: string, fileName: string, flags: number): GuestOutcome {
    const bytes = Buffer.from(source, 'utf8');
    const at = this.#allocate(bytes.byteLength + 1);
    this.#module.HEAPU8.set(bytes, at);
    this.#module.HEAPU8[at + bytes.byteLength] = 0;
    const value = this.#ffi.QTS_Eval(
      this.#context,
      at as OwnedHeapCharPointer,
      bytes.byteLength,
      fileName,
      0 as EvalDetectModule,
      flags as EvalFlags,
    );
    this.#module._free(at);
    return this.#outcomeOf(value);
  }

  call(callee: GuestValue, ...args: readonly GuestValue[]): GuestOutcome {
    const argsAt = this.#allocate(4 * Math.max(1, args.length));
    new Int32Array(this.#module.HEAPU8.buffer, argsAt, args.length).set(args);
    const value = this.#ffi.QTS_Call(
      this.#context,
      callee,
      this.#undefined,
      args.length,
      argsAt as JSValueConstPointerPointer,
    );
    this.#module._free(argsAt);
    return this.#outcomeOf(value);
  }

  /** An array of strings and ArrayBuffers inside the guest, each copied as it is. */
  decode(inputs: readonly GuestInput[]): GuestOutcome {
    const encoded = inputs.map(encodeInput);
    const head = [binaryFormat.version, 0, binaryFormat.array, ...leb128Bytes(inputs.length)];
    const byteLength = encoded.reduce((sum, each) => sum + each.head.length + each.byteLength, head.length);
    const start = this.#allocate(byteLength);
    const memory = Buffer.from(this.#module.HEAPU8.buffer);
    memory.set(head, start);
    let at = start + head.length;
    for (const each of encoded) {
      memory.set(each.head, at);
      each.write(memory, at + each.head.length);
      at += each.head.length + each.byteLength;
    }
    const buffer = this.#ffi.QTS_NewArrayBuffer(this.#context, start as JSVoidPointer, byteLength);
    const value = this.#ffi.QTS_bjson_decode(this.#context, buffer);
    this.free(buffer);
    return this.#outcomeOf(value);
  }

  property(object: GuestValue, name: string): GuestValue {
    const key = this.#latin1String(name);
    const value = this.#ffi.QTS_GetProp(this.#context, object, key);
    this.free(key);
    return value;
  }

  #latin1String(text: string): GuestValue {
    const at = this.#allocate(text.length + 1);
    Buffer.from(this.#module.HEAPU8.buffer).write(`${text}\0`, at, 'latin1');
    const value = this.#ffi.QTS_NewString(this.#context, at as OwnedHeapCharPointer);
    this.#module._free(at);
    return value;
  }

  /** As `text`, but each character as it is: NUL and lone surrogates too. */
  #exactText(value: GuestValue | JSValueConstPointer): string {
    if (!this.isString(value)) throw new GuestTampered();
    const encoded = this.#ffi.QTS_bjson_encode(this.#context, value);
    const at = this.#ffi.QTS_GetArrayBuffer(this.#context, encoded);
    const length = this.#ffi.QTS_GetArrayBufferLength(this.#context, encoded);
    if (at === 0) throw new GuestMemoryExhausted();
    const text = readString(new Uint8Array(this.#module.HEAPU8.buffer, at, length));
    this.free(encoded);
    return text;
  }

  /** The text of a value that is a string already; it must not be anything else, or guest code would run. */
  text(value: GuestValue): string {
    const at = this.#ffi.QTS_GetString(this.#context, value);
    const text = this.#module.UTF8ToString(at);
    this.#ffi.QTS_FreeCString(this.#context, at);
    return text;
  }

  /** An error of code that is trusted, or a syntax error of code that did not run. */
  describe(thrown: GuestValue): string {
    const at = this.#ffi.QTS_Dump(this.#context, thrown);
    const text = this.#module.UTF8ToString(at);
    this.#ffi.QTS_FreeCString(this.#context, at);
    return text;
  }

  isString(value: GuestValue | JSValueConstPointer): boolean {
    const at = this.#ffi.QTS_Typeof(this.#context, value);
    const name = this.#module.UTF8ToString(at);
    this.#module._free(at);
    return name === 'string';
  }

  /** Runs at most `limit` pending jobs; false when there were none. */
  runJobs(limit: number): boolean {
    if (this.#ffi.QTS_IsJobPending(this.#runtime) === 0) return false;
    const contextAt = this.#allocate(4);
    this.#ffi.QTS_ExecutePendingJob(this.#runtime, limit, contextAt as JSContextPointerPointer);
    this.#module._free(contextAt);
    return true;
  }

  free(value: GuestValue): void {
    this.#ffi.QTS_FreeValuePointer(this.#context, value);
  }

  #heapEnd(): number {
    return new Int32Array(this.#module.HEAPU8.buffer, this.#heapEndWord * 4, 1)[0] ?? 0;
  }

  #allocate(byteLength: number): number {
    const at = this.#module._malloc(byteLength);
    if (at === 0) throw new GuestMemoryExhausted();
    return at;
  }

  #outcomeOf(value: GuestValue): GuestOutcome {
    const thrown = this.#ffi.QTS_ResolveException(this.#context, value);
    return thrown === 0 ? { ok: true, value } : { ok: false, thrown };
  }
}

/** The guest called the host with something other than strings: its code replaced the built-ins that make them. */
export class GuestTampered extends Error {
  constructor() {
    super('the code broke the built-ins that markup is read with');
  }
}

/** The guest's memory has no room for the host's input. */
export class GuestMemoryExhausted extends Error {
  constructor() {
    super('the sandbox is out of memory');
  }
}
