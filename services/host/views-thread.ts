/** The thread in which views are built from events that lie far back. */
import { parentPort, workerData } from 'node:worker_threads';
import { readHistory } from '#event-store/sqlite-history';
import { serveBackfills } from '#eventing/rebuild/backfill-worker';
import { keptViews } from './projections.js';

if (parentPort !== null) serveBackfills(parentPort, keptViews, (end) => readHistory(String(workerData), end));
