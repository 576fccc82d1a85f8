/** Evaluators for the services of other containers: neither stores nor keys are opened here. */
import type { Config } from '#runtime/config';
import { createLogger } from '#runtime/logger';
import { evaluatorFiles, usualSettings } from '#sandbox/evaluator/evaluator-place';
import { startEvaluatorHost, type EvaluatorHost } from '#sandbox/evaluator/evaluator-host';
import { spawnEvaluator } from '#sandbox/evaluator/spawned-evaluator';
import { pageParserOf } from './page-parts.js';

/** Two of each service that asks for one, with a second for suspects, while they are replaced. */
const maxProcesses = 32;

export async function hostEvaluators(config: Config, folder: string): Promise<EvaluatorHost> {
  const logger = createLogger(config);
  const { places, ...paths } = evaluatorFiles(pageParserOf(config));
  const shared = usualSettings(paths);
  const settings = { shared, quarantine: { ...shared, workers: 1, spareWorkers: 0 } };
  return startEvaluatorHost({
    folder,
    maxProcesses,
    open: (use) => spawnEvaluator(places, settings[use]),
    logger,
  });
}
