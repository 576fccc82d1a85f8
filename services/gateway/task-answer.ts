/** A notification task as the API answers it: flat, opened, secrets masked. */
import { z } from 'zod';
import { actionTypes, notificationKind, type ActionType } from '#contracts/action';
import { idSchema, secretMask, storedTimestamp } from '#contracts/common';
import { fetchSettings } from '#contracts/fetch';
import { condition, health } from '#contracts/policy';
import { lastExecution, taskInput, taskStatus, type TaskDocument, type TaskState } from '#contracts/task';
import type { JsonObject } from '#runtime/json';
import type { Vault } from '#vault/vault';
import { toJsonObject } from './documents.js';
import { masked, secretsOfAction, secretsOfFetch } from './secrets.js';

export const actionScope = (actionId: string): string => `actions/${actionId}`;
export const fetchScope = 'fetch';

/** Of the answer, not settable: PUT and PATCH pass over them, POST refuses them. */
export const readOnlyFields = [
  'id',
  'revision',
  'condition',
  'health',
  'nextRunAt',
  'lastExecution',
  'createdAt',
  'updatedAt',
  'createdBy',
] as const;

const actionAnswer = z.object({
  id: idSchema('act'),
  type: z.enum(['email', 'webhook', 'custom']),
  config: z
    .union([actionTypes.email.config, actionTypes.webhook.config, actionTypes.custom.config])
    .describe(`Settings of the type; secrets are ${secretMask}.`),
  enabled: z.boolean(),
  expireAfterSeconds: z.int(),
  on: z.array(notificationKind),
});

export const taskAnswer = z.object({
  id: idSchema('ntf'),
  ...taskInput.shape,
  actions: z.array(actionAnswer),
  fetch: fetchSettings,
  revision: z.int().min(0).describe('Grows with every change; also the ETag.'),
  status: taskStatus,
  condition,
  health,
  nextRunAt: storedTimestamp.nullable(),
  lastExecution: lastExecution.nullable(),
  createdAt: storedTimestamp,
  updatedAt: storedTimestamp,
  createdBy: z.string(),
});

/** What the gateway knows of a task's runs; a new task has had none. */
export type TaskProgress = Pick<TaskDocument, 'condition' | 'health' | 'nextRunAt' | 'lastExecution'>;

export const noProgress: TaskProgress = { condition: 'unknown', health: 'ok', nextRunAt: null, lastExecution: null };

/** A task's settings in clear: configs by action id, and fetch. */
export interface OpenedSettings {
  readonly configs: ReadonlyMap<string, JsonObject>;
  readonly fetch: JsonObject;
}

/** Opens what is sealed in a task. */
export async function openSettings(
  vault: Vault,
  { id, spec }: Pick<TaskState, 'id' | 'spec'>,
): Promise<OpenedSettings> {
  const configs = new Map<string, JsonObject>();
  for (const action of spec.actions) {
    configs.set(action.id, await vault.open(id, actionScope(action.id), action.config));
  }
  return { configs, fetch: await vault.open(id, fetchScope, spec.fetch) };
}

function shownConfig(type: ActionType, config: JsonObject, secretShown: boolean): JsonObject {
  const hidden = masked(config, secretsOfAction(type));
  const { secret } = config;
  return secretShown && secret !== undefined ? { ...hidden, secret } : hidden;
}

/** The answer. `shownSecrets`: actions whose webhook secret was made by this very request and is told this once. */
export function toTaskAnswer(
  state: Omit<TaskState, 'status'> & { readonly status: string },
  opened: OpenedSettings,
  progress: TaskProgress,
  shownSecrets: ReadonlySet<string> = new Set(),
): JsonObject {
  const { spec } = state;
  return toJsonObject({
    id: state.id,
    name: spec.name,
    description: spec.description,
    url: spec.url,
    evaluationFunction: spec.evaluationFunction,
    actions: spec.actions.map(({ id, type, config, enabled, expireAfterSeconds, on }) => ({
      id,
      type,
      config: shownConfig(type, opened.configs.get(id) ?? config, shownSecrets.has(id)),
      enabled,
      expireAfterSeconds,
      on,
    })),
    schedule: spec.schedule,
    policy: spec.policy,
    fetch: masked(opened.fetch, secretsOfFetch),
    tags: spec.tags,
    externalKey: spec.externalKey,
    status: state.status,
    revision: state.revision,
    condition: progress.condition,
    health: progress.health,
    nextRunAt: progress.nextRunAt,
    lastExecution: progress.lastExecution,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    createdBy: state.createdBy,
  });
}
