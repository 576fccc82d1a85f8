/** Threads and child processes need compiled JavaScript: beside its module in the product, in `dist` under a test runner. */
import { existsSync } from 'node:fs';

/** The first of the places, each relative to the module, that exists; null where none does. */
export function findBuiltScript(moduleUrl: string, places: readonly string[]): URL | null {
  return places.map((place) => new URL(place, moduleUrl)).find((url) => existsSync(url)) ?? null;
}

/** Throws where none of the places exists. */
export function builtScript(moduleUrl: string, places: readonly string[]): URL {
  const found = findBuiltScript(moduleUrl, places);
  if (found === null) throw new Error(`${places[0] ?? 'The script'} is not built: run \`npm run build\`.`);
  return found;
}
