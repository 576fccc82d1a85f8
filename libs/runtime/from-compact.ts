/** Reads what `to-compact` has written. */
import { remembered, tag, tailBytes, tailLength } from './compact-form.js';
import { packedPrefixes, shapes, words } from './compact-words.js';
import { base32Text, encodeUlid } from './ids.js';
import type { Json } from './json.js';

const fromSigned = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

/** It was not written so, or was cut or changed. */
export class CompactUnreadable extends Error {
  constructor() {
    super('invalid compact JSON');
    this.name = 'CompactUnreadable';
  }
}

class Reader {
  readonly #bytes: Buffer;
  readonly #seen: string[];
  #at = 0;
  #timeMs = 0;

  constructor(packed: Uint8Array, known: readonly string[]) {
    this.#bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
    this.#seen = known.slice(0, remembered);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  #byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new CompactUnreadable();
    this.#at += 1;
    return value;
  }

  #number(): number {
    let value = this.#byte();
    if (value < 0x80) return value;
    value -= 0x80;
    for (let factor = 0x80; ; factor *= 0x80) {
      const next = this.#byte();
      value += (next % 0x80) * factor;
      if (!Number.isSafeInteger(value)) throw new CompactUnreadable();
      if (next < 0x80) return value;
    }
  }

  #take(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new CompactUnreadable();
    return at;
  }

  #time(): number {
    this.#timeMs += fromSigned(this.#number());
    return this.#timeMs;
  }

  #keep(text: string): string {
    if (text.length > 1 && this.#seen.length < remembered) this.#seen.push(text);
    return text;
  }

  #literal(encoding: 'utf8' | 'utf16le'): string {
    const length = this.#number();
    const at = this.#take(length);
    return this.#keep(this.#bytes.toString(encoding, at, at + length));
  }

  #uuid(): string {
    const at = this.#take(16);
    const hex = this.#bytes.toString('hex', at, at + 16);
    return this.#keep(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    );
  }

  #id(prefix: string): string {
    const epochMs = this.#time();
    const at = this.#take(10);
    return this.#keep(`${prefix}_${encodeUlid(epochMs, this.#bytes.subarray(at, at + 10))}`);
  }

  #word(place: number): string {
    const word = words[place];
    if (word === undefined) throw new CompactUnreadable();
    return word;
  }

  #again(place: number): string {
    const text = this.#seen[place];
    if (text === undefined) throw new CompactUnreadable();
    return text;
  }

  #text(): string {
    const value = this.value();
    if (typeof value !== 'string') throw new CompactUnreadable();
    return value;
  }

  #members(names: readonly string[] | undefined): Json {
    if (names === undefined) throw new CompactUnreadable();
    const members: Record<string, Json> = {};
    for (const name of names) members[name] = this.value();
    return members;
  }

  #counted(): number {
    const count = this.#number();
    // Each takes a byte at least.
    if (count > this.#bytes.length - this.#at) throw new CompactUnreadable();
    return count;
  }

  #names(): readonly string[] {
    const names = Array.from({ length: this.#counted() }, () => this.#text());
    if (names.includes('__proto__')) throw new CompactUnreadable();
    return names;
  }

  #tail(): string {
    const at = this.#take(tailBytes);
    return base32Text(this.#bytes.readUIntLE(at, 6) + (this.#bytes[at + 6] ?? 0) * 2 ** 48, tailLength);
  }

  #rest(first: number): Json {
    switch (first) {
      case tag.emptyText:
        return '';
      case tag.emptyObject:
        return {};
      case tag.emptyList:
        return [];
      case tag.double:
        return this.#bytes.readDoubleLE(this.#take(8));
      case tag.whole:
        return this.#number();
      case tag.negative:
        return -this.#number();
      case tag.tenths:
        return fromSigned(this.#number()) / 10;
      case tag.hundredths:
        return fromSigned(this.#number()) / 100;
      case tag.utf8:
        return this.#literal('utf8');
      case tag.utf16:
        return this.#literal('utf16le');
      case tag.time:
        return new Date(this.#time()).toISOString();
      case tag.uuid:
        return this.#uuid();
      case tag.hex: {
        const length = this.#number();
        const at = this.#take(length);
        return this.#keep(this.#bytes.toString('hex', at, at + length));
      }
      case tag.base64: {
        const length = this.#number();
        const at = this.#take(length);
        return this.#bytes.toString('base64url', at, at + length);
      }
      case tag.slot: {
        const taskId = this.#text();
        return this.#keep(`slot.${taskId}.${this.#time()}`);
      }
      case tag.prefixed: {
        const prefix = this.#word(this.#number());
        return this.#keep(`${prefix}${this.#text()}`);
      }
      case tag.word:
        return this.#word(this.#number());
      case tag.again:
        return this.#again(this.#number());
      case tag.list:
        return Array.from({ length: this.#counted() }, () => this.value());
      case tag.object:
        return this.#members(this.#names());
      case tag.shape:
        return this.#members(shapes[this.#number()]);
      default:
        throw new CompactUnreadable();
    }
  }

  value(): Json {
    const first = this.#byte();
    if (first >= tag.small) return first - tag.small;
    if (first >= tag.shapes) return this.#members(shapes[first - tag.shapes]);
    if (first >= tag.agains) return this.#again(first - tag.agains);
    if (first >= tag.words) return this.#word(first - tag.words);
    if (first === tag.tails) return Array.from({ length: this.#counted() }, () => this.#tail());
    if (first >= tag.id) return this.#id(packedPrefixes[first - tag.id] ?? '');
    if (first === tag.null) return null;
    if (first === tag.false) return false;
    if (first === tag.true) return true;
    return this.#rest(first);
  }
}

/** Throws `CompactUnreadable`. `known`: as it was written with. */
export function fromCompact(packed: Uint8Array, known: readonly string[] = []): Json {
  const reader = new Reader(packed, known);
  const value = reader.value();
  if (!reader.isAtEnd) throw new CompactUnreadable();
  return value;
}
