/** What expressions of XPath 1.0 come to, and how one kind of value becomes another. */
import { Attr } from './attributes.js';
import { dataOf, documentKind, elementKind, fragmentKind, kind, textOf } from './tree.js';

/** A node of the tree by its number, or an attribute. */
export type Item = number | Attr;
export type Value = Item[] | string | number | boolean;

export function textOfItem(item: Item): string {
  if (item instanceof Attr) return item.value;
  const what = kind(item);
  return what === elementKind || what === documentKind || what === fragmentKind ? textOf(item) : dataOf(item);
}

export function asText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number') return textOfNumber(value);
  const [first] = value;
  return first === undefined ? '' : textOfItem(first);
}

/** Without an exponent. */
function textOfNumber(value: number): string {
  if (value === 0) return '0';
  const text = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = parts;
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${first}${rest}`;
  return `${sign}${first}${rest.padEnd(power, '0')}`;
}

const numberForm = /^[ \t\r\n]*-?(?:\d+(?:\.\d*)?|\.\d+)[ \t\r\n]*$/;

export function asNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const text = asText(value);
  return numberForm.test(text) ? Number(text) : Number.NaN;
}

export function asBoolean(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  return value.length > 0;
}

function compareNumbers(operator: string, left: number, right: number): boolean {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

function compareSingles(operator: string, left: string | number | boolean, right: string | number | boolean): boolean {
  if (operator !== '=' && operator !== '!=') return compareNumbers(operator, asNumber(left), asNumber(right));
  let isSame: boolean;
  if (typeof left === 'boolean' || typeof right === 'boolean') isSame = asBoolean(left) === asBoolean(right);
  else if (typeof left === 'number' || typeof right === 'number') isSame = asNumber(left) === asNumber(right);
  else isSame = left === right;
  return isSame === (operator === '=');
}

/** As the standard compares: with sets of nodes, whether any of them fits. */
export function compareValues(operator: string, left: Value, right: Value): boolean {
  if (typeof left === 'object' && typeof right === 'object') {
    const others = right.map(textOfItem);
    return left.some((item) => {
      const text = textOfItem(item);
      return others.some((other) => compareSingles(operator, text, other));
    });
  }
  if (typeof left === 'object') {
    if (typeof right === 'boolean') return compareSingles(operator, asBoolean(left), right);
    return left.some((item) => compareSingles(operator, textOfItem(item), right as string | number));
  }
  if (typeof right === 'object') {
    if (typeof left === 'boolean') return compareSingles(operator, left, asBoolean(right));
    return right.some((item) => compareSingles(operator, left, textOfItem(item)));
  }
  return compareSingles(operator, left, right);
}
