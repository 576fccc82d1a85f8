/**
 * Sentences joined by "and" or "or", and their code: as with a single one, code is read back only where printing gives it again,
 * character for character. Pure.
 */
import type { Policy } from '../api/types.js';
import { fetchOf, notifyOnOf, printSentence, readSentence, type Sentence } from './sentence.js';

export interface Joined {
  /** Every one of them, or one at least. */
  readonly kind: 'all' | 'any';
  readonly parts: readonly Sentence[];
}

export type Condition = Sentence | Joined;

export const isJoined = (condition: Condition): condition is Joined => 'parts' in condition;

export const partsOf = (condition: Condition): readonly Sentence[] =>
  isJoined(condition) ? condition.parts : [condition];

/** One that is met by any difference asks for another policy, so it stands alone. */
export const mayBeJoined = ({ kind }: Pick<Sentence, 'kind'>): boolean => kind !== 'changes';

/** What parts say to the outside, apart from texts, in which it means nothing: each needs names of its own. */
const named =
  /(page\.report\('value|page\.previous\?\.values\.value|page\.state\.(?:lines|seen))(\d*)\b|'(?:[^'\\]|\\.)*'/g;

function withNames(code: string, names: string): string {
  return code.replaceAll(named, (whole, name: string | undefined) => (name === undefined ? whole : `${name}${names}`));
}

const namesOf = (index: number): string => (index === 0 ? '' : String(index + 1));
const opening = '  () => {';
const closing = '  },';
const endings = { all: 'return answers.every(Boolean);', any: 'return answers.some(Boolean);' } as const;

export function printCondition(condition: Condition): string {
  if (!isJoined(condition)) return printSentence(condition);
  const blocks = condition.parts.map((part, index) => {
    const lines = withNames(printSentence(part), namesOf(index)).split('\n');
    return [opening, ...lines.map((line) => `    ${line}`), closing].join('\n');
  });
  return ['const answers = [', ...blocks, '].map((part) => part());', endings[condition.kind]].join('\n');
}

/** Null: written by hand. */
export function readCondition(code: string): Condition | null {
  const alone = readSentence(code);
  if (alone !== null) return alone;
  const kind = code.endsWith(endings.all) ? 'all' : 'any';
  const inner = code.split('\n').slice(1, -2).join('\n');
  const blocks = inner.split(`\n${opening}\n`).join(`\n${closing}\n`).split(`\n${closing}`);
  const parts = blocks.flatMap((block) => {
    const lines = block.split('\n').filter((line) => line.startsWith('    '));
    return lines.length === 0 ? [] : [readSentence(withNames(lines.map((line) => line.slice(4)).join('\n'), ''))];
  });
  const read = parts.filter((part) => part !== null);
  if (read.length < 2 || read.length < parts.length) return null;
  const condition: Joined = { kind, parts: read };
  return printCondition(condition) === code ? condition : null;
}

/** The policy that it needs to mean what it says: one event among its parts makes an event of it. */
export function notifyOnOfCondition(condition: Condition): Policy['notifyOn'] {
  const all = partsOf(condition).map(notifyOnOf);
  return all.find((one) => one !== 'became_true') ?? 'became_true';
}

export function fetchOfCondition(condition: Condition): { readonly acceptStatus?: string[] } {
  return partsOf(condition)
    .map(fetchOf)
    .reduce((all, one) => ({ ...all, ...one }), {});
}

/** The part that a click on the page is about: the last one. */
export function withLast(condition: Condition, part: Sentence): Condition {
  return isJoined(condition) ? { ...condition, parts: [...condition.parts.slice(0, -1), part] } : part;
}

export const lastOf = (condition: Condition): Sentence | null => partsOf(condition).at(-1) ?? null;

export function withoutPart(condition: Joined, index: number): Condition {
  const parts = condition.parts.filter((_, at) => at !== index);
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { ...condition, parts };
}
