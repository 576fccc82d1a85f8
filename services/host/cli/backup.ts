/** `meerkat backup` and `restore`: a data folder copied while its server runs, and put into an empty place; servers put back. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { collectFaults, counted, sayRest, type FaultsFound } from './audit-faults.js';
import { refuseEmptyFolder } from './data-folder.js';
import type { HeldBack, Product } from './product.js';
import { exitCodes, plain, printJson, printNote, printResult, Refused } from './terminal.js';

interface JsonOption {
  readonly json?: true;
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

function sayHeldBack({ heldBack }: HeldBack): void {
  const were = heldBack === 1 ? '1 delivery was not over' : `${heldBack} deliveries were not over`;
  printNote(`${were} at the time of the backup and held back (suppressed, restored): nobody knows`);
  printNote('whether it was sent since; POST /api/deliveries/{id}/resend sends one.');
}

/** It is made all the same: what is there may be all that there is. */
function sayFaults({ faults, count }: FaultsFound): void {
  for (const { text } of faults) printNote(plain(text));
  sayRest(count);
  printNote(`The backup is made and whole, and ${counted(count, 'fault')} of the stored events went into it: keep the`);
  printNote('backups of before, and see `meerkat audit verify`.');
}

export function addBackup(program: Command, product: Product, end: (exitCode: number) => void): void {
  program
    .command('backup')
    .description('copy the data folder into an empty folder, consistently; a running server goes on')
    .argument('<folder>', 'where to; made where it is not there')
    .option('--without-key', 'leave secret.key out: the backup can then be read only with SECRET_KEY')
    .option('--json', 'answer as one JSON document')
    .action(async (folder: string, { json, withoutKey }: JsonOption & { readonly withoutKey?: true }) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const collected = collectFaults(() => undefined);
      const done = await product.backUp(config, resolve(folder), withoutKey !== true, collected.found);
      const { faults, count } = collected;
      if (count > 0) end(exitCodes.refused);
      if (json === true) return printJson({ ...done, faultCount: count, faults });
      printResult(`${plain(done.folder)}: ${done.files} files, ${megabytes(done.bytes)}, in ${seconds(done.tookMs)}`);
      if (count > 0) sayFaults(collected);
    });
  program
    .command('restore')
    .description('put a backup into DATA_DIR, which must be empty; nothing that was decided before is sent again')
    .argument('[folder]', 'the backup')
    .option(
      '--servers',
      'of servers that their own tools have put back: hold back what was to be sent, before the first start',
    )
    .option('--json', 'answer as one JSON document')
    .action(async (folder: string | undefined, { json, servers }: JsonOption & { readonly servers?: true }) => {
      if ((folder === undefined) !== (servers === true)) {
        throw new Refused('usage', 'Name the folder of a backup, or say --servers.', exitCodes.usage);
      }
      if (folder === undefined) {
        const held = await product.holdBackRestored(readConfig());
        return json === true ? printJson(held) : sayHeldBack(held);
      }
      const done = await product.restore(readConfig(), resolve(folder));
      if (json === true) return printJson(done);
      printResult(`${plain(done.dataDir)}: as of ${done.createdAt}, in ${seconds(done.tookMs)}`);
      if (done.heldBack > 0) sayHeldBack(done);
    });
}
