/** `meerkat keys create`: an API key without a running server, for who may open the data folder anyway. */
import { InvalidArgumentError, type Command } from 'commander';
import { keyInput, scope, type Scope } from '#contracts/account';
import { validated } from '#http/validation';
import { readConfig } from '#runtime/config';
import { isInUse, refuseEmptyFolder } from './data-folder.js';
import type { Product } from './product.js';
import { printJson, printNote, printResult, Refused } from './terminal.js';

interface KeyOptions {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly json?: true;
}

function parseScopes(text: string): Scope[] {
  return text.split(',').map((word) => {
    const parsed = scope.safeParse(word.trim());
    if (!parsed.success) throw new InvalidArgumentError(`Scopes are ${scope.options.join(', ')}, separated by commas.`);
    return parsed.data;
  });
}

function refuseWhileServerRuns(error: unknown): never {
  if (isInUse(error)) {
    throw new Refused(
      'server_running',
      'A server runs on this DATA_DIR: ask it for the key (POST /api/keys with an admin key), or stop it first.',
    );
  }
  throw error;
}

export function addKeys(program: Command, product: Product): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('make an API key while no server runs on DATA_DIR')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scopes <list>', `some of ${scope.options.join(',')}`, parseScopes)
    .option('--json', 'answer as one JSON document')
    .action(async ({ name, scopes, json }: KeyOptions) => {
      const input = validated(keyInput, { name, scopes }, 'body');
      const config = readConfig();
      refuseEmptyFolder(config);
      const created = await product.createKey(config, input).catch(refuseWhileServerRuns);
      if (json === true) return printJson(created);
      printNote(`${created.id} may ${created.scopes.join(', ')}. The key is shown this once:`);
      printResult(created.key);
    });
}
