/** A notification task as the API answers it: flat, opened, secrets masked. */
import { z } from 'zod';
import { declarations, type ActionType } from '#channels/declarations';
import { actionDefaults, notificationKind, type StoredAction } from '#contracts/action';
import { idSchema, storedTimestamp } from '#contracts/common';
import { fetchSettings } from '#contracts/fetch';
import { condition, health, wholePolicy } from '#contracts/policy';
import { wholeSchedule } from '#contracts/schedule';
import { lastExecution, taskInput, taskStatus, type TaskDocument, type TaskState } from '#contracts/task';
import type { JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import type { Vault } from '#vault/vault';
import { toJsonObject, without } from './json-casts.js';
import { disabledWarnings, taskWarning, warningsOf } from './task-warnings.js';
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
  'acknowledged',
  'shadow',
  'createdAt',
  'updatedAt',
  'createdBy',
  'warnings',
] as const;

/** The settings of an answer, without what cannot be set. */
export function settable(answer: JsonObject): JsonObject {
  const readOnly: readonly string[] = readOnlyFields;
  return toJsonObject(Object.fromEntries(Object.entries(answer).filter(([name]) => !readOnly.includes(name))));
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const actionOptions = {
  on: z.array(notificationKind).describe('The kinds of message that it sends.'),
  digestSeconds: z.int().describe('Messages of so long go out as one; 0: each by itself.'),
  afterSeconds: z.int().describe('It sends after so long, if it still holds and nobody has acknowledged.'),
  retryUnknown: z.boolean().describe('Whether a try of which nobody knows if it arrived is made again.'),
};

function answerOf({ type, config }: (typeof declarations)[number]) {
  return z
    .object({
      id: idSchema('act').describe('Of the action.'),
      type: z.literal(type).describe('The channel.'),
      config: (config as z.ZodObject).describe(`Settings of the channel; secrets are ${secretMask}.`),
      enabled: z.boolean().describe('Whether it sends.'),
      expireAfterSeconds: z.int().describe('A message that could not be delivered for so long is given up.'),
      ...actionOptions,
    })
    .meta({ id: `${capital(type)}Action` });
}

const answerByContact = z
  .object({
    id: idSchema('act').describe('Of the action.'),
    type: z.undefined().optional().describe('It is that of the contact.'),
    contact: z.string().describe('The contact that it goes to.'),
    enabled: z.boolean().describe('Whether it sends.'),
    expireAfterSeconds: z.int().describe('A message that could not be delivered for so long is given up.'),
    ...actionOptions,
  })
  .meta({ id: 'ContactAction' });

const [firstChannel, ...otherChannels] = declarations;

export const actionAnswer = z
  .discriminatedUnion('type', [answerOf(firstChannel), ...otherChannels.map(answerOf), answerByContact])
  .meta({ id: 'Action' });

export const taskAnswer = z
  .object({
    id: idSchema('ntf').describe('Of the task.'),
    ...taskInput.shape,
    actions: z.array(actionAnswer).describe('Who is told, and how.'),
    fetch: fetchSettings.describe('How the page is loaded; secrets are masked.'),
    revision: z.int().min(0).describe('Grows with every change; also the ETag.'),
    status: taskStatus.describe('A task that is paused does not run by itself.'),
    condition: condition.describe('What was found, as far as the policy has confirmed it.'),
    health: health.describe(
      'Whether the page can be checked: `error` from `policy.errorThreshold` failed runs in a row on; `blocked` where this instance refuses what the task needs and trying again changes nothing.',
    ),
    nextRunAt: storedTimestamp.nullable().describe('null: it does not run by itself.'),
    lastExecution: lastExecution.nullable().describe('null: there was none yet.'),
    acknowledged: z
      .object({
        at: storedTimestamp.describe('When that was.'),
        by: z.string().describe('`key:<id>`, `user:<id>`, or `link:<id>` of the action whose message held the link.'),
        until: storedTimestamp
          .nullable()
          .describe('Reminders and escalations come again from then on; null: not before it ends.'),
        note: z.string().nullable().describe('What they said.'),
      })
      .nullable()
      .describe('Who has taken on what is open; null: nobody.'),
    shadow: z
      .object({ since: storedTimestamp.describe('When it was put beside the task.') })
      .optional()
      .describe('A candidate runs beside it (`GET /api/notifications/{id}/shadow`); absent: none.'),
    createdAt: storedTimestamp.describe('When it was made.'),
    updatedAt: storedTimestamp.describe('When it was changed last.'),
    createdBy: z.string().describe('`key:<id>` or `user:<id>`.'),
    warnings: z
      .array(taskWarning)
      .optional()
      .describe('What its settings leave silent, and actions that their receivers had disabled; absent: nothing.'),
  })
  .meta({ id: 'Notification' });

/** What the gateway knows of a task's runs; a new task has had none. */
export type TaskProgress = Pick<
  TaskDocument,
  'condition' | 'health' | 'nextRunAt' | 'lastExecution' | 'acknowledged' | 'disabled' | 'shadow'
>;

function shownAcknowledged({ acknowledged }: TaskProgress): object | null {
  if (acknowledged === undefined) return null;
  const { at, by, until, note } = acknowledged;
  return { at, by, until, note };
}

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

/** By action the settings that this very request generated: shown this once. */
export type GeneratedSecrets = ReadonlyMap<string, readonly string[]>;

export function shownConfig(type: ActionType, config: JsonObject, generated: readonly string[]): JsonObject {
  const shown = Object.entries(config).filter(([name]) => generated.includes(name));
  return { ...masked(config, secretsOfAction(type)), ...Object.fromEntries(shown) };
}

/** `config` is opened; `generated` names what this very request made. */
export function toActionAnswer(
  action: StoredAction,
  config: JsonObject,
  generated: readonly string[] = [],
): JsonObject {
  if (action.contact !== undefined) {
    return toJsonObject({ ...actionDefaults, ...without(action, 'type', 'config') });
  }
  return toJsonObject({ ...actionDefaults, ...action, config: shownConfig(action.type, config, generated) });
}

export function toTaskAnswer(
  state: Omit<TaskState, 'status'> & { readonly status: string },
  { configs, fetch }: OpenedSettings,
  progress: TaskProgress,
  generated: GeneratedSecrets = new Map(),
): JsonObject {
  const { id, spec, status, revision, createdAt, updatedAt, createdBy } = state;
  const { condition, health, nextRunAt, lastExecution } = progress;
  const warnings = [...disabledWarnings(spec, progress.disabled), ...warningsOf(spec)];
  const actions = spec.actions.map((action) =>
    toActionAnswer(action, configs.get(action.id) ?? action.config, generated.get(action.id)),
  );
  return toJsonObject({
    id,
    // Before the code, which may be long: who types a request by hand sees the beginning of its answer.
    ...(warnings.length === 0 ? {} : { warnings }),
    ...without(spec, 'codeForm'),
    schedule: wholeSchedule(spec.schedule),
    policy: wholePolicy(spec.policy),
    actions,
    fetch: masked(fetch, secretsOfFetch),
    status,
    revision,
    condition,
    health,
    nextRunAt,
    lastExecution,
    acknowledged: shownAcknowledged(progress),
    ...(progress.shadow === undefined ? {} : { shadow: { since: progress.shadow.startedAt } }),
    createdAt,
    updatedAt,
    createdBy,
  });
}
