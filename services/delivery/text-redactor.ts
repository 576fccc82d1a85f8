/**
 * Takes words out of a text in one pass, whatever the words and the text are: both come from users and receivers. Words are
 * found by a hash of the text between two places (Rabin and Karp, 1987), so that many long words with one beginning cost no
 * more than short ones.
 */
import { randomInt } from 'node:crypto';
import { secretMask } from '#runtime/secret-mask';

/** More than is kept of any text; what lies behind is not read. */
export const redactedCharacters = 4_096;

/** Words are looked up by so many characters, which no word is shorter than. */
const gramLength = 4;
/** A prime below 2^26: products stay exact. */
const modulus = 67_108_859;
/** Different in each process, so that nobody can make words that share a hash. */
const base = randomInt(1 << 16, modulus - 1);

interface Word {
  readonly text: string;
  readonly hash: number;
  readonly replacement: string;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * base + text.charCodeAt(at)) % modulus;
  return hash;
}

/** `of(from, to)`: the hash of the text in between. */
function createRangeHash(text: string) {
  const sums = new Float64Array(text.length + 1);
  const powers = new Float64Array(text.length + 1).fill(1);
  for (let at = 0; at < text.length; at += 1) {
    sums[at + 1] = ((sums[at] ?? 0) * base + text.charCodeAt(at)) % modulus;
    powers[at + 1] = ((powers[at] ?? 0) * base) % modulus;
  }
  return (from: number, to: number): number => {
    const hash = ((sums[to] ?? 0) - (((sums[from] ?? 0) * (powers[to - from] ?? 0)) % modulus)) % modulus;
    return hash < 0 ? hash + modulus : hash;
  };
}

/** ASCII alone: a change of length would move places. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * `replacements`: words of four characters and more, found in any case, and what stands in their place. Words that overlap are
 * taken out together, as a mask. The answer covers the first `characters` of the text, and every word that begins there.
 */
export function createTextRedactor(
  replacements: ReadonlyMap<string, string>,
  characters: number = redactedCharacters,
): (text: string) => string {
  /** By their first characters, the longest first. */
  let words: Map<string, Word[]> | null = null;
  let longest = 0;
  const index = (): Map<string, Word[]> => {
    const found = new Map<string, Word[]>();
    for (const [word, replacement] of replacements) {
      const text = lower(word);
      const gram = text.slice(0, gramLength);
      const group = found.get(gram) ?? [];
      group.push({ text, hash: hashOf(text), replacement });
      found.set(gram, group);
      longest = Math.max(longest, text.length);
    }
    for (const group of found.values()) group.sort((a, b) => b.text.length - a.text.length);
    return found;
  };

  return (text) => {
    words ??= index();
    const end = Math.min(text.length, characters);
    const haystack = lower(text.slice(0, characters + longest));
    const hashBetween = createRangeHash(haystack);
    let redacted = '';
    /** Up to here the text is written, or part of the run. */
    let written = 0;
    let run: { to: number; replacement: string } | null = null;
    const close = (): void => {
      if (run === null) return;
      redacted += run.replacement;
      written = run.to;
      run = null;
    };
    for (let at = 0; at < end; at += 1) {
      if (run !== null && at >= run.to) close();
      for (const word of words.get(haystack.slice(at, at + gramLength)) ?? []) {
        const to = at + word.text.length;
        // What is taken out already need not be compared; of the rest the longest that stands here is enough.
        if (run !== null && to <= run.to) break;
        if (to > haystack.length || hashBetween(at, to) !== word.hash || !haystack.startsWith(word.text, at)) continue;
        if (run === null) redacted += text.slice(written, at);
        run = { to, replacement: run === null ? word.replacement : secretMask };
        break;
      }
    }
    close();
    return written < end ? redacted + text.slice(written, end) : redacted;
  };
}
