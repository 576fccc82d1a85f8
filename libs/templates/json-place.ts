/** Where in a JSON document a template has come to, so that a value is written as what stands there. */

/** JSON that a template asked for: as it is where a value may stand, a text inside a string. */
export class JsonText {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** As it is where a value may stand, although it is a text: a page that reports `12.50` means the number. */
const literal = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null)$/;

const insideQuotes = (text: string): string => JSON.stringify(text).slice(1, -1);

function asValue(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (typeof value === 'string' && literal.test(value)) return value;
  // Nothing, and what filters make of numbers that are none, is null.
  return JSON.stringify(value ?? null) ?? 'null';
}

/** What a character behind a backslash stands for, as far as it begins or ends anything. */
function unescaped(character: string): string {
  return 'nrtbf'.includes(character) ? ' ' : character;
}

/** `opening`: `{` or `[` came, which in a string may also begin a sentence. */
type Kind = 'blank' | 'opening' | 'document' | 'sentence';

/** Of a document, or of what stands in one of its strings, which may be a document again. */
export class JsonPlace {
  readonly #isWhole: boolean;
  readonly #textOf: (value: unknown) => string;
  #kind: Kind = 'blank';
  /** null: outside of strings. */
  #string: JsonPlace | null = null;
  #isEscaped = false;

  /** `textOf`: how a value is read where it is a part of a text. */
  constructor(textOf: (value: unknown) => string, isWhole = true) {
    this.#textOf = textOf;
    this.#isWhole = isWhole;
  }

  /** Goes on behind text of the template itself. */
  pass(text: string): void {
    for (const character of text) this.#next(character);
  }

  /** A value as it has to be written here. */
  written(value: unknown): string {
    if (this.#kind === 'opening' || (this.#kind === 'blank' && !this.#isWhole)) this.#kind = 'sentence';
    if (this.#kind === 'blank') this.#kind = 'document';
    if (this.#kind === 'sentence') {
      const text = this.#textOf(value);
      return this.#isWhole ? insideQuotes(text) : text;
    }
    if (this.#string === null) return asValue(value);
    // A backslash of the template would take the first character with it, be it a quotation mark.
    const backslash = this.#isEscaped ? '\\' : '';
    if (this.#isEscaped) this.#string.pass('\\');
    this.#isEscaped = false;
    return backslash + insideQuotes(this.#string.written(value));
  }

  #next(character: string): void {
    if (this.#kind === 'sentence') return;
    if (this.#kind !== 'document' && /\s/.test(character)) return;
    if (this.#kind === 'blank') {
      const opens = character === '{' || character === '[';
      const begins = opens || character === '"';
      this.#kind = this.#isWhole ? (begins ? 'document' : 'sentence') : opens ? 'opening' : 'sentence';
      if (this.#kind !== 'document') return;
    } else if (this.#kind === 'opening') {
      this.#kind = /["{[}\]]/.test(character) ? 'document' : 'sentence';
      if (this.#kind === 'sentence') return;
    }
    if (this.#string === null) {
      if (character === '"') this.#string = new JsonPlace(this.#textOf, false);
    } else if (this.#isEscaped) {
      this.#isEscaped = false;
      this.#string.#next(unescaped(character));
    } else if (character === '\\') {
      this.#isEscaped = true;
    } else if (character === '"') {
      this.#string = null;
    } else {
      this.#string.#next(character);
    }
  }
}
