/** `meerkat test-mail <address>`: whether the mail server of the settings takes mail, and what it says. */
import { InvalidArgumentError, type Command } from 'commander';
import { accountEmail } from '#contracts/account';
import { readConfig } from '#runtime/config';
import type { Product } from './product.js';
import { exitCodes, plain, printJson, printResult } from './terminal.js';

function parseAddress(text: string): string {
  if (accountEmail.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be an e-mail address.');
}

export function addTestMail(program: Command, product: Product, end: (exitCode: number) => void): void {
  program
    .command('test-mail')
    .description('send one mail by SMTP_URL from MAIL_FROM, and print what the mail server said')
    .argument('<address>', 'who gets it', parseAddress)
    .option('--json', 'answer as one JSON document')
    .action(async (address: string, { json }: { readonly json?: true }) => {
      const answer = await product.sendTestMail(readConfig(), address);
      const isTaken = answer.kind === 'taken' && answer.accepted.length > 0;
      if (json === true) printJson(answer);
      else if (isTaken) printResult(`The mail server took it: ${plain(answer.text)}`);
      else {
        const refusal = answer.refused[0]?.text ?? answer.text;
        const reason = answer.kind === 'taken' ? 'smtp_refused' : answer.reason;
        printResult(`The mail was not taken: ${plain(refusal)} (${reason})`);
      }
      if (!isTaken) end(exitCodes.refused);
    });
}
