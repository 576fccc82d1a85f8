/** Which known name somebody may have meant: by the Damerau–Levenshtein distance, restricted to neighbours that are swapped. */

/** Steps of one letter between two names: left out, added, another one, or two swapped. */
function distance(one: string, other: string): number {
  let [before, last]: [readonly number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[other.length] ?? 0;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** No name that is known is this long; what somebody sends may be. */
const longestName = 200;
const mostSteps = 2;

/** A third of the letters may differ, and no more than two of them; null: none is that near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > longestName) return null;
  const meant = plain(name);
  const found = known
    .filter((candidate) => Math.abs(plain(candidate).length - meant.length) <= mostSteps)
    .map((candidate) => ({ candidate, steps: distance(meant, plain(candidate)) }))
    .filter(({ candidate, steps }) => steps <= Math.min(mostSteps, Math.floor(plain(candidate).length / 3)))
    .toSorted((one, other) => one.steps - other.steps);
  return found[0]?.candidate ?? null;
}
