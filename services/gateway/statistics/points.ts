/** Values over time as they are answered: few enough to be drawn, and no extreme lost. Pure. */
import type { NumberFigures, TextFigures } from '#contracts/figures';

export interface Point {
  readonly at: string;
  readonly value: number | string;
  readonly min?: number;
  readonly max?: number;
  readonly executionId?: string;
}

export type NumberPoint = Point & { readonly value: number };

/** The values of a stretch that its figures still know, in their order. */
export function pointsOf({ first, min, max, last }: NumberFigures): NumberPoint[] {
  const known = new Map([first, min, max, last].map(({ at, value }) => [at, { at, value }]));
  return [...known.values()].toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

/** One point for several: the last value, with the least and the greatest of them. */
function joined(points: readonly NumberPoint[]): NumberPoint {
  const [only] = points;
  const last = points.at(-1);
  if (only === undefined || last === undefined) throw new Error('no points to join');
  if (points.length === 1) return only;
  const min = Math.min(...points.map((point) => point.min ?? point.value));
  const max = Math.max(...points.map((point) => point.max ?? point.value));
  return { ...last, min, max };
}

/** At most `limit` points, in groups of the same size. */
export function thinned(points: readonly NumberPoint[], limit: number): readonly NumberPoint[] {
  if (points.length <= limit) return points;
  return Array.from({ length: limit }, (_, index) => {
    const [from, to] = [index, index + 1].map((edge) => Math.round((edge * points.length) / limit));
    return joined(points.slice(from, to));
  });
}

/** The changes of a text over several stretches, of each what it still knows. */
export function textChanges(stretches: readonly TextFigures[]): Point[] {
  const changes: Point[] = [];
  let before: string | null = null;
  for (const stretch of stretches) {
    for (const { at, value } of stretch.changes) {
      if (value === before) continue;
      changes.push({ at, value });
      before = value;
    }
    before = stretch.last;
  }
  return changes;
}
