/** Selectors over attributes: `[name]`, `[name~=value i]` and their like. */
import type { Reader } from './selector-reader.js';
import { blank } from './selector-reader.js';
import { asciiLowerCase } from './row-lists.js';
import { attributeParts, htmlNamespace, partsOf } from './names.js';
import { attributeByName, attributesOf } from './attribute-values.js';
import { internName } from './name-table.js';
import { isXml } from './tree.js';

/** Attributes whose values HTML compares without regard to case. */
const caselessAttributes =
  ' accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink ';

export function isForeign(node: number): boolean {
  return isXml() || partsOf(node).namespace !== htmlNamespace;
}

/** Of any namespace, by the name without a prefix. */
function valueOfAny(node: number, written: string): string | null {
  const wanted = isForeign(node) ? written : asciiLowerCase(written);
  for (const [key, value] of attributesOf(node)) if (attributeParts(node, key).local === wanted) return value;
  return null;
}

/** Reads what stands between `[` and `]`. */
export function attributeTest(reader: Reader): (node: number) => boolean {
  reader.skipBlanks();
  const isOfAny = reader.take('*|');
  if (!isOfAny && reader.peek() === '|') reader.at++;
  const written = reader.name(true);
  // Nothing declares prefixes here.
  if (reader.peek() === '|' && reader.text.charAt(reader.at + 1) !== '=') reader.fail();
  const lower = asciiLowerCase(written);
  const lowerId = internName(lower);
  const writtenId = internName(written);
  const hasColon = written.includes(':');
  const valueOf = (node: number): string | null => {
    if (isOfAny) return valueOfAny(node, written);
    if (hasColon && attributeParts(node, written).namespace !== null) return null;
    return attributeByName(node, lowerId === writtenId || !isForeign(node) ? lowerId : writtenId);
  };
  reader.skipBlanks();
  if (reader.take(']')) return (node) => valueOf(node) !== null;
  const operator = /^[~|^$*]?=/.exec(reader.text.slice(reader.at, reader.at + 2))?.[0];
  if (operator === undefined) reader.fail();
  reader.at += operator.length;
  reader.skipBlanks();
  const mark = reader.peek();
  const value = mark === '"' || mark === "'" ? reader.string() : reader.name(true);
  reader.skipBlanks();
  let flag = '';
  if (/[isIS]/.test(reader.peek())) {
    flag = reader.peek().toLowerCase();
    reader.at++;
    reader.skipBlanks();
  }
  reader.expect(']');
  const compare = comparison(operator, flag === 'i' ? value.toLowerCase() : value);
  if (flag === 'i') {
    return (node) => {
      const found = valueOf(node);
      return found !== null && compare(found.toLowerCase());
    };
  }
  if (flag === '' && caselessAttributes.includes(` ${lower} `)) {
    const compareCaseless = comparison(operator, value.toLowerCase());
    return (node) => {
      const found = valueOf(node);
      if (found === null) return false;
      return isForeign(node) ? compare(found) : compareCaseless(found.toLowerCase());
    };
  }
  return (node) => {
    const found = valueOf(node);
    return found !== null && compare(found);
  };
}

function comparison(operator: string, value: string): (found: string) => boolean {
  switch (operator) {
    case '=':
      return (found) => found === value;
    case '~=':
      return (found) => value !== '' && !blank.test(value) && hasToken(found, value);
    case '|=':
      return (found) => found === value || found.startsWith(`${value}-`);
    case '^=':
      return (found) => value !== '' && found.startsWith(value);
    case '$=':
      return (found) => value !== '' && found.endsWith(value);
    default:
      return (found) => value !== '' && found.includes(value);
  }
}

const otherBlanks = /[\t\n\f\r]/g;

/** Whether a list separated by blanks holds a token. */
export function hasToken(list: string, token: string): boolean {
  if (list === token) return true;
  if (list.length <= token.length) return false;
  return ` ${list.replace(otherBlanks, ' ')} `.includes(` ${token} `);
}
