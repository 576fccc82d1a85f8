/** `meerkat start`: what `npm start` does. */
import type { Command } from 'commander';
import type { Product } from './product.js';

export function addStart(program: Command, product: Product): void {
  program
    .command('start')
    .description('run the server until Ctrl-C; settings come from the environment and .env')
    .action(() => product.start());
}
