/** `meerkat evaluators`: evaluator processes for the services of other containers, until a signal. */
import { once } from 'node:events';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import type { Product } from './product.js';
import { printNote, Refused } from './terminal.js';

export function addEvaluators(program: Command, product: Product): void {
  program
    .command('evaluators')
    .description(
      'evaluate pages and code for services that have EVALUATOR_SOCKETS set to the same folder, until Ctrl-C',
    )
    .action(async () => {
      const config = readConfig();
      const { evaluatorSockets } = config;
      if (evaluatorSockets === null) {
        throw new Refused(
          'no_sockets',
          'Set EVALUATOR_SOCKETS to the folder that the services and this process share.',
        );
      }
      const ended = Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal)));
      const host = await product.hostEvaluators(config, evaluatorSockets);
      printNote(`Evaluators are ready in ${evaluatorSockets}`);
      await ended;
      await host.close();
    });
}
