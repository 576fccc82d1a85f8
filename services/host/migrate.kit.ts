/** For specs: what a data folder holds, and events put into it by hand. */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { NewEvent, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import { keptViews } from './projections.js';

/** Every event of a folder; looked at in a copy, so that nothing is changed by it. */
export async function eventsIn(dataDir: string): Promise<RecordedEvent[]> {
  const copy = await mkdtemp(join(tmpdir(), 'meerkat-migrate-spec-copy-'));
  await cp(dataDir, copy, { recursive: true });
  const store = createSqliteEventStore(join(copy, 'events.db'));
  const events = await everyEvent(store);
  await store.close();
  await rm(copy, { recursive: true });
  return events;
}

/** Documents and places in the events. */
export function viewsIn(dataDir: string): unknown {
  const database = new DatabaseSync(join(dataDir, 'views.db'));
  const views = Object.fromEntries(
    keptViews.map(({ name }) => [
      name,
      database.prepare(`SELECT id, revision, document FROM "view_${name}" ORDER BY id`).all(),
    ]),
  );
  const places = Object.fromEntries(
    database
      .prepare('SELECT view, position FROM checkpoints')
      .all()
      .map(({ view, position }) => [String(view), position]),
  );
  database.close();
  return { views, places };
}

/** An event that no aggregate made. */
export const stray = (type: string): NewEvent => ({
  id: crypto.randomUUID(),
  type,
  version: 1,
  data: {},
  metadata: { organizationId: '', actor: 'system:x', requestId: '', causationId: null, at: '2026-11-21T10:00:00.000Z' },
});

export async function append(dataDir: string, stream: string, event: NewEvent): Promise<void> {
  const secretKey = Buffer.from(await readFile(join(dataDir, 'secret.key'), 'utf8'), 'base64');
  const store = createSqliteEventStore(join(dataDir, 'events.db'), { secretKey });
  await store.append(stream, [event], (await store.readLast(stream))?.revision ?? 'none');
  await store.close();
}
