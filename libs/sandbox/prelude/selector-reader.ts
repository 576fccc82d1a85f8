/** Selectors read character by character: names, strings, escapes and what stands in brackets. */
export class SelectorError extends Error {}

const nameStart = /[A-Za-z_\u0080-\uffff\\-]/;
const nameEnd = /[^A-Za-z0-9_\u0080-\uffff-]/g;
export const blank = /[\t\n\f\r ]/;

const [underscore, hyphen, backslash] = [0x5f, 0x2d, 0x5c];

function isLetter(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
}

function isPlain(unit: number): boolean {
  return isLetter(unit) || unit === hyphen || unit === underscore || (unit >= 0x30 && unit <= 0x39);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d || unit === 0x0c;
}

export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  peek(): string {
    return this.text.charAt(this.at);
  }

  fail(): never {
    throw new SelectorError(`'${this.text}' is not a valid selector.`);
  }

  /** The unit at this place; NaN at the end. */
  unit(): number {
    return this.text.charCodeAt(this.at);
  }

  isAtName(): boolean {
    const unit = this.unit();
    return isLetter(unit) || unit >= 0x80 || unit === underscore || unit === hyphen || unit === backslash;
  }

  skipBlanks(): boolean {
    const from = this.at;
    while (isBlank(this.unit())) this.at++;
    return this.at > from;
  }

  take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  expect(mark: string): void {
    if (!this.take(mark)) this.fail();
  }

  escape(): string {
    const hex = /^[0-9a-fA-F]{1,6}/.exec(this.text.slice(this.at, this.at + 6));
    if (hex !== null) {
      this.at += hex[0].length;
      if (this.text.startsWith('\r\n', this.at)) this.at++;
      if (blank.test(this.peek())) this.at++;
      const code = Number.parseInt(hex[0], 16);
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
        ? '\ufffd'
        : String.fromCodePoint(code);
    }
    const code = this.text.codePointAt(this.at);
    if (code === undefined) return '\ufffd';
    const mark = String.fromCodePoint(code);
    this.at += mark.length;
    return mark;
  }

  /** An identifier; a name after `#` may start with a digit. */
  name(isIdentifier: boolean): string {
    const { text, at } = this;
    // Plain ones are read unit by unit: each regular expression costs the engine as much as all of that.
    if (isLetter(text.charCodeAt(at))) {
      let end = at + 1;
      while (isPlain(text.charCodeAt(end))) end++;
      const next = text.charCodeAt(end);
      if (next !== backslash && !(next >= 0x80)) {
        this.at = end;
        return text.slice(at, end);
      }
    }
    return this.#anyName(isIdentifier);
  }

  #anyName(isIdentifier: boolean): string {
    if (isIdentifier && !nameStart.test(this.peek())) this.fail();
    if (isIdentifier && /^-?\d|^-$/.test(this.text.slice(this.at, this.at + 2))) this.fail();
    let name = '';
    for (;;) {
      nameEnd.lastIndex = this.at;
      const end = nameEnd.exec(this.text)?.index ?? this.text.length;
      name += this.text.slice(this.at, end);
      this.at = end;
      if (this.peek() !== '\\') break;
      this.at++;
      name += this.escape();
    }
    if (name === '') this.fail();
    return name;
  }

  string(): string {
    const quote = this.peek();
    this.at++;
    let text = '';
    for (;;) {
      const mark = this.peek();
      if (mark === '' || mark === '\n') this.fail();
      this.at++;
      if (mark === quote) return text;
      if (mark !== '\\') text += mark;
      else if (this.peek() === '\n') this.at++;
      else text += this.escape();
    }
  }

  /** The text up to the bracket that closes an argument, which is left standing. */
  argument(): string {
    const from = this.at;
    let depth = 0;
    for (; this.at < this.text.length; this.at++) {
      const mark = this.peek();
      if (mark === '\\') this.at++;
      else if (mark === '"' || mark === "'") {
        this.string();
        this.at--;
      } else if (mark === '(' || mark === '[') depth++;
      else if (mark === ')' || mark === ']') {
        if (depth === 0) break;
        depth--;
      }
    }
    return this.text.slice(from, this.at);
  }
}
