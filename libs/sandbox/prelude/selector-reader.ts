/** Selectors read character by character: names, strings, escapes and what stands in brackets. */
export class SelectorError extends Error {}

export const nameStart = /[A-Za-z_\u0080-\uffff\\-]/;
const nameEnd = /[^A-Za-z0-9_\u0080-\uffff-]/g;
export const blank = /[\t\n\f\r ]/;

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

  skipBlanks(): boolean {
    const from = this.at;
    while (this.at < this.text.length && blank.test(this.peek())) this.at++;
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
