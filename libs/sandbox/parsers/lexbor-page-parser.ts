/**
 * The page parser over lexbor in WebAssembly (`lexbor/`): it writes the flat tables itself, the way the guest's engine
 * keeps them. It is C that reads hostile pages, so nothing of what it did to its memory outlives a page, and nothing it
 * reports is trusted.
 */
import { isUtf8 } from 'node:buffer';
import { checkFlatPage, UnsoundTables } from './flat-page-check.js';
import type { EncodedText, FlatPage } from './flat-page.js';
import { asPreformatted, decodeBody, PageTooComplex } from './page-parser.js';
import type { MarkupContext, PageLimits, PageParser, ParsedPage } from './page-parser.js';
import { parseXmlDocument } from './xml-page-parser.js';

interface Exports {
  /** Initializes the instance. */
  start(): void;
  /** All memory in use lies below. */
  heap_top(): number;
  /** Why the last call trapped. */
  failure(): number;
  /** Allocates so many bytes. */
  input(length: number): number;
  parse_document(at: number, length: number, isScripting: number, elements: number, depth: number): number;
  parse_fragment(
    at: number,
    length: number,
    contextAt: number,
    contextLength: number,
    contextNamespace: number,
    isScripting: number,
    elements: number,
    depth: number,
  ): number;
}

/** By their numbers in `lexbor/failure.h`. */
const failures = { elements: 1, depth: 2, attributes: 3, memory: 4 } as const;
/** By their numbers in lexbor. */
const namespaces = { html: 2, math: 3, svg: 4 } as const;
const partNames = ['text', 'values', 'names', 'classes', 'ids', 'source'] as const;
type Parts = { readonly [name in (typeof partNames)[number]]: EncodedText };

const wasmPageBytes = 65_536;
const initialPages = 64;
const maximumPages = 2_048;
/** An instance that has grown past this is replaced: memory of WebAssembly never shrinks. A page of 1 MB takes 18 MB. */
const renewAboveBytes = 48 * 1024 * 1024;
const attributesPerTag = 1_024;
const partWords = 3;
const outputWords = 3 + partNames.length * partWords;

function faultOf(failure: number, limits: PageLimits): string {
  switch (failure) {
    case failures.elements:
      return `has more than ${limits.elements} elements`;
    case failures.depth:
      return `nests its elements more than ${limits.depth} deep`;
    case failures.attributes:
      return `has more than ${attributesPerTag} attributes on one element`;
    case failures.memory:
      return `takes more than ${(maximumPages * wasmPageBytes) >> 20} MB to parse`;
    default:
      return 'is one that the parser cannot read';
  }
}

class Instance {
  readonly exports: Exports;
  readonly #memory: WebAssembly.Memory;
  readonly #image: Uint8Array;

  constructor(wasmModule: WebAssembly.Module) {
    this.#memory = new WebAssembly.Memory({ initial: initialPages, maximum: maximumPages });
    const instance = new WebAssembly.Instance(wasmModule, { env: { memory: this.#memory } });
    this.exports = instance.exports as unknown as Exports;
    this.exports.start();
    this.#image = new Uint8Array(this.#memory.buffer, 0, this.exports.heap_top()).slice();
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  write(bytes: Uint8Array): number {
    const at = this.exports.input(bytes.byteLength);
    new Uint8Array(this.#memory.buffer, at, bytes.byteLength).set(bytes);
    return at;
  }

  /** Puts the memory back to what it was before the first page, and leaves nothing of the last one. */
  restore(): void {
    const end = Math.min(Math.max(this.exports.heap_top(), this.#image.byteLength), this.#memory.buffer.byteLength);
    const memory = new Uint8Array(this.#memory.buffer);
    memory.fill(0, this.#image.byteLength, end);
    memory.set(this.#image);
  }

  /** A copy of what the output record at `at` describes. Throws `RangeError` where that is not in the memory. */
  read(at: number): FlatPage & Parts {
    const words = new Uint32Array(this.#memory.buffer, at, outputWords);
    const [start = 0, length = 0, tableWords = 0] = words;
    const block = new Uint8Array(this.#memory.buffer, start, length).slice();
    const part = (index: number): EncodedText => {
      const [offset = 0, byteLength = 0, isWide = 0] = words.subarray(3 + index * partWords);
      return { bytes: new Uint8Array(block.buffer, offset, byteLength), isWide: isWide !== 0 };
    };
    const parts = Object.fromEntries(partNames.map((name, index) => [name, part(index)])) as Parts;
    return { ...parts, tables: new Int32Array(block.buffer, 0, tableWords) };
  }
}

const byteOrderMark = Buffer.from('\ufeff', 'utf8');

function withoutByteOrderMark(body: Uint8Array): Uint8Array {
  return byteOrderMark.equals(body.subarray(0, byteOrderMark.length)) ? body.subarray(byteOrderMark.length) : body;
}

/** Over what `npm run build:parser` made. */
export function createLexborPageParser(wasmModule: WebAssembly.Module): PageParser {
  let instance = new Instance(wasmModule);

  function parse(limits: PageLimits, call: (instance: Instance) => number): FlatPage & Parts {
    try {
      const flat = instance.read(call(instance));
      checkFlatPage(flat);
      if (instance.memoryBytes > renewAboveBytes) instance = new Instance(wasmModule);
      else instance.restore();
      return flat;
    } catch (thrown) {
      const isTrap = thrown instanceof WebAssembly.RuntimeError;
      const isUnsound = thrown instanceof RangeError || thrown instanceof UnsoundTables;
      const failure = isTrap ? instance.exports.failure() : 0;
      // A trap leaves the C stack where it was, and tables that cannot be show that the memory was damaged.
      instance = new Instance(wasmModule);
      if (isTrap || isUnsound) throw new PageTooComplex(faultOf(failure, limits));
      throw thrown;
    }
  }

  return {
    parsePage(body, kind, limits): ParsedPage {
      if (kind === 'xml') {
        const xml = decodeBody(body);
        return { text: xml, flat: parseXmlDocument(xml, limits) };
      }
      const isMarkup = kind === 'html';
      const text = isMarkup && isUtf8(body) ? null : decodeBody(body);
      const bytes =
        text === null ? withoutByteOrderMark(body) : Buffer.from(isMarkup ? text : asPreformatted(text), 'utf8');
      const { source, ...flat } = parse(limits, (parser) =>
        parser.exports.parse_document(parser.write(bytes), bytes.byteLength, 1, limits.elements, limits.depth),
      );
      return { text: text ?? source, flat };
    },

    parseMarkup(markup: string, context: MarkupContext | null, limits): FlatPage {
      const bytes = Buffer.from(markup, 'utf8');
      const { elements, depth } = limits;
      const { source: _source, ...flat } = parse(limits, (parser) => {
        const at = parser.write(bytes);
        // Scripts of a document that code made do not run.
        if (context === null) return parser.exports.parse_document(at, bytes.byteLength, 0, elements, depth);
        const tag = Buffer.from(context.tag.toLowerCase(), 'utf8');
        const space = namespaces[context.namespace];
        const tagAt = parser.write(tag);
        return parser.exports.parse_fragment(at, bytes.byteLength, tagAt, tag.byteLength, space, 1, elements, depth);
      });
      return flat;
    },
  };
}
