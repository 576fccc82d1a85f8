/**
 * Texts of lists in MongoDB: a document keeps the threes of letters of its searched fields as numbers, in a multikey index.
 * A document that has a text has all of its threes, so those with its rarest one are looked up and compared with the whole text.
 */
import type { mongo } from 'mongoose';
import { sleep } from '#concurrency/sleep';
import { toIndexed, indexedValues } from './indexed-fields.js';
import type { Stored, ViewCollection } from './mongo-view.js';
import type { AnyView, FieldFilter } from './read-store.js';

type TextFilter = Extract<FieldFilter, { contains: string }>;

const letterBits = 7;
const lettersOfAscii = 2 ** letterBits;

/** ASCII letters are told apart exactly; others may share a number, which costs a comparison and changes no answer. */
function numberOf(three: readonly string[]): number {
  const points = three.map((letter) => letter.codePointAt(0) ?? 0);
  if (points.every((point) => point < lettersOfAscii)) {
    return points.reduce((number, point) => (number << letterBits) | point, 0);
  }
  return -1 - (points.reduce((number, point) => Math.imul(number, 0x01_00_01_93) ^ point, 0x811c9dc5) >>> 1);
}

/** Without the case of ASCII letters, as texts are compared. */
export function threesOf(text: string): readonly number[] {
  const letters = Array.from(text, (letter) => (/[A-Z]/.test(letter) ? letter.toLowerCase() : letter));
  return [...new Set(letters.slice(2).map((_, index) => numberOf(letters.slice(index, index + 3))))];
}

/** What a document keeps; null where the view is not searched. */
export function threesOfDocument(view: AnyView, document: object): readonly number[] | null {
  const { searched = [] } = view;
  if (searched.length === 0) return null;
  const values = indexedValues({ ...view, fields: searched }, document);
  return [...new Set(values.flat().flatMap((value) => (typeof value === 'string' ? threesOf(value) : [])))];
}

/** The first filter by a text that has a three, in fields that are searched. */
function searchedText({ searched = [] }: AnyView, where: readonly FieldFilter[]): TextFilter | null {
  const found = where.find(
    (filter): filter is TextFilter =>
      'contains' in filter && filter.fields.length > 0 && filter.fields.every((field) => searched.includes(field)),
  );
  return found !== undefined && threesOf(String(toIndexed(found.contains))).length > 0 ? found : null;
}

const sampleSize = 1_000;
/** Of a text that a greater part of all documents has, the first page is found sooner by going through the list. */
const mostLookedUp = 1 / 8;
const fullSampleFreshMs = 300_000;
const partSampleFreshMs = 5_000;
/** A slow server is given time for a sample, of which no list has to wait for long. */
const sampledWithinMs = 120_000;
const waitForSampleMs = 500;

interface Sample {
  readonly documents: number;
  readonly having: ReadonlyMap<number, number>;
  readonly freshUntilMs: number;
}

async function takeSample(collection: ViewCollection): Promise<Sample> {
  const found = await collection
    .aggregate<Pick<Stored, 't'>>([{ $sample: { size: sampleSize } }, { $project: { t: 1 } }], {
      maxTimeMS: sampledWithinMs,
    })
    .toArray();
  const having = new Map<number, number>();
  for (const { t = [] } of found) for (const three of t) having.set(three, (having.get(three) ?? 0) + 1);
  const freshMs = found.length < sampleSize ? partSampleFreshMs : fullSampleFreshMs;
  return { documents: found.length, having, freshUntilMs: performance.now() + freshMs };
}

export interface TextLookup {
  /** The condition on the rarest three of a text that is asked for; null where none is, or where too many have it. */
  conditionFor(view: AnyView, where: readonly FieldFilter[]): Promise<mongo.Filter<Stored> | null>;
}

/** How rare a three is comes from some documents taken at random: an estimate that costs time where it errs, never an answer. */
export function createTextLookup(open: (view: AnyView) => Promise<ViewCollection>): TextLookup {
  const samples = new Map<string, Sample>();
  const taking = new Map<string, Promise<Sample | null>>();

  const take = async (view: AnyView): Promise<Sample | null> => {
    try {
      const sample = await takeSample(await open(view));
      samples.set(view.name, sample);
      return sample;
    } catch {
      // Where the server does not answer, the list itself says so.
      return null;
    } finally {
      taking.delete(view.name);
    }
  };

  /** The last one, while a newer one is taken; null where there is none yet. */
  const sampleOf = async (view: AnyView): Promise<Sample | null> => {
    const known = samples.get(view.name) ?? null;
    if (known !== null && performance.now() < known.freshUntilMs) return known;
    const isTaken = taking.get(view.name) ?? take(view);
    taking.set(view.name, isTaken);
    return known ?? Promise.race([isTaken, sleep(waitForSampleMs, undefined, { ref: false }).then(() => null)]);
  };

  return {
    async conditionFor(view, where) {
      const text = searchedText(view, where);
      if (text === null) return null;
      const sample = await sampleOf(view);
      const threes = threesOf(text.contains);
      // The end of a text tells it apart better than its beginning.
      if (sample === null) return { t: threes.at(-1) ?? 0 };
      const { documents, having } = sample;
      const shareOf = (three: number): number => (having.get(three) ?? 0) / Math.max(documents, 1);
      const [rarest] = threes.toSorted((one, other) => shareOf(one) - shareOf(other));
      return rarest === undefined || shareOf(rarest) > mostLookedUp ? null : { t: rarest };
    },
  };
}
