/**
 * The prelude as scripts, which the build makes from the modules in `prelude/` (`scripts/bundle-prelude.mjs`). A module may
 * import from any other that does not lead back to it, and exports by `export function`, `export const`, `export class`.
 */
import { readFileSync } from 'node:fs';
import { builtScript } from '#runtime/built-script';

const places = ['./prelude.json', '../../evaluator/prelude.json', '../../dist/evaluator/prelude.json'];

/**
 * Scripts to be evaluated one after the other; the last results in an object of the functions through which the host enters
 * (`prelude/main.ts`). Throws where they are not built.
 */
export function readPrelude(): readonly string[] {
  return JSON.parse(readFileSync(builtScript(import.meta.url, places), 'utf8')) as string[];
}

/** The global under which the prelude finds the host's parser of markup; the prelude removes it. */
export const hostFunctionName = 'hostMarkupParser';
