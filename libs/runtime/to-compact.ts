/**
 * JSON in few bytes, written and read in one pass: ids, times, hashes and what is sealed as the bytes that they are, words and
 * members that nearly all of it has in common by their numbers, a text that comes again by its place. Value for value it is the
 * same again, the members of objects in their order; so the text that `JSON.stringify` makes of it is, too.
 */
import { remembered, short, tag, tailBytes, tailLength } from './compact-form.js';
import { packedPrefixes, shapes, words } from './compact-words.js';
import { base32Number, ulidBits } from './ids.js';
import type { Json } from './json.js';

const deepest = 64;

const wordNumbers = new Map(words.map((word, number) => [word, number]));
const shapeNumbers = new Map(shapes.map((names, number) => [names.join('\n'), number]));
const idTags = new Map<string, number>(packedPrefixes.map((prefix, number) => [prefix, tag.id + number]));

const idForm = /^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const hexForm = /^(?:[0-9a-f]{2}){8,}$/;
const base64Form = /^[A-Za-z0-9_-]{32,}$/;
const tailForm = new RegExp(`^[0-9a-hjkmnp-tv-z]{${tailLength}}$`);
const slotForm = /^slot\.(ntf_[0-9a-z]{26})\.([1-9]\d{12})$/;

/** It holds what this form has no place for. */
class NotCompact extends Error {}

let room = Buffer.allocUnsafe(16_384);
let used = 0;

function need(bytes: number): void {
  if (used + bytes <= room.length) return;
  const larger = Buffer.allocUnsafe(Math.max(room.length * 2, used + bytes));
  room.copy(larger, 0, 0, used);
  room = larger;
}

function byte(value: number): void {
  need(1);
  room[used++] = value;
}

/** Seven bits a byte, the lowest first. */
function number(value: number): void {
  need(8);
  let rest = value;
  while (rest >= 0x80) {
    room[used++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  room[used++] = rest;
}

/** Small whatever its sign. */
const signed = (value: number): void => number(value < 0 ? -2 * value - 1 : 2 * value);

function bytes(text: string, encoding: 'hex' | 'base64url', length: number): void {
  need(length);
  room.write(text, used, length, encoding);
  used += length;
}

class Writer {
  readonly #seen = new Map<string, number>();
  #count = 0;
  #timeMs = 0;

  constructor(known: readonly string[]) {
    for (const text of known) this.#remember(text);
  }

  #remember(text: string): void {
    if (this.#count < remembered) this.#seen.set(text, this.#count++);
  }

  #time(timeMs: number): void {
    signed(timeMs - this.#timeMs);
    this.#timeMs = timeMs;
  }

  #numeral(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
      if (value >= 0 && value < short.numbers) return byte(tag.small + value);
      byte(value < 0 ? tag.negative : tag.whole);
      return number(Math.abs(value));
    }
    for (const [scale, one] of [
      [10, tag.tenths],
      [100, tag.hundredths],
    ] as const) {
      const scaled = Math.round(value * scale);
      if (Math.abs(scaled) <= 2 ** 50 && scaled / scale === value && scaled !== 0) {
        byte(one);
        return signed(scaled);
      }
    }
    if (!Number.isFinite(value)) throw new NotCompact();
    byte(tag.double);
    need(8);
    used = room.writeDoubleLE(value, used);
  }

  #id(text: string, idTag: number): void {
    const { epochMs, bits80 } = ulidBits(text.slice(4));
    byte(idTag);
    this.#time(epochMs);
    need(10);
    room.set(bits80, used);
    used += 10;
  }

  #literal(text: string): void {
    const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
    const length = Buffer.byteLength(text, encoding);
    byte(encoding === 'utf8' ? tag.utf8 : tag.utf16);
    number(length);
    need(length);
    room.write(text, used, length, encoding);
    used += length;
  }

  /** A form of its own; false where the text has none. */
  #special(text: string): boolean {
    const { length } = text;
    if (length === 30) {
      const idTag = text.charAt(3) === '_' ? idTags.get(text.slice(0, 3)) : undefined;
      if (idTag === undefined || !idForm.test(text)) return false;
      this.#id(text, idTag);
      return true;
    }
    if (length === 36 && uuidForm.test(text)) {
      byte(tag.uuid);
      bytes(text.replaceAll('-', ''), 'hex', 16);
      return true;
    }
    const slot = length === 49 ? slotForm.exec(text) : null;
    const [, taskId, dueMs] = slot ?? [];
    if (taskId !== undefined && dueMs !== undefined) {
      byte(tag.slot);
      this.text(taskId);
      this.#time(Number(dueMs));
      return true;
    }
    const prefixEnd = length > 16 ? text.indexOf(':') + 1 : 0;
    const prefix = prefixEnd > 3 ? wordNumbers.get(text.slice(0, prefixEnd)) : undefined;
    if (prefix !== undefined) {
      byte(tag.prefixed);
      number(prefix);
      this.text(text.slice(prefixEnd));
      return true;
    }
    if (length >= 16 && length % 2 === 0 && hexForm.test(text)) {
      byte(tag.hex);
      number(length / 2);
      bytes(text, 'hex', length / 2);
      return true;
    }
    return false;
  }

  #base64(text: string): boolean {
    if (text.length < 32 || !base64Form.test(text)) return false;
    const length = Math.floor((text.length * 3) / 4);
    need(length + 16);
    const at = used;
    byte(tag.base64);
    number(length);
    bytes(text, 'base64url', length);
    // The last letter of one that is cut elsewhere may say more than the bytes hold.
    if (room.toString('base64url', used - length, used) === text) return true;
    used = at;
    return false;
  }

  text(text: string): void {
    if (text === '') return byte(tag.emptyText);
    const word = wordNumbers.get(text);
    if (word !== undefined) {
      if (word < short.words) return byte(tag.words + word);
      byte(tag.word);
      return number(word);
    }
    const place = this.#seen.get(text);
    if (place !== undefined) {
      if (place < short.agains) return byte(tag.agains + place);
      byte(tag.again);
      return number(place);
    }
    if (text.length === 24 && text.charAt(23) === 'Z' && timeForm.test(text)) {
      const timeMs = Date.parse(text);
      if (timeMs >= 0 && new Date(timeMs).toISOString() === text) {
        byte(tag.time);
        return this.#time(timeMs);
      }
    }
    if (!this.#special(text)) {
      if (this.#base64(text)) return;
      this.#literal(text);
    }
    if (text.length > 1) this.#remember(text);
  }

  #object(value: { readonly [name: string]: Json | undefined }, depth: number): void {
    let names = Object.keys(value);
    if (names.some((name) => value[name] === undefined)) names = names.filter((name) => value[name] !== undefined);
    if (names.length === 0) return byte(tag.emptyObject);
    const shape = shapeNumbers.get(names.join('\n'));
    // A name may have that letter in it.
    if (shape === undefined || shapes[shape]?.length !== names.length) {
      // Assigned, this one would not become a member again.
      if (names.includes('__proto__')) throw new NotCompact();
      byte(tag.object);
      number(names.length);
      for (const name of names) this.text(name);
    } else if (shape < short.shapes) byte(tag.shapes + shape);
    else {
      byte(tag.shape);
      number(shape);
    }
    for (const name of names) this.value(value[name] ?? null, depth + 1);
  }

  #tails(tails: readonly string[]): void {
    byte(tag.tails);
    number(tails.length);
    need(tails.length * tailBytes);
    for (const tail of tails) {
      const bits = base32Number(tail);
      used = room.writeUIntLE(bits % 2 ** 48, used, 6);
      room[used++] = Math.floor(bits / 2 ** 48);
    }
  }

  value(value: Json, depth: number): void {
    if (value === null) return byte(tag.null);
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#numeral(value);
    if (typeof value === 'boolean') return byte(value ? tag.true : tag.false);
    if (typeof value !== 'object' || depth > deepest || 'toJSON' in value) throw new NotCompact();
    if (!Array.isArray(value)) return this.#object(value as { readonly [name: string]: Json }, depth);
    if (value.length === 0) return byte(tag.emptyList);
    const items = value as readonly (Json | undefined)[];
    if (items.every((one) => typeof one === 'string' && tailForm.test(one))) return this.#tails(items as string[]);
    byte(tag.list);
    number(value.length);
    for (const one of items) this.value(one ?? null, depth + 1);
  }
}

/**
 * null: it is nested too deeply, or has a member that only a text of JSON can have. `known`: texts that who reads it has too,
 * such as the name under which it is stored.
 */
export function toCompact(value: Json, known: readonly string[] = []): Buffer | null {
  used = 0;
  try {
    new Writer(known).value(value, 0);
    return Buffer.from(room.subarray(0, used));
  } catch (error) {
    if (error instanceof NotCompact) return null;
    throw error;
  }
}
