/** Where the evaluator's program is, and what it may read. */
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtScript } from '#runtime/built-script';
import type { EvaluatorPlaces } from './spawned-evaluator.js';
import { lexborUrl } from '../parsers/lexbor-place.js';
import { defaultPageLimits } from '../parsers/page-parser.js';
import type { PageParserName } from '../parsers/page-parser.js';
import type { EvaluatorSettings } from './messages.js';

const scripts = ['../../../evaluator/evaluator.js', '../../../dist/evaluator/evaluator.js'];

export interface EvaluatorFiles {
  readonly places: EvaluatorPlaces;
  readonly quickjsPath: string;
  readonly lexborPath: string | null;
}

/** Throws where it is not built. */
export function evaluatorFiles(pageParser: PageParserName): EvaluatorFiles {
  // Permissions are granted by the names under which the process asks, which are those of the files themselves.
  const entryPath = realpathSync(fileURLToPath(builtScript(import.meta.url, scripts)));
  const require = createRequire(import.meta.url);
  const quickjsPath = realpathSync(require.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'));
  const lexborPath = pageParser === 'lexbor' ? realpathSync(lexborUrl()) : null;
  const readable = [dirname(entryPath), quickjsPath, ...(lexborPath === null ? [] : [lexborPath])];
  return { places: { entryPath, readable }, quickjsPath, lexborPath };
}

/** Time over its budget after which a job is ended from outside. */
const graceMs = 50;

/** A thread per core and one more for when all are busy with long jobs; a process without a job for a minute ends. */
export function usualSettings(paths: Pick<EvaluatorSettings, 'quickjsPath' | 'lexborPath'>): EvaluatorSettings {
  const { parseMs } = defaultPageLimits;
  return { ...paths, workers: availableParallelism(), spareWorkers: 1, idleMs: 60_000, graceMs, parseMs };
}
