/** Where the evaluator's program is, and what it may read. */
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EvaluatorPlaces } from './evaluator-process.js';
import { lexborUrl } from '../parsers/lexbor-place.js';
import type { PageParserName } from '../parsers/page-parser.js';

/**
 * Processes and threads need compiled JavaScript. In the product this file lies in `dist`; under a test runner it is
 * compiled in memory, and the evaluator is the one that `npm run build` made.
 */
const folders = ['../../../evaluator/', '../../../dist/evaluator/'];

export interface EvaluatorFiles {
  readonly places: EvaluatorPlaces;
  readonly quickjsPath: string;
  readonly lexborPath: string | null;
}

/** Throws where it is not built. */
export function evaluatorFiles(pageParser: PageParserName): EvaluatorFiles {
  const folder = folders
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(join(place, 'evaluator.js')));
  if (folder === undefined) throw new Error('The evaluator is not built: run `npm run build`.');
  // Permissions are granted by the names under which the process asks, which are those of the files themselves.
  const entryPath = realpathSync(join(folder, 'evaluator.js'));
  const require = createRequire(import.meta.url);
  const quickjsPath = realpathSync(require.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'));
  const lexborPath = pageParser === 'lexbor' ? realpathSync(lexborUrl()) : null;
  const readable = [dirname(entryPath), quickjsPath, ...(lexborPath === null ? [] : [lexborPath])];
  return { places: { entryPath, readable }, quickjsPath, lexborPath };
}
