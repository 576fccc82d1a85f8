/** A migration into this installation that was begun and not finished: until it is, nobody may work on what has come so far. */
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import { ConfigError } from '#runtime/config';

interface Unfinished {
  /** Where the events come from, as it may be shown. */
  readonly from: string;
  readonly begunAt: string;
}

/** Not derived from events. One document. */
const migrationsView: ViewDefinition<Unfinished> = { name: 'migrations', fields: [], indexes: [] };
const id = 'unfinished';

async function write(readStore: ReadStore, document: Unfinished | null): Promise<void> {
  const before = (await readStore.load(migrationsView, [id])).get(id);
  await readStore.save(migrationsView, [{ id, revision: (before?.revision ?? 0) + 1, document }], null);
}

export const beginMigration = (readStore: ReadStore, unfinished: Unfinished): Promise<void> =>
  write(readStore, unfinished);

export const finishMigration = (readStore: ReadStore): Promise<void> => write(readStore, null);

/** Rejects with `ConfigError` where one is not finished. */
export async function refuseUnfinishedMigration(readStore: ReadStore): Promise<void> {
  const unfinished = await readStore.get(migrationsView, id);
  if (unfinished === null) return;
  const { from, begunAt } = unfinished;
  throw new ConfigError([
    `EVENT_STORE_URL: the migration from ${from} that began ${begunAt} is not finished; run \`meerkat migrate\` again with the same sides.`,
  ]);
}
