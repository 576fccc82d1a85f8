/** The note of a migration into this installation: until it is finished, no process may work on a part of the events. */
import { ConfigError } from '#runtime/config';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

interface Unfinished {
  /** Where the events come from, as it may be shown. */
  readonly from: string;
  readonly begunAt: string;
}

/** Holds one value. */
const migrations: StateCollection<Unfinished> = { name: 'migrations', indexedBy: null };
const key = 'unfinished';

async function write(sharedState: SharedState, value: Unfinished | null): Promise<void> {
  const before = (await sharedState.load(migrations, [key])).get(key);
  await sharedState.save(migrations, [{ key, version: (before?.version ?? 0) + 1, value }]);
}

export const beginMigration = (sharedState: SharedState, unfinished: Unfinished): Promise<void> =>
  write(sharedState, unfinished);

export const finishMigration = (sharedState: SharedState): Promise<void> => write(sharedState, null);

/** Rejects with `ConfigError` where one is not finished. */
export async function refuseUnfinishedMigration(sharedState: SharedState): Promise<void> {
  const unfinished = (await sharedState.load(migrations, [key])).get(key)?.value ?? null;
  if (unfinished === null) return;
  const { from, begunAt } = unfinished;
  throw new ConfigError([
    `EVENT_STORE_URL: the migration from ${from} that began ${begunAt} is not finished; run \`meerkat migrate\` again with the same sides.`,
  ]);
}
