/** `meerkat archive`: what became of folded days, and whether it is still as it was. `meerkat disk`: what takes the room. */
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { isId } from '#runtime/ids';
import { refuseEmptyFolder } from './data-folder.js';
import type { ArchiveFault, DiskUsage, Product } from './product.js';
import { exitCodes, plain, printJson, printResult, Refused } from './terminal.js';

interface Options {
  readonly json?: true;
}

const sayFault = ({ what, task, day, file }: ArchiveFault): string =>
  ({
    gone: `${file} is gone: the events of ${task} of ${day}`,
    damaged: `${file} cannot be read: the events of ${task} of ${day}`,
    differs: `${file} is not what was archived: the events of ${task} of ${day}`,
  })[what];

function refuseTask(task: string): void {
  if (!isId(task, 'ntf')) throw new Refused('invalid_task', `${plain(task)} is no id of a notification (ntf_…).`);
}

async function read(product: Product, task: string, day: string): Promise<void> {
  refuseTask(task);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Refused('invalid_day', 'The day must be written as 2026-11-24.');
  const config = readConfig();
  refuseEmptyFolder(config);
  await product.readArchivedDay(config, task, day, printResult);
}

async function verify(product: Product, task: string | undefined, isJson: boolean): Promise<boolean> {
  if (task !== undefined) refuseTask(task);
  const config = readConfig();
  refuseEmptyFolder(config);
  const faults: ArchiveFault[] = [];
  const { days, unarchived, purged } = await product.verifyArchive(config, task ?? null, (fault) => {
    faults.push(fault);
    if (!isJson) printResult(sayFault(fault));
  });
  if (isJson) printJson({ days, unarchived, purged, faults });
  else {
    const without = unarchived === 0 ? '' : `; ${unarchived} were folded without an archive`;
    const gone = purged === 0 ? '' : `; of ${purged} the task was purged`;
    printResult(
      `${days} archived days: ${faults.length === 0 ? 'intact' : `${faults.length} are not`}${without}${gone}`,
    );
  }
  return faults.length === 0;
}

/** One unit for all, so that they compare at a glance; what is smaller than a tenth of it in the next. */
function megabytes(bytes: number): string {
  const [amount, unit] = bytes < 104_858 ? [bytes / 1_024, 'KB'] : [bytes / 1_048_576, 'MB'];
  return `${amount.toFixed(1).padStart(10)} ${unit}`;
}

function sayUsage({ databases, events, tasks, folding }: DiskUsage): void {
  for (const { name, bytes } of databases) printResult(`${megabytes(bytes)}  ${plain(name)}`);
  printResult('');
  for (const { type, count, bytes } of events) printResult(`${megabytes(bytes)}  ${plain(type)} (${count})`);
  printResult('');
  for (const { id, name, bytes } of tasks) printResult(`${megabytes(bytes)}  ${id} ${plain(name ?? '')}`.trimEnd());
  printResult('');
  printResult(
    folding.nextAt === null
      ? 'nothing is folded next'
      : `${megabytes(folding.bytes)}  can be folded at ${folding.nextAt}`,
  );
}

export function addArchive(program: Command, product: Product, end: (exitCode: number) => void): void {
  const archive = program.command('archive').description('files of folded days in ARCHIVE_DIR');
  archive
    .command('read')
    .description('print the events of a task of a day, a line of JSON each')
    .argument('<task>', 'id of the notification')
    .argument('<day>', 'such as 2026-11-24')
    .action((task: string, day: string) => read(product, task, day));
  archive
    .command('verify')
    .description('hold the files against the record of the days; a running server goes on')
    .argument('[task]', 'id of the notification')
    .option('--json', 'answer as one JSON document')
    .action(async (task: string | undefined, { json }: Options) => {
      if (!(await verify(product, task, json === true))) end(exitCodes.refused);
    });
}

export function addDisk(program: Command, product: Product): void {
  program
    .command('disk')
    .description('what takes the room, and what folding gives back next; a running server goes on')
    .option('--json', 'answer as one JSON document')
    .action(async ({ json }: Options) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const usage = await product.diskUsage(config);
      if (json === true) printJson(usage);
      else sayUsage(usage);
    });
}
