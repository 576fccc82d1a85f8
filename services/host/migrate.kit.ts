/** For specs: what a data folder holds, and events put into it by hand. */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { NewEvent, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import { keptViews } from './projections.js';

/** What `migrate --json` prints. */
export const answer = z.strictObject({
  from: z.string(),
  to: z.string(),
  viewsAt: z.string(),
  events: z.int(),
  streams: z.int(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  copied: z.int(),
  alreadyThere: z.int(),
  copyMs: z.int(),
  copiedPerSecond: z.int(),
  verifyMs: z.int(),
  verifiedPerSecond: z.int(),
  views: z.array(z.strictObject({ view: z.string(), error: z.string().nullable() })),
});

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

/** As a process leaves it that was killed while it applied a configuration file. */
export async function leaveFileUnfinished(dataDir: string): Promise<void> {
  const views = createSqliteReadStore(join(dataDir, 'views.db'));
  const begun = { id: 'j1', organizationId: 'org_1', memberId: 'm1', actor: 'key:1', requestId: 'r1', steps: 1 };
  await createDocumentState(views).save({ name: 'apply_journals', indexedBy: null }, [
    { key: 'org_1', version: 1, value: { ...begun, isDecided: true } },
  ]);
  await views.close();
}
