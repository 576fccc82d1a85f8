/** `meerkat audit`: whether the stored events are those that Meerkat wrote, and how to go on where they are not. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import { addAuditExport } from './audit-export.js';
import { collectFaults, counted, faultsShown, number, sayRest, type FaultsFound } from './audit-faults.js';
import { isInUse, refuseEmptyFolder } from './data-folder.js';
import type { Audited, Product, VerifiedBackup } from './product.js';
import { exitCodes, plain, printJson, printNote, printResult, Refused } from './terminal.js';

interface AuditOptions {
  readonly json?: true;
}

interface VerifyOptions extends AuditOptions {
  readonly heads?: string;
}

async function verify(product: Product, backup: string | undefined, options: VerifyOptions): Promise<boolean> {
  const isJson = options.json === true;
  const config = readConfig();
  const collected = collectFaults(isJson ? () => undefined : printResult);
  if (backup === undefined) {
    refuseEmptyFolder(config);
    const { warnings, ...counts } = await product.verifyEvents(config, collected.found);
    const isWhole = tell(counts, isJson, collected, { warnings });
    if (!isJson) for (const warning of warnings) printNote(plain(warning));
    return isWhole;
  }
  const heads = options.heads === undefined ? null : resolve(options.heads);
  const { audit, createdAt, ...counts } = await product.verifyBackup(config, resolve(backup), heads, collected.found);
  const isWhole = tell(counts, isJson, collected, { createdAt, audit });
  if (!isJson) for (const chain of audit) printResult(sayChain(chain));
  return isWhole && audit.every(({ intact }) => intact);
}

function sayChain({ organizationId, events, heads, brokenAt }: VerifiedBackup['audit'][number]): string {
  const counts = `${counted(events, 'change')}, ${counted(heads, 'signed head')}`;
  return `${organizationId}: ${counts}: ${brokenAt === undefined ? 'intact' : brokenAt.message}`;
}

/** Whether there is no fault. */
function tell(
  { events, signed }: Audited,
  isJson: boolean,
  { faults, count: faultCount }: FaultsFound,
  more: object,
): boolean {
  if (isJson) {
    printJson({ events, signed, unsigned: events - signed, faultCount, faults, ...more });
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
  const audit = program
    .command('audit')
    .description(
      'whether the stored events are those that were written; every change, for export; what something was at a time',
    );
  audit
    .command('verify')
    .description('hold every event against its MAC and name each fault; a running server goes on')
    .argument('[backup]', 'a backup, which needs no server: its files, its events and the chain of each organisation')
    .option('--heads <file>', 'of a backup: signed heads that were kept elsewhere, a line of JSON each')
    .option('--json', 'answer as one JSON document')
    .action(async (backup: string | undefined, options: VerifyOptions) => {
      if (!(await verify(product, backup, options))) end(exitCodes.refused);
    });
  audit
    .command('accept')
    .description('go on with what is there: put on record that the faults of now are known')
    .option('--json', 'answer as one JSON document')
    .action(({ json }: AuditOptions) => accept(product, json === true));
  addAuditExport(audit, product);
}
