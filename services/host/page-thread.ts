/** The thread in which pages are loaded, evaluated and kept: their bytes never reach the one that answers requests. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '#concurrency/thread-calls';
import { systemClock } from '#runtime/clock';
import { createLogger } from '#runtime/logger';
import { runOpenedCheck } from '../execution/run-check.js';
import { createPageDeps } from '../execution/checks.js';
import { openPageParts } from './page-parts.js';
import { callErrors, movedOf, type PageMethods, type PageThreadData } from './page-calls.js';

const { config, snapshotKeys } = workerData as PageThreadData;
const logger = createLogger(config);

async function open() {
  const parts = await openPageParts(config, logger, snapshotKeys);
  return { ...parts, deps: createPageDeps({ ...parts, clock: systemClock, logger }, config) };
}

/** Opened by the first call; where that fails, by the next one. */
let opening: ReturnType<typeof open> | null = null;
const opened = (): ReturnType<typeof open> => {
  opening ??= open().catch((error: unknown) => {
    opening = null;
    throw error;
  });
  return opening;
};

const methods: PageMethods = {
  check: async (check, stopping) => runOpenedCheck((await opened()).deps, check, stopping),
  load: async (request, signal) => (await opened()).pageLoader.load({ ...request, signal }),
  loadIfChanged: async ({ request, known }, signal) =>
    (await opened()).pageLoader.loadIfChanged({ ...request, signal }, known),
  checkCode: async (code) => (await opened()).sandbox.check(code),
  evaluate: async (job) => (await opened()).sandbox.evaluate(job),
  evaluateAll: async (batch) => (await opened()).sandbox.evaluateAll(batch),
  runScript: async (job) => (await opened()).sandbox.runScript(job),
  saveSnapshot: async ({ snapshot, body }) => (await opened()).snapshots.save(snapshot, body),
  listSnapshots: async ({ taskId, limit }) => (await opened()).snapshots.list(taskId, limit),
  readSnapshot: async ({ taskId, id }) => (await opened()).snapshots.read(taskId, id),
  forgetSnapshots: async ({ taskId, older }) => (await opened()).snapshots.forget(taskId, older),
  sweepSnapshots: async (nowMs) => (await opened()).snapshots.sweep(nowMs),
  async close() {
    await (await opening)?.close();
  },
};

serveCalls(methods, callErrors, movedOf);
