/** `URLSearchParams` after the WHATWG URL standard. */
import { percentDecode, percentEncode } from './url-host.js';

const leftInForm = (mark: string): boolean => /[A-Za-z0-9*\-._]/.test(mark);

function formEncode(text: string): string {
  return percentEncode(text, (mark) => mark === ' ' || leftInForm(mark)).replaceAll(' ', '+');
}

function formDecode(text: string): string {
  return percentDecode(text.replaceAll('+', ' '));
}

type Pair = [string, string];

export class URLSearchParams {
  #pairs: Pair[] = [];
  #onChange: (text: string) => void = () => undefined;

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init === 'object' && Symbol.iterator in init) {
      for (const pair of init as Iterable<Iterable<unknown>>) {
        const both = [...pair];
        if (both.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
        this.#pairs.push([String(both[0]), String(both[1])]);
      }
    } else if (typeof init === 'object') {
      for (const name of Object.keys(init)) this.#pairs.push([name, String((init as Record<string, unknown>)[name])]);
    } else this.#read(String(init).replace(/^\?/, ''));
  }

  static bound(query: string, onChange: (text: string) => void): URLSearchParams {
    const params = new URLSearchParams();
    params.#read(query);
    params.#onChange = onChange;
    return params;
  }

  static reread(params: URLSearchParams, query: string): void {
    params.#pairs = [];
    params.#read(query);
  }

  #read(text: string): void {
    for (const part of text.split('&')) {
      if (part === '') continue;
      const equals = part.indexOf('=');
      const name = equals < 0 ? part : part.slice(0, equals);
      this.#pairs.push([formDecode(name), equals < 0 ? '' : formDecode(part.slice(equals + 1))]);
    }
  }

  get size(): number {
    return this.#pairs.length;
  }
  append(name: unknown, value: unknown): void {
    this.#pairs.push([String(name), String(value)]);
    this.#onChange(this.toString());
  }
  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter(
      ([key, held]) => key !== String(name) || (value !== undefined && held !== String(value)),
    );
    this.#onChange(this.toString());
  }
  get(name: unknown): string | null {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some(([key, held]) => key === String(name) && (value === undefined || held === String(value)));
  }
  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex(([key]) => key === String(name));
    if (at < 0) this.#pairs.push([String(name), String(value)]);
    else {
      this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== String(name));
      this.#pairs[at] = [String(name), String(value)];
    }
    this.#onChange(this.toString());
  }
  sort(): void {
    this.#pairs.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    this.#onChange(this.toString());
  }
  forEach(visit: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this.#pairs) visit.call(self, value, name, this);
  }
  *entries(): Generator<Pair> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }
  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');
  }
  get [Symbol.toStringTag](): string {
    return 'URLSearchParams';
  }
}
