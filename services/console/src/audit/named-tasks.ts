/** Of the tasks that entries are about, those that can have a name: one that is gone need not be asked for. Pure. */
import type { AuditEntry } from '../api/types.js';

type Told = Pick<AuditEntry, 'type' | 'resource' | 'purged'>;

/** What the newest of them says: a task that was archived may have been restored. */
const isThere: Readonly<Record<string, boolean>> = {
  'task.purged': false,
  'task.archived': false,
  'task.restored': true,
  'task.created': true,
};

/** `entries` newest first. */
export function namedTasks(entries: readonly Told[]): ReadonlySet<string> {
  const there = new Map<string, boolean>();
  for (const { type, resource, purged } of entries) {
    if (!resource.startsWith('ntf_') || there.has(resource)) continue;
    const said = purged === true ? false : isThere[type];
    if (said !== undefined) there.set(resource, said);
  }
  const tasks = entries.map(({ resource }) => resource).filter((id) => id.startsWith('ntf_'));
  return new Set(tasks.filter((id) => there.get(id) !== false));
}
