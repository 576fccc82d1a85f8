/** The file that says what an organisation watches: as it is written, and a task as such a file has it. */
import { z } from 'zod';
import { actionInput } from '#contracts/action';
import { contactInput } from '#contracts/contact';
import { portablePolicy } from '#contracts/policy';
import { defaultSchedule, repeatedDefaults } from '#contracts/schedule';
import { taskInput, type TaskDocument } from '#contracts/task';
import { isId } from '#runtime/ids';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { toJsonObject } from '../json-casts.js';
import { readOnlyFields } from '../task-answer.js';

const { name, description } = taskInput.shape;
const asDocumented = (schema: z.ZodType) => {
  const { $schema: _schema, ...documented } = z.toJSONSchema(schema, { io: 'input' });
  return documented;
};

/** Documented as those of any task, and held by the plan, which knows the task: what an earlier version took stays. */
const configuredTexts = {
  name: z.string().min(1, { abort: true }).max(200).meta(asDocumented(name)),
  description: z.string().max(2_000).default('').meta(asDocumented(description)),
};

export const configuredTask = taskInput
  .extend({
    ...configuredTexts,
    externalKey: z.string().min(1).max(200).describe('What the file calls it; of a task without a key its id.'),
    policy: portablePolicy.prefault({}).describe('When an outcome becomes a notification.'),
  })
  .meta({ id: 'ConfiguredNotification' });
export type ConfiguredTask = z.infer<typeof configuredTask>;

/** Said of an export in which a text holds `${`: who applies it by the command line must not fill in what a user wrote there. */
export const literalTexts = z
  .boolean()
  .describe(
    '`false`: `meerkat apply` takes every `${NAME}` in the file as it stands. Over HTTP nothing is replaced, whatever it says.',
  );

/** Of one file. */
const mostContacts = 1_000;

export const configuration = z
  .strictObject({
    version: z.literal(1).describe('Of the form of the file.'),
    variables: literalTexts.optional(),
    contacts: z
      .array(contactInput)
      .max(mostContacts)
      .default([])
      .describe('Receivers that actions of any task go by; what the file does not name stays.'),
    notifications: z.array(configuredTask).describe('The tasks.'),
  })
  .meta({ id: 'Configuration', description: 'Every notification task of an organisation, or some of them.' });
export type Configuration = z.infer<typeof configuration>;

/** Answers of a task that no file has. */
const leftOut: readonly string[] = [...readOnlyFields, 'externalKey'];

const { catchUp } = defaultSchedule;
/** What a schedule of any type may leave unsaid. */
const plainSchedule = toJsonObject({ ...repeatedDefaults, catchUp });

/** What a task may leave unsaid. */
const {
  name: _name,
  url: _url,
  evaluationFunction: _evaluationFunction,
  ...plain
} = toJsonObject(taskInput.parse({ name: 'x', url: 'https://example.com/', evaluationFunction: 'true' }));
/** What an action of any type may leave unsaid. */
const {
  type: _type,
  config: _config,
  ...plainAction
} = toJsonObject(actionInput.parse({ type: 'webhook', config: { url: 'https://example.com/' } }));

const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Without what says what its absence says too. */
function withoutDefaults(value: JsonObject, defaults: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => !isSame(member, defaults[name])));
}

function shortAction(action: Json): Json {
  if (!isJsonObject(action)) return action;
  const { id: _id, ...rest } = action;
  return withoutDefaults(rest, plainAction);
}

/** What a file calls a task. An earlier version took keys that look like the id of another task: those no file can name. */
export function fileKeyOf({ id, externalKey }: Pick<TaskDocument, 'id' | 'externalKey'>): string {
  return externalKey === null || isId(externalKey, 'ntf') ? id : externalKey;
}

/** A task as a file has it: what GET gave of it, without what is read-only or as it is by default. */
export function toConfigured(answer: JsonObject, key: string, keys: ReadonlyMap<string, string>): JsonObject {
  const settings = Object.entries(answer).flatMap(([name, value]): [string, Json][] => {
    if (leftOut.includes(name) || value === undefined || isSame(value, plain[name])) return [];
    if (name === 'actions' && Array.isArray(value)) return [[name, (value as readonly Json[]).map(shortAction)]];
    if (!isJsonObject(value)) return [[name, value]];
    if (name === 'schedule') return [[name, withoutDefaults(value, plainSchedule)]];
    const own = withoutDefaults(value, isJsonObject(plain[name]) ? plain[name] : {});
    const { dependsOn } = own;
    if (name !== 'policy' || !Array.isArray(dependsOn)) return [[name, own]];
    return [[name, { ...own, dependsOn: (dependsOn as readonly string[]).map((id) => keys.get(id) ?? id) }]];
  });
  return { externalKey: key, ...Object.fromEntries(settings) };
}
