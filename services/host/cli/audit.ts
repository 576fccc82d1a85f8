/** `meerkat audit`: whether the stored events are those that Meerkat wrote, and how to go on where they are not. */
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { addAuditExport } from './audit-export.js';
import { isInUse, refuseEmptyFolder } from './data-folder.js';
import type { AuditFault, Product } from './product.js';
import { exitCodes, plain, printJson, printNote, printResult, Refused } from './terminal.js';

interface AuditOptions {
  readonly json?: true;
}

/** The rest is counted: a store whose every event was changed is told in few lines. */
const faultsShown = 1_000;

const number = (value: number): string => value.toLocaleString('en-US');
const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`;

function sayRest(faultCount: number): void {
  if (faultCount > faultsShown) printNote(`and ${number(faultCount - faultsShown)} more`);
}

async function verify(product: Product, isJson: boolean): Promise<boolean> {
  const config = readConfig();
  refuseEmptyFolder(config);
  const faults: AuditFault[] = [];
  let faultCount = 0;
  const { events, signed } = await product.verifyEvents(config, (fault) => {
    faultCount += 1;
    if (faults.length < faultsShown) faults.push(fault);
    if (!isJson && faultCount <= faultsShown) printResult(plain(fault.text));
  });
  if (isJson) {
    printJson({ events, signed, unsigned: events - signed, faultCount, faults });
    return faultCount === 0;
  }
  sayRest(faultCount);
  const older = events === signed ? '' : `, ${number(events - signed)} of them without a MAC`;
  printResult(`${counted(events, 'event')}${older}: ${faultCount === 0 ? 'intact' : counted(faultCount, 'fault')}`);
  return faultCount === 0;
}

function refuseWhileServerRuns(error: unknown): never {
  if (!isInUse(error)) throw error;
  throw new Refused('server_running', 'A server, or another command, is at work on this DATA_DIR; stop it first.');
}

async function accept(product: Product, isJson: boolean): Promise<void> {
  const config = readConfig();
  refuseEmptyFolder(config);
  const faults = await product.acceptEvents(config).catch(refuseWhileServerRuns);
  if (isJson) return printJson({ accepted: faults });
  for (const { text } of faults.slice(0, faultsShown)) printResult(plain(text));
  sayRest(faults.length);
  printNote(
    faults.length === 0 ? 'There is nothing to accept.' : `${counted(faults.length, 'fault')} accepted, on record.`,
  );
}

export function addAudit(program: Command, product: Product, end: (exitCode: number) => void): void {
  const audit = program.command('audit').description('whether the stored events are those that were written');
  audit
    .command('verify')
    .description('hold every event against its MAC and name each fault; a running server goes on')
    .option('--json', 'answer as one JSON document')
    .action(async ({ json }: AuditOptions) => {
      if (!(await verify(product, json === true))) end(exitCodes.refused);
    });
  audit
    .command('accept')
    .description('go on with what is there: put on record that the faults of now are known')
    .option('--json', 'answer as one JSON document')
    .action(({ json }: AuditOptions) => accept(product, json === true));
  addAuditExport(audit, product);
}
