/** `meerkat secret-key rotate`: another key for everything that is sealed and signed. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { refuseEmptyFolder } from './data-folder.js';
import type { Product } from './product.js';
import { plain, printJson, printNote, printResult } from './terminal.js';

interface RotateOptions {
  readonly json?: true;
  readonly keyFile?: string;
}

export function addSecretKey(program: Command, product: Product): void {
  program
    .command('secret-key')
    .description('the key that secrets are sealed and events are signed with')
    .command('rotate')
    .description('change it, while all processes are stopped; cut off, it goes on when it is run again')
    .option('--key-file <file>', 'where SECRET_KEY is set: the file with the new one; made where it is not there')
    .option('--json', 'answer as one JSON document')
    .action(async ({ json, keyFile }: RotateOptions) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const done = await product.rotateSecretKey(config, keyFile === undefined ? null : resolve(keyFile));
      if (json === true) return printJson(done);
      if (done.wasBegun)
        printNote('A rotation that was cut off is done now; run it again to change the key once more.');
      printResult(`The secret key is another one; ${done.resealed} of ${done.owners} keys were sealed anew.`);
      if (done.keyFile !== null) {
        printNote(
          `Set SECRET_KEY to what ${plain(done.keyFile)} holds (or SECRET_KEY_FILE to it), for every process, and start.`,
        );
      }
      printNote('Keep the key of before as long as backups that were made with it are to be restored.');
    });
}
