/** For specs: the gateway on a real socket over given stores. Other services are played here, by the contracts alone. */
import 'reflect-metadata';
import { DISK_SPACE, type DiskState } from '#runtime/disk-space';
import { createHmac } from 'node:crypto';
import type { DynamicModule } from '@nestjs/common';
import { BUS, BUS_ADMIN, type OpenedBus } from '#bus/bus';
import { keysView, organizationsView, type KeyDocument, type Plan, type Scope } from '#contracts/account';
import { createApiKey, hashApiKey, parseApiKey } from '#contracts/api-key';
import { requests } from '#contracts/catalogue';
import { executionsView, type ExecutionDocument } from '#contracts/run';
import { shadowsView } from '#contracts/shadow';
import { triggerRun, type DueRun } from '#contracts/schedule';
import {
  historyQuery,
  pastTaskQuery,
  taskCommand,
  tasksView,
  type Shadow,
  type TaskCommand,
  type TaskDocument,
  type TaskSpec,
  type TaskState,
} from '#contracts/task';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { KEY_PEPPER } from '#contracts/api-key';
import { createHttpApplication } from '#http/application';
import { OUTBOUND } from '#outbound/outbound';
import { LEASES } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp } from '#runtime/clock';
import { CONFIG, readConfig } from '#runtime/config';
import { AppError, notFound, reject } from '#runtime/errors';
import { createIds, IDS } from '#runtime/ids';
import type { Json } from '#runtime/json';
import { LOGGER } from '#runtime/logger';
import { SANDBOX } from '#sandbox/sandbox';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE } from '#shared-state/shared-state';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import { createEventVault } from '#vault/event-vault';
import { VAULT } from '#vault/vault';
import { GatewayModule } from './gateway.module.js';

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

export interface GatewayKit {
  readonly url: string;
  /** Runs ahead of the real clock by this much. */
  readonly time: { aheadMs: number };
  readonly logged: { readonly fields: object; readonly message: string }[];
  /** Called before a command is carried out: throws or waits as a spec wants. */
  readonly hooks: { beforeCommand: () => Promise<void>; afterCommand: () => Promise<void> };
  /** Pages that executions were made on. */
  readonly snapshots: Snapshots;
  readonly disk: { state: DiskState };
  /** Commands that were carried out. */
  readonly commands: Json[];
  /** Of the newest event of a run. */
  readonly runs: { position: number };
  addOrganization(plan: Plan): Promise<string>;
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

/** The settings that a command makes of the old ones. */
function specAfter(command: TaskCommand, old: TaskSpec | undefined, shadow: Shadow | undefined): TaskSpec {
  if ('spec' in command) return command.spec;
  if (old === undefined) throw notFound('notification');
  if (command.type === 'disableAction') throw new Error('nobody here asks for it');
  if (command.type === 'promoteShadow' && shadow !== undefined) {
    const { evaluationFunction, policy } = shadow;
    const code = evaluationFunction === null ? {} : { evaluationFunction };
    return { ...old, ...code, ...(policy === null ? {} : { policy }) };
  }
  if (command.type === 'tagTask') return { ...old, tags: [...new Set([...old.tags, ...command.tags])] };
  if (command.type === 'untagTask') return { ...old, tags: old.tags.filter((one) => !command.tags.includes(one)) };
  if (!('action' in command || 'actionId' in command)) return old;
  if (command.type === 'addAction') return { ...old, actions: [...old.actions, command.action] };
  const { actionId } = command.type === 'removeAction' ? command : { actionId: command.action.id };
  const actions = old.actions.flatMap((action) => {
    if (action.id !== actionId) return [action];
    return command.type === 'removeAction' ? [] : [command.action];
  });
  return { ...old, actions };
}

function statusAfter(command: TaskCommand, old: TaskState['status'] = 'active'): TaskState['status'] {
  if ('status' in command) return command.status;
  if (command.type === 'archiveTask') return 'archived';
  if (command.type === 'pauseTask') return 'paused';
  return command.type === 'resumeTask' || old === 'archived' ? 'active' : old;
}

function shadowAfter(command: TaskCommand, old: Shadow | undefined, actor: string): Shadow | undefined {
  if (command.type === 'startShadow') {
    const { settings, startedAt } = command;
    const isSame = old?.evaluationFunction === settings.evaluationFunction;
    return isSame && old.policy === settings.policy ? old : { ...settings, startedAt, startedBy: actor };
  }
  if (command.type !== 'endShadow' && command.type !== 'promoteShadow') return old;
  if (old === undefined) throw notFound('shadow');
  return undefined;
}

/** Plays the tasks service: the same replies and the same view, without events. */
async function playTasks(
  { bus, readStore }: KitStores,
  kit: Pick<GatewayKit, 'hooks' | 'commands'>,
  now: () => number,
) {
  const tasks = new Map<string, TaskState>();
  const shadows = new Map<string, Shadow | undefined>();
  const past: TaskDocument[] = [];
  let position = 0;
  await bus.respond(requests.taskChange, async (payload, context) => {
    await kit.hooks.beforeCommand();
    const command = taskCommand.parse(payload);
    const at = toTimestamp(now());
    const old = tasks.get(command.taskId);
    if (command.type === 'createTask' && old !== undefined) return asJson({ state: old, position: null });
    if (command.type !== 'createTask' && (old === undefined || old.organizationId !== context.organizationId)) {
      throw notFound('notification');
    }
    const isGone = old?.status === 'archived' && command.type !== 'restoreTask';
    if (isGone) throw notFound('notification');
    if ('expectedRevision' in command && command.expectedRevision !== null) {
      if (command.expectedRevision !== old?.revision) throw reject('stale_revision', 'It was changed meanwhile.');
    }
    kit.commands.push(asJson(command));
    position += 1;
    const { id, createdAt, createdBy } = old ?? { id: command.taskId, createdAt: at, createdBy: context.actor };
    const before = shadows.get(id);
    const shadow = shadowAfter(command, before, context.actor);
    const spec = specAfter(command, old?.spec, before);
    const status = statusAfter(command, old?.status);
    const changed = JSON.stringify(spec) !== JSON.stringify(old?.spec) || status !== old?.status;
    const revision = old === undefined ? 0 : old.revision + (changed ? 1 : 0);
    const { organizationId } = context;
    const state: TaskState = { id, organizationId, revision, spec, status, createdAt, updatedAt: at, createdBy };
    tasks.set(id, state);
    shadows.set(id, shadow);
    const document: TaskDocument | null =
      status === 'archived'
        ? null
        : {
            ...state,
            status,
            name: spec.name,
            url: spec.url,
            tags: spec.tags,
            externalKey: spec.externalKey,
            condition: 'unknown',
            health: 'ok',
            codeRevision: 0,
            attention: 0,
            nextRunAt: null,
            lastExecution: null,
            ...(shadow === undefined ? {} : { shadow }),
          };
    if (document !== null) past.push(document);
    await readStore.save(tasksView, [{ id, revision: position, document }], position);
    await readStore.save(shadowsView, [], position);
    await kit.hooks.afterCommand();
    return asJson({ state, position });
  });
  await bus.respond(requests.taskAt, async (payload) => {
    const { taskId, moment } = pastTaskQuery.parse(payload);
    const isThen = ({ id, revision, updatedAt }: TaskDocument): boolean =>
      id === taskId && ('at' in moment ? updatedAt <= moment.at : revision === moment.revision);
    const found = past.findLast(isThen);
    if (found !== undefined) return asJson(found);
    throw new AppError('NOT_FOUND', 'at' in moment ? 'not_there_then' : 'no_such_revision', 'It was not there.');
  });
  await bus.respond(requests.taskHistory, async (payload) => {
    const { taskId, before, offset, limit } = historyQuery.parse(payload);
    const total = (tasks.get(taskId)?.revision ?? 0) + 1;
    const until = (before ?? total) - offset;
    const revisions = Array.from({ length: total }, (_, revision) => revision).slice(Math.max(0, until - limit), until);
    const entry = { type: 'task.changed', at: toTimestamp(now()), actor: 'key:x', requestId: 'req' };
    const changes = [{ path: 'actions[0].config.secret', to: { $sealed: 'abc' } }];
    const entries = revisions.map((revision) => ({ revision, ...entry, data: { a: { $sealed: 'x' } }, changes }));
    return { entries: entries.toReversed(), total };
  });
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
async function playRuns({ bus, readStore }: KitStores, { runs }: Pick<GatewayKit, 'runs'>, now: () => number) {
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
  const hooks = { beforeCommand: async () => {}, afterCommand: async () => {} };
  const commands: Json[] = [];
  await playTasks(stores, { hooks, commands }, now);
  const runs = { position: 0 };
  await playRuns(stores, { runs }, now);
  const ids = createIds(now);
  const disk: { state: DiskState } = { state: 'ok' };
  const snapshots = createSqliteSnapshots(':memory:', { keepCount: 10, keepDays: 30 });
  const providers = [
    { provide: CONFIG, useValue: readConfig({ MAIL_FROM: 'm@example.com', ...settings }, '/nonexistent') },
    { provide: CLOCK, useValue: { now } },
    { provide: IDS, useValue: ids },
    { provide: LOGGER, useValue: { debug: log, info: log, warn: log, error: log } },
    { provide: EVENT_STORE, useValue: stores.eventStore },
    { provide: BUS, useValue: stores.bus },
    { provide: READ_STORE, useValue: stores.readStore },
    { provide: SHARED_STATE, useValue: createDocumentState(stores.readStore) },
    { provide: BUS_ADMIN, useValue: stores.bus },
    { provide: LEASES, useValue: createSoleLeases() },
    { provide: VAULT, useValue: createEventVault(stores.eventStore, Buffer.alloc(32, 7)) },
    { provide: KEY_PEPPER, useValue: pepper },
    { provide: SNAPSHOTS, useValue: snapshots },
    { provide: DISK_SPACE, useValue: disk },
    {
      provide: SANDBOX,
      useValue: {
        check: async (code: string) =>
          code.includes('syntax(')
            ? { ok: false, message: 'unexpected end', line: 2, column: 5 }
            : { ok: true, form: 'body' },
      },
    },
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
    url,
    time,
    logged,
    hooks,
    commands,
    runs,
    snapshots,
    async addOrganization(plan) {
      const id = ids.next('org');
      const document = { id, name: 'Example', plan, createdAt: toTimestamp(now()) };
      await stores.readStore.save(organizationsView, [{ id, revision: 1, document }], null);
      return id;
    },
    async addKey(organizationId, scopes, more = {}) {
      const key = createApiKey((size) => crypto.getRandomValues(new Uint8Array(size)));
      const publicId = parseApiKey(key)?.publicId ?? '';
      const id = ids.next('key');
      const base = { id, publicId, organizationId, name: 'spec', scopes: [...scopes], hash: hashApiKey(key, pepper) };
      const open = { createdAt: toTimestamp(now()), expiresAt: null, allowedCidrs: [], revokedAt: null };
      const document = { ...base, ...open, ...more };
      await stores.readStore.save(keysView, [{ id: publicId, revision: 1, document }], null);
      defaultKey ??= key;
      return key;
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
