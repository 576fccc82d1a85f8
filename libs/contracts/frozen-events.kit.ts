/** Frozen events (`frozen/<type>.v<version>[.<shape>].json`): data as some release stored them, and what they are read as. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '#runtime/json';

const folder = join(import.meta.dirname, 'frozen');

export interface FrozenEvent {
  readonly name: string;
  readonly type: string;
  readonly version: number;
  readonly stored: JsonObject;
  readonly read: JsonObject;
}

export function frozenEvents(): readonly FrozenEvent[] {
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const [, type = '', version] = /^(.+?)\.v([0-9]+)(?:\.[a-z-]+)?\.json$/.exec(file) ?? [];
      if (version === undefined) throw new Error(`frozen/${file}: not called <type>.v<version>.json`);
      const { stored, read = stored } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        readonly stored: JsonObject;
        readonly read?: JsonObject;
      };
      return { name: file, type, version: Number(version), stored, read };
    });
}
