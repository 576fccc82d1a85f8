/** The thread in which views are built from events that lie far back. */
import { parentPort, workerData } from 'node:worker_threads';
import { readHistory } from '#event-store/sqlite-history';
import { openStoredHistory } from '#event-store/sqlite-stored';
import { readKeyRing } from '#eventing/key-ring';
import { serveBackfills } from '#eventing/rebuild/backfill-worker';
import type { BackfillWorkerData } from '#read-store/sqlite-backfill';
import { createHistoryOpener } from '#vault/sealed-history';
import { keptViews } from './projections.js';

if (parentPort !== null) {
  const { eventsFile, secretKey } = workerData as BackfillWorkerData;
  const { stored, close } = openStoredHistory(eventsFile);
  const keyRing = secretKey === null ? null : await readKeyRing(stored, secretKey);
  close();
  serveBackfills(parentPort, keptViews, (end) => readHistory(eventsFile, end, createHistoryOpener(keyRing)));
}
