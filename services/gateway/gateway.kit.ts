/** For specs: the gateway on a real socket over given stores. Other services are played here, by the contracts alone. */
import 'reflect-metadata';
import { DISK_SPACE, type DiskState } from '#runtime/disk-space';
import { createHmac } from 'node:crypto';
import type { DynamicModule } from '@nestjs/common';
import { BUS, BUS_ADMIN, type OpenedBus } from '#bus/bus';
import {
  keysView,
  organizationsView,
  sessionsView,
  type KeyDocument,
  type Plan,
  type Role,
  type Scope,
  type SessionDocument,
} from '#contracts/account';
import { shadowsView } from '#contracts/shadow';
import { recentRunsView } from '#contracts/recent-runs';
import { figuresView } from '#contracts/retention';
import { membersView } from '#contracts/member';
import { createApiKey, hashApiKey, hashSessionToken, parseApiKey } from '#contracts/api-key';
import { requests } from '#contracts/catalogue';
import { executionsView, type ExecutionDocument, skippedSlotsView } from '#contracts/run';
import { triggerRun, type DueRun } from '#contracts/schedule';
import { APPEND_HEALTH } from '#event-store/append-health';
import { EVENT_STORE, STORED_EVENTS, type EventStore } from '#event-store/event-store';
import { createAuditSigner, AUDIT_SIGNER, LOG_DOUBTS } from '#eventing/audit-heads';
import { KEY_PEPPER } from '#contracts/api-key';
import { createHttpApplication } from '#http/application';
import { OUTBOUND } from '#outbound/outbound';
import { LEASES } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { BROWSER_SUPPORT } from '#page-loader/page-loader';
import { BUILT_VIEWS } from '#read-store/built-views';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp } from '#runtime/clock';
import { CONFIG, readConfig } from '#runtime/config';
import { createIds, IDS } from '#runtime/ids';
import type { Json } from '#runtime/json';
import { LOGGER } from '#runtime/logger';
import { SANDBOX } from '#sandbox/sandbox';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE } from '#shared-state/shared-state';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import { withScreenshots } from '#snapshots/with-screenshots';
import { createEventVault } from '#vault/event-vault';
import { createLinkSigner, LINK_SIGNER } from '#vault/link-signer';
import { VAULT } from '#vault/vault';
import { GatewayModule } from './gateway.module.js';
import { playTasks, type PlayedCommands } from './played-tasks.kit.js';

export interface KitStores {
  readonly eventStore: EventStore;
  readonly bus: OpenedBus;
  readonly readStore: ReadStore;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is not. */
  readonly body: unknown;
}

export interface GatewayKit extends PlayedCommands {
  readonly url: string;
  /** Runs ahead of the real clock by this much. */
  readonly time: { aheadMs: number };
  readonly logged: { readonly fields: object; readonly message: string }[];
  /** Pages that executions were made on. */
  readonly snapshots: Snapshots;
  readonly disk: { state: DiskState };
  readonly appends: { isFailing: boolean };
  /** Names of views that are still being built. */
  readonly unbuilt: Set<string>;
  /** Names of views that have not seen all from before the start. */
  readonly late: Set<string>;
  /** Of the newest event of a run. */
  readonly runs: { position: number };
  /** What people did that is put on record for the audit. */
  readonly activities: Json[];
  addOrganization(plan: Plan): Promise<string>;
  /** Somebody signed in: the Cookie header of their browser, and the id of the session's document. */
  addSession(
    organizationId: string,
    role: Role,
    more?: Partial<SessionDocument>,
  ): Promise<{ readonly cookie: string; readonly id: string }>;
  addKey(organizationId: string, scopes: readonly Scope[], more?: Partial<KeyDocument>): Promise<string>;
  send(method: string, path: string, options?: SendOptions): Promise<Reply>;
  stop(): Promise<void>;
}

export interface SendOptions {
  readonly key?: string | null;
  /** An object goes as JSON, text and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const taskBody = {
  name: 'Kettle',
  url: 'https://shop.example.com/kettle',
  evaluationFunction: 'return true',
};
export const webhookBody = { type: 'webhook', config: { url: 'https://example.com/hook' } };

/** What is inside an answer, without knowing its type. */
export function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

/** The members of what should be an object; none of anything else. */
export function entriesIn(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** What should be an object, as one. */
export function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entriesIn(value));
}

/** Names of members, sorted. */
export function namesIn(value: unknown): readonly string[] {
  return entriesIn(value)
    .map(([name]) => name)
    .toSorted();
}

export function refused(status: number, code: string, reason: string) {
  return { status, code, reason };
}

/** An answer as `refused` writes it. */
export function errorOf({ status, body }: Reply): unknown {
  return { status, code: member(body, 'error', 'code'), reason: member(body, 'error', 'reason') };
}

export const idOf = (reply: Reply): string => String(member(reply.body, 'data', 'id'));

const pepper = createHmac('sha256', 'spec').update('pepper').digest();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A finished execution, as the execution service tells of it. */
export function playedExecution(id: string, organizationId: string, at: string): ExecutionDocument {
  return {
    id,
    organizationId,
    notificationId: id,
    revision: 0,
    trigger: 'manual',
    status: 'succeeded',
    outcome: true,
    values: {},
    logs: [],
    error: null,
    decision: { notify: false, reason: 'no_actions', transition: null },
    snapshotId: null,
    page: null,
    scheduledFor: at,
    queuedAt: at,
    startedAt: at,
    finishedAt: at,
    timings: null,
    seed: id,
  };
}

/** Plays scheduling and execution: a run that is asked for is recorded at once, true. */
async function playRuns(
  { bus, readStore }: KitStores,
  { runs, activities }: Pick<GatewayKit, 'runs' | 'activities'>,
  now: () => number,
) {
  await bus.respond(requests.activityRecord, async (activity) => {
    activities.push(activity);
    return { position: 0 };
  });
  await bus.respond(requests.scheduleTrigger, async (payload, { organizationId }) => {
    const { taskId, runId, force, dryRun } = triggerRun.parse(payload);
    const at = toTimestamp(now());
    const run: DueRun = { runId, taskId, trigger: 'manual', scheduledFor: at, queuedAt: at, force, dryRun };
    runs.position += 1;
    const { position } = runs;
    const document: ExecutionDocument = { ...playedExecution(runId, organizationId, at), notificationId: taskId };
    await readStore.save(executionsView, [{ id: runId, revision: position, document }], position);
    return asJson({ run, position });
  });
}

function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** `settings`: environment of the instance. */
export async function startGateway(
  stores: KitStores,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayKit> {
  const time = { aheadMs: 0 };
  const now = (): number => Date.now() + time.aheadMs;
  const logged: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string): void => void logged.push({ fields, message });
  const hooks: PlayedCommands['hooks'] = { beforeCommand: async () => {}, afterCommand: async () => {} };
  const commands: Json[] = [];
  await playTasks(stores, { hooks, commands }, now);
  const runs = { position: 0 };
  const activities: Json[] = [];
  await playRuns(stores, { runs, activities }, now);
  const ids = createIds(now);
  const disk: { state: DiskState } = { state: 'ok' };
  const appends = { isFailing: false };
  const unbuilt = new Set<string>();
  const late = new Set<string>();
  const seldom = [recentRunsView, shadowsView, skippedSlotsView, figuresView].filter(({ readByFew }) => readByFew);
  const named = (all: ReadonlySet<string>, asked: readonly string[]): readonly string[] =>
    [...all].filter((view) => asked.includes(view) || !seldom.some(({ name }) => name === view));
  const snapshots = withScreenshots(
    createSqliteSnapshots(':memory:', { keepCount: 10, keepDays: 30 }),
    createSqliteSnapshots(':memory:', { keepCount: 10, keepDays: 30 }),
  );
  const providers = [
    { provide: CONFIG, useValue: readConfig({ MAIL_FROM: 'm@example.com', ...settings }, '/nonexistent') },
    { provide: CLOCK, useValue: { now } },
    { provide: IDS, useValue: ids },
    { provide: LOGGER, useValue: { debug: log, info: log, warn: log, error: log } },
    { provide: EVENT_STORE, useValue: stores.eventStore },
    { provide: APPEND_HEALTH, useValue: appends },
    { provide: STORED_EVENTS, useValue: stores.eventStore },
    { provide: AUDIT_SIGNER, useValue: createAuditSigner(Buffer.alloc(32, 7)) },
    { provide: LOG_DOUBTS, useValue: [] },
    { provide: BUS, useValue: stores.bus },
    { provide: READ_STORE, useValue: stores.readStore },
    { provide: SHARED_STATE, useValue: createDocumentState(stores.readStore) },
    { provide: BUS_ADMIN, useValue: stores.bus },
    { provide: LEASES, useValue: createSoleLeases() },
    { provide: VAULT, useValue: createEventVault(stores.eventStore, Buffer.alloc(32, 7)) },
    { provide: LINK_SIGNER, useValue: createLinkSigner(Buffer.alloc(32, 7)) },
    { provide: KEY_PEPPER, useValue: pepper },
    { provide: SNAPSHOTS, useValue: snapshots },
    { provide: DISK_SPACE, useValue: disk },
    {
      provide: BUILT_VIEWS,
      useValue: {
        unbuilt: (asked: readonly string[] = []) => Promise.resolve(named(unbuilt, asked)),
        late: () => Promise.resolve([...late]),
      },
    },
    {
      provide: SANDBOX,
      useValue: {
        check: async (code: string) =>
          code.includes('syntax(')
            ? { ok: false, message: 'unexpected end', line: 2, column: 5 }
            : { ok: true, form: 'body' },
      },
    },
    { provide: BROWSER_SUPPORT, useValue: { why: 'there is none in this spec' } },
    {
      provide: OUTBOUND,
      useValue: { refusalOf: (url: string) => (url.includes('//169.254.') ? 'This address is not public.' : null) },
    },
  ];
  class Ports {}
  class Root {}
  const ports: DynamicModule = { module: Ports, global: true, providers, exports: providers.map((one) => one.provide) };
  const root: DynamicModule = { module: Root, imports: [ports, GatewayModule] };
  const application = await createHttpApplication(root);
  await application.listen(0, '127.0.0.1');
  const url = await application.getUrl();
  let defaultKey: string | null = null;
  const kit: GatewayKit = {
    disk,
    appends,
    unbuilt,
    late,
    url,
    time,
    logged,
    hooks,
    commands,
    runs,
    activities,
    snapshots,
    async addOrganization(plan) {
      const id = ids.next('org');
      const document = { id, name: 'Example', plan, rateLimit: null, createdAt: toTimestamp(now()) };
      await stores.readStore.save(organizationsView, [{ id, revision: 1, document }], null);
      return id;
    },
    async addKey(organizationId, scopes, more = {}) {
      const key = createApiKey((size) => crypto.getRandomValues(new Uint8Array(size)));
      const publicId = parseApiKey(key)?.publicId ?? '';
      const id = ids.next('key');
      const base = { id, publicId, organizationId, name: 'spec', scopes: [...scopes], hash: hashApiKey(key, pepper) };
      const until = { expiresAt: null, allowedCidrs: [], revokedAt: null, successorId: null };
      const open = { createdAt: toTimestamp(now()), ...until };
      const document = { ...base, ...open, ...more };
      await stores.readStore.save(keysView, [{ id: publicId, revision: 1, document }], null);
      defaultKey ??= key;
      return key;
    },
    async addSession(organizationId, role, more = {}) {
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
      const id = hashSessionToken(token, pepper);
      const userId = ids.next('usr');
      const times = { createdAt: toTimestamp(now()), expiresAt: toTimestamp(now() + 60_000), idleExpiresAt: null };
      const rest = { epoch: 0, provider: null, successorId: null };
      const document: SessionDocument = { id, userId, organizationId, role, ...times, ...rest, ...more };
      await stores.readStore.save(sessionsView, [{ id, revision: 1, document }], null);
      const isMember = { status: 'active', secondFactor: 'off', epoch: 0, subjectHash: null, expiresAt: null } as const;
      const sealed = { email: { $sealed: '' }, emailHash: userId, operator: false, createdAt: times.createdAt };
      const member = { id: userId, organizationId, role, ...sealed, ...isMember };
      await stores.readStore.save(membersView, [{ id: userId, revision: 1, document: member }], null);
      return { cookie: `meerkat_session=${token}`, id };
    },
    async send(method, path, { key = defaultKey, body, headers = {} } = {}) {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
        redirect: 'manual',
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: parsed(text) };
    },
    stop: () => application.close(),
  };
  return kit;
}
