/**
 * Where the instance of a data folder is reached, left there by its server for the commands that print links: PORT and PUBLIC_URL
 * may have been given to the server alone.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#runtime/config';
import { ownAddress } from '#runtime/own-address';
import { replaceFile } from './data-folder.js';

const addressFile = (dataDir: string): string => join(dataDir, 'address');
const longestAddress = 2_000;

export function leaveAddress({ dataDir }: Pick<Config, 'dataDir'>, url: string): void {
  try {
    replaceFile(addressFile(dataDir), `${url}\n`);
  } catch {
    // Links of commands then begin with what their own settings say.
  }
}

function leftAddress(dataDir: string): string | null {
  const file = addressFile(dataDir);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  // Somebody may have put a pipe or a device there, which would be read for ever.
  if (stat?.isFile() !== true || stat.size > longestAddress) return null;
  const url = readFileSync(file, 'utf8').trim();
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '') ? url : null;
}

/** What links of a command begin with: its own PUBLIC_URL, else where the server was reached last. */
export function linkBaseOf(config: Config): string {
  if (config.publicUrl !== null) return ownAddress(config, config.port);
  return leftAddress(config.dataDir) ?? ownAddress(config, config.port);
}
