/** Sentences of the server in another language: by their codes, with the values that stand in them. Pure. */
import type { ProblemDetail, Refusal } from '../../api/wording.js';

/** What the server says, values in braces, and the same in another language. */
export type Saying = readonly [said: string, meant: string];

/** One text for whatever the server says under a code, or one for each of its sentences. */
export type Sayings = string | readonly Saying[];

export interface Said {
  readonly reasons: Readonly<Record<string, Sayings>>;
  /** What stands behind the name of a field. */
  readonly rules: Readonly<Record<string, Sayings>>;
  /** What such sentences may go on with. */
  readonly endings: readonly Saying[];
  /** What the server says in the place of a field's name. */
  readonly subjects: readonly Saying[];
  readonly thousands: string;
}

const value = /\{(\w+)\}/;
/** A value that is a sentence of the server itself, and shown in the same language. */
const inner = 'said';
/** Sentences in sentences; the server's are at most so deep. */
const deepest = 4;
/** Of a sentence: longer ones hold a page. */
const longest = 8_000;

/** A value called `one…` has no blank in it. */
const valuePattern = (name: string): string => `(?<${name}>${name.startsWith('one') ? '\\S+?' : '.+?'})`;

/** Each is made once: a sentence is held against hundreds. */
const patterns = new Map<string, RegExp>();

/** `must be at least {n}` as a pattern with a group for each value. */
function patternOf(said: string): RegExp {
  const known = patterns.get(said);
  if (known !== undefined) return known;
  const pieces = said.split(new RegExp(value, 'g')).map((piece, at) =>
    // Every second piece is the name of a value.
    at % 2 === 1 ? valuePattern(piece) : piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  const pattern = new RegExp(`^${pieces.join('')}$`, 's');
  patterns.set(said, pattern);
  return pattern;
}

function filled(meant: string, values: Readonly<Record<string, string>>, thousands: string): string {
  return meant.replace(new RegExp(value, 'g'), (_whole, name: string) => {
    const found = values[name] ?? '';
    return /^\d{1,3}(,\d{3})+$/.test(found) ? found.replaceAll(',', thousands) : found;
  });
}

function meantBy(sayings: readonly Saying[], message: string, thousands: string): string | null {
  for (const [said, meant] of sayings) {
    const found = patternOf(said).exec(message);
    if (found !== null) return filled(meant, found.groups ?? {}, thousands);
  }
  return null;
}

/** A whole sentence, or null where there is no text for it or for a sentence inside it. */
export function sentenceSaid(
  sayings: readonly Saying[],
  sentence: string,
  thousands: string,
  depth = 0,
): string | null {
  if (sentence.length > longest || depth > deepest) return null;
  for (const [said, meant] of sayings) {
    const found = patternOf(said).exec(sentence);
    if (found === null) continue;
    const values = found.groups ?? {};
    const within = values[inner];
    if (within === undefined) return filled(meant, values, thousands);
    const translated = sentenceSaid(sayings, within, thousands, depth + 1);
    if (translated !== null) return filled(meant, { ...values, [inner]: translated }, thousands);
  }
  return null;
}

/** Null where there is no text for it. */
function underCode(codes: Readonly<Record<string, Sayings>>, code: string, message: string, thousands: string) {
  const sayings = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (sayings === undefined || typeof sayings === 'string') return sayings ?? null;
  return meantBy(sayings, message, thousands);
}

/** What stands behind the name of a field, or null. */
function behindField({ rules, endings, thousands }: Said, rule: string, message: string): string | null {
  for (const [said, meant] of endings) {
    const at = message.indexOf(said.slice(0, said.indexOf('{')));
    if (at <= 0) continue;
    const begin = underCode(rules, rule, message.slice(0, at), thousands);
    const end = meantBy([[said, meant]], message.slice(at), thousands);
    if (begin !== null && end !== null) return begin + end;
  }
  return underCode(rules, rule, message, thousands);
}

export function detailSaid(said: Said, detail: ProblemDetail): ProblemDetail {
  const message = behindField(said, detail.rule, detail.message);
  return message === null ? detail : { ...detail, message };
}

/** What there is no text for stays as the server said it. */
export function refusalSaid(said: Said, refusal: Refusal): Refusal {
  const details = refusal.details?.map((detail) => detailSaid(said, detail));
  const own = underCode(said.reasons, refusal.reason, refusal.message, said.thousands);
  const words = details === undefined ? refusal : { ...refusal, details };
  if (own !== null) return { ...words, message: own };
  // The first fault of a form: its field and what is wrong with it.
  const [first] = refusal.details ?? [];
  if (first === undefined || !refusal.message.endsWith(` ${first.message}.`)) return words;
  const behind = behindField(said, first.rule, first.message);
  if (behind === null) return words;
  const subject = refusal.message.slice(0, -first.message.length - 2);
  return { ...words, message: `${meantBy(said.subjects, subject, said.thousands) ?? subject} ${behind}.` };
}
