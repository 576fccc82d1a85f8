/** `meerkat accounts`: helps people in again, beside a running server or without one. */
import type { Command } from 'commander';
import { readConfig } from '#runtime/config';
import type { Product } from './product.js';
import { plain, printJson, printNote, printResult } from './terminal.js';

export function addAccounts(program: Command, product: Product): void {
  const accounts = program.command('accounts').description('accounts of people');
  accounts
    .command('reset-password')
    .description('print a link by which the account of an address gets a new password: once, within an hour')
    .argument('<email>', 'of the account')
    .option('--json', 'answer as one JSON document: a list of links')
    .action(async (email: string, { json }: { readonly json?: true }) => {
      const links = await product.printResetLinks(readConfig(), email);
      if (json === true) return printJson(links);
      for (const { organization, url } of links) {
        printNote(`A new password for the account in ${plain(organization)}, within an hour:`);
        printResult(url);
      }
    });
}
