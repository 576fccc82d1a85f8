/** The thread in which views are built from events that lie far back. */
import { parentPort, workerData } from 'node:worker_threads';
import { readHistory } from '#event-store/sqlite-history';
import { serveBackfills } from '#eventing/rebuild/backfill-worker';
import type { BackfillWorkerData } from '#read-store/sqlite-backfill';
import { createHistoryOpener } from '#vault/sealed-history';
import { keptViews } from './projections.js';

if (parentPort !== null) {
  const { eventsFile, secretKey } = workerData as BackfillWorkerData;
  serveBackfills(parentPort, keptViews, (end) => readHistory(eventsFile, end, createHistoryOpener(secretKey)));
}
