/** Where an instance is reached, for the links that it makes. */
import type { Config } from './config.js';

/** PUBLIC_URL, or what it listens on: every address of the machine is shown as one that can be opened. Without a slash at its end. */
export function ownAddress({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>, port: number): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
