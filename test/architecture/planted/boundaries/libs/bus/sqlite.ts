import { DatabaseSync } from 'node:sqlite';
import type { Bus } from '#bus/bus';

export function sqliteBus(database: DatabaseSync): Bus {
  return { publish: (text) => database.exec(text) };
}
