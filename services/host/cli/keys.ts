/**
 * `meerkat keys`: made without a running server, by anybody who may open the data folder anyway, or by the server that
 * runs on it; listed and revoked over the API.
 */
import { InvalidArgumentError, type Command } from 'commander';
import { z } from 'zod';
import { keyInput, scope, type CreatedKey, type KeyInput, type Scope } from '#contracts/account';
import { validated } from '#http/validation';
import { ConfigError, readClientSettings, readConfig, type ClientSettings } from '#runtime/config';
import { askJson } from './client.js';
import { isInUse, refuseEmptyFolder } from './data-folder.js';
import type { Product } from './product.js';
import { plain, printJson, printNote, printResult, Refused, table } from './terminal.js';

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

function clientSettingsWhileServerRuns(): ClientSettings {
  try {
    return readClientSettings();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Refused(
      'server_running',
      `A server runs on this DATA_DIR and makes the key where it knows who asks. ${error.faults.join('; ')}. Or stop it first.`,
    );
  }
}

const answeredKey = z.object({ data: z.looseObject({ id: z.string(), scopes: z.array(scope), key: z.string() }) });

async function askServer(input: KeyInput): Promise<Pick<CreatedKey, 'id' | 'scopes' | 'key'>> {
  const settings = clientSettingsWhileServerRuns();
  const answer = answeredKey.safeParse(await askJson(settings, '/api/keys', { method: 'POST', json: input }));
  if (!answer.success) throw new Refused('not_meerkat', `${settings.url} does not answer like a Meerkat.`);
  return answer.data.data;
}

const pageLimit = 100;
const listedKey = z.looseObject({
  id: z.string(),
  publicId: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  createdAt: z.string(),
  createdBy: z.string().nullable().default(null),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  allowedCidrs: z.array(z.string()),
});
const keyList = z.object({ data: z.array(listedKey), pagination: z.object({ pages: z.number() }) });

async function listAll(settings: ClientSettings): Promise<readonly z.infer<typeof listedKey>[]> {
  const keys: z.infer<typeof listedKey>[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const list = keyList.safeParse(await askJson(settings, `/api/keys?limit=${pageLimit}&page=${page}`));
    if (!list.success) throw new Refused('not_meerkat', `${settings.url} does not answer like a Meerkat.`);
    keys.push(...list.data.data);
    pages = list.data.pagination.pages;
  }
  return keys;
}

/** The server leaves a key that has ended in the list until it is revoked. */
function shownEnd(expiresAt: string | null): string {
  if (expiresAt === null) return '–';
  return Date.parse(expiresAt) <= Date.now() ? `${expiresAt} (expired)` : expiresAt;
}

function keyRow({ id, publicId, scopes, allowedCidrs, ...key }: z.infer<typeof listedKey>): readonly string[] {
  const networks = allowedCidrs.length === 0 ? '–' : allowedCidrs.join(',');
  const [end, lastUse] = [shownEnd(key.expiresAt), key.lastUsedAt ?? '–'];
  return [
    id,
    `mk_${publicId}_…`,
    scopes.join(','),
    key.createdAt,
    key.createdBy ?? '–',
    end,
    lastUse,
    networks,
    key.name,
  ].map(plain);
}

function addOnline(keys: Command): void {
  keys
    .command('list')
    .description(
      'list the API keys of the server at MEERKAT_URL with MEERKAT_API_KEY, an admin key; never the keys themselves',
    )
    .option('--json', 'answer as one JSON document: a list of keys')
    .action(async ({ json }: Pick<KeyOptions, 'json'>) => {
      const all = await listAll(readClientSettings());
      if (json === true) return printJson(all);
      printResult(
        table(['id', 'key', 'scopes', 'made', 'by', 'expires', 'last used', 'networks', 'name'], all.map(keyRow)),
      );
    });
  keys
    .command('revoke')
    .description('revoke an API key of that server at once')
    .argument('<id>', 'key_…, as `keys list` shows it')
    .option('--json', 'answer as one JSON document')
    .action(async (id: string, { json }: Pick<KeyOptions, 'json'>) => {
      const answer = await askJson(readClientSettings(), `/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
      if (json === true) return printJson(answer);
      printResult(`${plain(id)} is revoked.`);
    });
}

export function addKeys(program: Command, product: Product): void {
  const keys = program.command('keys').description('API keys');
  addOnline(keys);
  keys
    .command('create')
    .description('make an API key on DATA_DIR; while a server runs on it, by that server, with MEERKAT_API_KEY')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scopes <list>', `some of ${scope.options.join(',')}`, parseScopes)
    .option('--json', 'answer as one JSON document')
    .action(async ({ name, scopes, json }: KeyOptions) => {
      const input = validated(keyInput, { name, scopes }, 'body');
      const config = readConfig();
      refuseEmptyFolder(config);
      const created = await product.createKey(config, input).catch((error: unknown) => {
        if (isInUse(error)) return askServer(input);
        throw error;
      });
      if (json === true) return printJson(created);
      const again = config.keysShowOnce
        ? 'is shown this once'
        : 'can be seen again by an owner alone, with their password';
      printNote(`${created.id} may ${created.scopes.join(', ')}. The key ${again}:`);
      printResult(created.key);
    });
}
