/** `meerkat browsers`: browser processes for the services of other containers, until a signal. */
import { once } from 'node:events';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import type { Product } from './product.js';
import { printNote } from './terminal.js';

export function addBrowsers(program: Command, product: Product): void {
  program
    .command('browsers')
    .description('render pages for services that have BROWSER set to ws://HOST:PORT of this process, until Ctrl-C')
    .action(async () => {
      const ended = Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal)));
      const host = await product.hostBrowsers(readConfig());
      printNote(`Browsers are ready at ${host.url}`);
      await ended;
      await host.close();
    });
}
