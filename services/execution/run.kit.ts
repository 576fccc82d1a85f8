/** What the specs of runs share: a task, its due runs, and a network that answers as it is scripted. */
import { createFairSlots } from '#concurrency/fair-slots';
import { runStream } from '#contracts/run';
import type { DueRun } from '#contracts/schedule';
import { tasksView, type TaskDocument } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import type { EventMetadata } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { Outbound, OutboundAnswer, OutboundFailure, OutboundRequest } from '#outbound/outbound';
import { createHttpPageLoader } from '#page-loader/http';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { defaultSandboxLimits, type Sandbox } from '#sandbox/sandbox';
import { createDocumentState } from '#shared-state/document-state';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import { withScreenshots } from '#snapshots/with-screenshots';
import { createEventVault } from '#vault/event-vault';
import { KnownResults } from './known-results.js';
import { LongEvaluations } from './long-evaluations.js';
import { recordedRunOf, type RecordedRun } from './past/recorded-runs.js';
import { executeRun, type RunDeps } from './run.js';

export const taskId = 'ntf_00000000000000000000000001';
export const start = Date.parse('2026-11-21T10:00:00.000Z');
export const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'system:execution',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

type Scripted = OutboundAnswer | OutboundFailure;

/** A network whose every request gets this answer. */
export function scriptedOutbound(answer: (request: OutboundRequest) => Scripted | Promise<Scripted>): Outbound {
  return {
    async request(request) {
      const answered = await answer(request);
      if (answered.ok && answered.status !== 304) await request.beforeBody?.();
      return answered;
    },
    connect: async () => ({ ok: false, reason: 'connect_failed', message: 'no network', sent: false, durationMs: 0 }),
    datagram: async () => ({ ok: true }),
    refusalOf: () => null,
    close: async () => undefined,
  };
}

export function page(html: string): OutboundAnswer {
  return {
    ok: true,
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: Buffer.from(html),
    bodyCut: false,
    finalUrl: 'https://example.com/',
    redirects: 0,
    durationMs: 3,
  };
}

export const down: OutboundFailure = {
  ok: false,
  reason: 'connect_failed',
  message: 'It is down.',
  sent: false,
  durationMs: 1,
};

export function document(more: Partial<TaskDocument['spec']> = {}): TaskDocument {
  const spec = aTask({
    evaluationFunction: `page.report('value', 7); return document.querySelector('#p').textContent === 'yes'`,
    codeForm: 'body',
    actions: [
      {
        id: 'act_00000000000000000000000001',
        type: 'webhook',
        config: {},
        enabled: true,
        expireAfterSeconds: 60,
        on: ['triggered', 'error'],
      },
    ],
    policy: { notifyOn: 'became_true', errorThreshold: 1 },
    fetch: { retry: { attempts: 1 } },
    tags: ['a'],
    ...more,
  });
  return {
    id: taskId,
    organizationId: metadata.organizationId,
    revision: 0,
    codeRevision: 0,
    attention: 0,
    spec,
    status: 'active',
    createdAt: metadata.at,
    updatedAt: metadata.at,
    createdBy: 'key:key_1',
    name: spec.name,
    url: spec.url,
    tags: spec.tags,
    externalKey: null,
    condition: 'unknown',
    health: 'ok',
    nextRunAt: null,
    lastExecution: null,
  };
}

export function due(slotSeconds: number): DueRun {
  const at = new Date(start + slotSeconds * 1_000).toISOString();
  return {
    runId: `exe_${String(slotSeconds).padStart(26, '0')}`,
    taskId,
    trigger: 'schedule',
    scheduledFor: at,
    queuedAt: at,
    force: false,
    dryRun: false,
  };
}

/** In memory. Limits: `slots` pages at once, as many for one organisation. */
export function runDeps(sandbox: Sandbox, outbound: Outbound, slots = 8): RunDeps {
  const eventStore = createSqliteEventStore(':memory:');
  const readStore = createSqliteReadStore(':memory:');
  return {
    eventStore,
    readStore,
    sharedState: createDocumentState(readStore),
    sandbox,
    pageLoader: createHttpPageLoader(outbound),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
    clock: { now: () => start },
    logger: silentLogger,
    limits: defaultSandboxLimits,
    snapshots: withScreenshots(
      createSqliteSnapshots(':memory:', { keepCount: 100, keepDays: 30 }),
      createSqliteSnapshots(':memory:', { keepCount: 100, keepDays: 30 }),
    ),
    knownResults: new KnownResults(),
    slots: createFairSlots({ slots, shares: { organization: slots, longOfOrganization: slots } }),
    longEvaluations: new LongEvaluations(slots),
    leases: { ...createSoleLeases(), memberId: 'w1', isAlone: false },
  };
}

export async function saveTasks({ readStore }: RunDeps, documents: readonly TaskDocument[]): Promise<void> {
  const writes = documents.map((saved) => ({ id: saved.id, revision: 1, document: saved }));
  await readStore.save(tasksView, writes, 1);
}

export async function closeRunDeps({ pageLoader, readStore, snapshots, eventStore }: RunDeps): Promise<void> {
  await pageLoader.close();
  await readStore.close();
  await snapshots.close();
  await eventStore.close();
}

/** A task, its page and its clock, as a spec moves them. */
export interface PlayedRuns {
  readonly deps: RunDeps;
  readonly clock: { ms: number };
  /** In place of the settings before. */
  saveTask(document: TaskDocument): Promise<void>;
  /** A run on each of these pages, a minute apart; null: the site is down. Returns all runs so far, oldest first. */
  runOn(...pages: readonly (string | null)[]): Promise<readonly RecordedRun[]>;
  close(): Promise<void>;
}

const neverStopping = new AbortController().signal;

export function playRuns(sandbox: Sandbox): PlayedRuns {
  const clock = { ms: start };
  let html: string | null = '';
  let saves = 0;
  const outbound = scriptedOutbound(() => (html === null ? down : page(html)));
  const deps: RunDeps = { ...runDeps(sandbox, outbound), clock: { now: () => clock.ms } };
  return {
    deps,
    clock,
    async saveTask(saved) {
      saves += 1;
      await deps.readStore.save(tasksView, [{ id: saved.id, revision: saves, document: saved }], saves);
    },
    async runOn(...pages) {
      for (const each of pages) {
        html = each;
        clock.ms += 60_000;
        await executeRun(deps, due((clock.ms - start) / 1_000), metadata, neverStopping);
      }
      const events = await Array.fromAsync(deps.eventStore.read(runStream(taskId)));
      return events.map(recordedRunOf).filter((run) => run !== null);
    },
    close: () => closeRunDeps(deps),
  };
}
