/**
 * A condition as a sentence and as code: two views of one text. What is stored is the code. It is shown as a sentence only
 * where printing that sentence gives the code again, character for character; nothing is ever rewritten in silence. Pure.
 */
import type { Policy } from '../api/types.js';

export type Comparison = 'below' | 'above' | 'atMost' | 'atLeast' | 'exactly';

export type Sentence =
  | {
      readonly kind: 'number';
      readonly selector: string;
      readonly locale: string;
      readonly compare: Comparison;
      readonly limit: number;
    }
  | {
      readonly kind: 'numberChanges';
      readonly selector: string;
      readonly locale: string;
      readonly by: number;
      readonly isPercent: boolean;
    }
  | { readonly kind: 'says'; readonly selector: string; readonly text: string; readonly isNegated: boolean }
  | { readonly kind: 'matches'; readonly selector: string; readonly pattern: string }
  | { readonly kind: 'appears'; readonly selector: string; readonly isGone: boolean }
  | { readonly kind: 'changes'; readonly selector: string }
  | { readonly kind: 'newText'; readonly selector: string; readonly text: string }
  | { readonly kind: 'newItem'; readonly selector: string }
  | { readonly kind: 'count'; readonly selector: string; readonly isMore: boolean; readonly count: number }
  | { readonly kind: 'pageSays'; readonly text: string; readonly isNegated: boolean }
  | { readonly kind: 'json'; readonly path: string; readonly compare: Comparison; readonly limit: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'certificate'; readonly days: number };

export type SentenceKind = Sentence['kind'];

const operators: Readonly<Record<Comparison, string>> = {
  below: '<',
  above: '>',
  atMost: '<=',
  atLeast: '>=',
  exactly: '===',
};
const comparisons = Object.fromEntries(
  Object.entries(operators).map(([comparison, operator]) => [operator, comparison as Comparison]),
);

/** A text as a string of JavaScript, in one way only. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
  return `'${inner}'`;
}

function unquoted(literal: string): string {
  return JSON.parse(
    `"${literal
      .slice(1, -1)
      .replaceAll(String.raw`\'`, "'")
      .replaceAll('"', String.raw`\"`)}"`,
  ) as string;
}

const element = (selector: string): string =>
  `const element = document.querySelector(${quoted(selector)});\nif (element === null) throw new Error(${quoted(`no element matches ${selector}`)});\n`;
const foldedText = "const text = element.textContent.replace(/\\s+/g, ' ').trim();\n";
const numberLine = (selector: string, locale: string): string =>
  `const value = page.number(document.querySelector(${quoted(selector)})${locale === '' ? '' : `, ${quoted(locale)}`});\npage.report('value', value);\n`;

export function printSentence(sentence: Sentence): string {
  switch (sentence.kind) {
    case 'number': {
      const { selector, locale, compare, limit } = sentence;
      return `${numberLine(selector, locale)}return value ${operators[compare]} ${limit};`;
    }
    case 'numberChanges': {
      const { selector, locale, by, isPercent } = sentence;
      const change = isPercent ? 'Math.abs(value - before) / Math.abs(before) * 100' : 'Math.abs(value - before)';
      return `${numberLine(selector, locale)}const before = page.previous?.values.value;\nreturn typeof before === 'number' && ${change} > ${by};`;
    }
    case 'says': {
      const { selector, text, isNegated } = sentence;
      return `${element(selector)}${foldedText}page.report('value', text);\nreturn ${isNegated ? '!' : ''}text.toLowerCase().includes(${quoted(text.toLowerCase())});`;
    }
    case 'matches': {
      const { selector, pattern } = sentence;
      return `${element(selector)}${foldedText}page.report('value', text);\nreturn new RegExp(${quoted(pattern)}, 'i').test(text);`;
    }
    case 'appears': {
      const { selector, isGone } = sentence;
      return `return document.querySelector(${quoted(selector)}) ${isGone ? '===' : '!=='} null;`;
    }
    case 'changes':
      return `${element(sentence.selector)}${foldedText}page.report('value', text);\nreturn true;`;
    case 'newText': {
      const { selector, text } = sentence;
      return `${element(selector)}const lines = element.textContent.split('\\n').map((line) => line.trim()).filter((line) => line !== '');\nconst before = page.state.lines;\npage.state.lines = lines.slice(-200);\nconst added = before === undefined ? [] : lines.filter((line) => !before.includes(line) && line.toLowerCase().includes(${quoted(text.toLowerCase())}));\npage.report('value', added.join('\\n'));\nreturn added.length > 0;`;
    }
    case 'newItem':
      return `const items = [...document.querySelectorAll(${quoted(sentence.selector)})].map((item) => item.textContent.replace(/\\s+/g, ' ').trim());\nif (items.length === 0) throw new Error(${quoted(`no element matches ${sentence.selector}`)});\nconst seen = page.state.seen;\npage.state.seen = [...new Set([...items, ...(seen ?? [])])].slice(0, 200);\nconst added = seen === undefined ? [] : items.filter((item) => !seen.includes(item));\npage.report('value', added.join('\\n'));\nreturn added.length > 0;`;
    case 'count': {
      const { selector, isMore, count } = sentence;
      return `const value = document.querySelectorAll(${quoted(selector)}).length;\npage.report('value', value);\nreturn value ${isMore ? '>' : '<'} ${count};`;
    }
    case 'pageSays':
      return `return ${sentence.isNegated ? '!' : ''}document.body.textContent.toLowerCase().includes(${quoted(sentence.text.toLowerCase())});`;
    case 'json': {
      const { path, compare, limit } = sentence;
      return `let value = page.json();\nfor (const name of ${quoted(path)}.split('.')) {\n  if (value === null || typeof value !== 'object' || !(name in value)) throw new Error('the page has no ' + name);\n  value = value[name];\n}\npage.report('value', value);\nreturn value ${operators[compare]} ${limit};`;
    }
    case 'status':
      return `return page.status === ${sentence.status};`;
    case 'certificate':
      return `if (page.certificate === null) throw new Error('the page has no certificate');\npage.report('value', page.certificate.daysLeft);\nreturn page.certificate.daysLeft < ${sentence.days};`;
  }
}

/** The policy that a kind of sentence needs to mean what it says. */
export function notifyOnOf({ kind }: Sentence): Policy['notifyOn'] {
  if (kind === 'changes') return 'changed';
  return kind === 'newItem' || kind === 'newText' || kind === 'numberChanges' ? 'every_true' : 'became_true';
}

/** How the page has to be loaded for a sentence to be answered: one about the status takes every status for an answer. */
export function fetchOf({ kind }: Sentence): { readonly acceptStatus?: string[] } {
  return kind === 'status' ? { acceptStatus: ['2xx', '3xx', '4xx', '5xx'] } : {};
}

const text = String.raw`'(?:[^'\\]|\\.)*'`;
const number = String.raw`-?\d+(?:\.\d+)?(?:e[+-]\d+)?`;
const query = String.raw`document\.querySelector\((${text})\)`;

/** A guess by the code's shape, from the literals found in it. Whether it is right is told by printing it again. */
type Reader = (code: string) => Sentence | null;

function reader(pattern: string, make: (found: readonly string[]) => Sentence): Reader {
  const expression = new RegExp(pattern);
  return (code) => {
    const found = expression.exec(code);
    return found === null ? null : make(found.slice(1).map((group) => group ?? ''));
  };
}

const at = (found: readonly string[], index: number): string => found[index] ?? '';
const textAt = (found: readonly string[], index: number): string => {
  const literal = at(found, index);
  return literal === '' ? '' : unquoted(literal);
};

const readers: readonly Reader[] = [
  reader(`page\\.number\\(${query}(?:, (${text}))?\\);[\\s\\S]*return value (<=?|>=?|===) (${number});$`, (found) => ({
    kind: 'number',
    selector: textAt(found, 0),
    locale: textAt(found, 1),
    compare: comparisons[at(found, 2)] ?? 'below',
    limit: Number(at(found, 3)),
  })),
  reader(
    `page\\.number\\(${query}(?:, (${text}))?\\);[\\s\\S]*Math\\.abs\\(value - before\\)( / [^>]+)? > (${number});$`,
    (found) => ({
      kind: 'numberChanges',
      selector: textAt(found, 0),
      locale: textAt(found, 1),
      by: Number(at(found, 3)),
      isPercent: at(found, 2) !== '',
    }),
  ),
  reader(`${query};[\\s\\S]*return (!?)text\\.toLowerCase\\(\\)\\.includes\\((${text})\\);$`, (found) => ({
    kind: 'says',
    selector: textAt(found, 0),
    isNegated: at(found, 1) === '!',
    text: textAt(found, 2),
  })),
  reader(`${query};[\\s\\S]*new RegExp\\((${text}), 'i'\\)\\.test\\(text\\);$`, (found) => ({
    kind: 'matches',
    selector: textAt(found, 0),
    pattern: textAt(found, 1),
  })),
  reader(`^return ${query} ([!=])== null;$`, (found) => ({
    kind: 'appears',
    selector: textAt(found, 0),
    isGone: at(found, 1) === '=',
  })),
  reader(`${query};[\\s\\S]*page\\.report\\('value', text\\);\\nreturn true;$`, (found) => ({
    kind: 'changes',
    selector: textAt(found, 0),
  })),
  reader(`${query};[\\s\\S]*const lines[\\s\\S]*includes\\((${text})\\)\\);`, (found) => ({
    kind: 'newText',
    selector: textAt(found, 0),
    text: textAt(found, 1),
  })),
  reader(`document\\.querySelectorAll\\((${text})\\)\\]\\.map`, (found) => ({
    kind: 'newItem',
    selector: textAt(found, 0),
  })),
  reader(`document\\.querySelectorAll\\((${text})\\)\\.length;[\\s\\S]*return value ([<>]) (${number});$`, (found) => ({
    kind: 'count',
    selector: textAt(found, 0),
    isMore: at(found, 1) === '>',
    count: Number(at(found, 2)),
  })),
  reader(`^return (!?)document\\.body\\.textContent\\.toLowerCase\\(\\)\\.includes\\((${text})\\);$`, (found) => ({
    kind: 'pageSays',
    isNegated: at(found, 0) === '!',
    text: textAt(found, 1),
  })),
  reader(
    `page\\.json\\(\\);\\nfor \\(const name of (${text})\\.split[\\s\\S]*return value (<=?|>=?|===) (${number});$`,
    (found) => ({
      kind: 'json',
      path: textAt(found, 0),
      compare: comparisons[at(found, 1)] ?? 'below',
      limit: Number(at(found, 2)),
    }),
  ),
  reader(`^return page\\.status === (${number});$`, (found) => ({ kind: 'status', status: Number(at(found, 0)) })),
  reader(`page\\.certificate\\.daysLeft < (${number});$`, (found) => ({
    kind: 'certificate',
    days: Number(at(found, 0)),
  })),
];

function tried(read: Reader, code: string): Sentence | null {
  try {
    return read(code);
  } catch {
    return null;
  }
}

/** Null: written by hand. */
export function readSentence(code: string): Sentence | null {
  for (const read of readers) {
    const guess = tried(read, code);
    if (guess !== null && printSentence(guess) === code) return guess;
  }
  return null;
}

/** The language of a number's separators, from the number as it is written: `1.299,00` is German, `1,299.00` English. */
export function localeOf(written: string): string {
  const separators = /\d([.,])\d{1,2}(?!\d)/.exec(written)?.[1];
  if (separators === ',') return 'de';
  return separators === '.' || /\d,\d{3}/.test(written) ? 'en' : '';
}

/** What was clicked decides the first guess. `inList`: how many alike stand beside it. */
export function firstGuess(selector: string, written: string, inList: number): Sentence {
  const shown = written.replace(/\s+/g, ' ').trim();
  const value = numberIn(shown);
  if (value !== null && shown.length < 40) {
    return { kind: 'number', selector, locale: localeOf(shown), compare: 'below', limit: value };
  }
  if (inList > 2) return { kind: 'newItem', selector };
  if (/^(in stock|sold out|out of stock|available|unavailable|auf lager|ausverkauft|verfügbar)\b/i.test(shown)) {
    return { kind: 'says', selector, text: 'in stock', isNegated: false };
  }
  return { kind: 'changes', selector };
}

/** The first number in a text, its separators told apart by their places; null where there is none. */
export function numberIn(written: string): number | null {
  const found = /-?\d[\d.,'\u00a0\u202f ]*/.exec(written)?.[0];
  if (found === undefined) return null;
  const isGerman = localeOf(found) === 'de';
  const plain = found.replace(isGerman ? /[^\d,-]/g : /[^\d.-]/g, '').replace(',', '.');
  const value = Number(plain.replace(/\.$/, ''));
  return Number.isFinite(value) ? value : null;
}
