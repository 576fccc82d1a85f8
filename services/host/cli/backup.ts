/** `meerkat backup` and `restore`: a data folder copied while its server runs, and put into an empty place. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { refuseEmptyFolder } from './data-folder.js';
import type { Product } from './product.js';
import { plain, printJson, printNote, printResult } from './terminal.js';

interface JsonOption {
  readonly json?: true;
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

export function addBackup(program: Command, product: Product): void {
  program
    .command('backup')
    .description('copy the data folder into an empty folder, consistently; a running server goes on')
    .argument('<folder>', 'where to; made where it is not there')
    .option('--without-key', 'leave secret.key out: the backup can then be read only with SECRET_KEY')
    .option('--json', 'answer as one JSON document')
    .action(async (folder: string, { json, withoutKey }: JsonOption & { readonly withoutKey?: true }) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const done = await product.backUp(config, resolve(folder), withoutKey !== true);
      if (json === true) return printJson(done);
      printResult(`${plain(done.folder)}: ${done.files} files, ${megabytes(done.bytes)}, in ${seconds(done.tookMs)}`);
    });
  program
    .command('restore')
    .description('put a backup into DATA_DIR, which must be empty; nothing that was decided before is sent again')
    .argument('<folder>', 'the backup')
    .option('--json', 'answer as one JSON document')
    .action(async (folder: string, { json }: JsonOption) => {
      const done = await product.restore(readConfig(), resolve(folder));
      if (json === true) return printJson(done);
      printResult(`${plain(done.dataDir)}: as of ${done.createdAt}, in ${seconds(done.tookMs)}`);
      if (done.heldBack === 0) return;
      printNote(
        `${done.heldBack} deliveries were not over at the time of the backup and are held back (suppressed, restored):`,
      );
      printNote('whether they were sent since nobody knows; POST /api/deliveries/{id}/resend sends one.');
    });
}
