/** What is typed, as it may be kept in a browser: everybody who uses the machine may read that. Pure. */
import type { BrowserStep } from '../api/types.js';
import type { ActionDraft } from './action-draft.js';
import type { ActionType } from './action-types.js';
import type { FieldSchema, Settings } from './field-kinds.js';

/** What the server answers in the place of a secret; sent back, the secret stays. */
export const secretMask = '********';

/** Headers of requests that let somebody in, by their names. */
const credential = /auth|cookie|token|secret|key|password/i;

const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema itself and every form that it may have. */
function formsOf(schema: FieldSchema): readonly FieldSchema[] {
  return [schema, ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(formsOf)];
}

/** An address may hold a password, and says who comes without it as well. */
export function addressWithoutPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password === '' || url.password === secretMask) return text;
  url.password = '';
  return url.href;
}

/** A secret in the form that may be kept: only the mask of the one that is stored, undefined where there is none. */
const maskOf = (value: unknown, before: unknown): unknown =>
  value === secretMask || before === secretMask ? secretMask : undefined;

const memberOf = (value: unknown, name: string): unknown =>
  isSettings(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Undefined where all of it is secret; what no schema describes may be. `before`: as the server answered it. */
function kept(schemas: readonly FieldSchema[], value: unknown, before: unknown): unknown {
  const forms = schemas.flatMap(formsOf);
  if (forms.length === 0 || forms.some(({ writeOnly }) => writeOnly === true)) return maskOf(value, before);
  if (Array.isArray(value)) {
    const items = forms.flatMap((form) => form.items ?? []);
    return value
      .map((item: unknown, at) => kept(items, item, Array.isArray(before) ? before[at] : undefined))
      .filter((item) => item !== undefined);
  }
  if (typeof value === 'string') return addressWithoutPassword(value);
  if (!isSettings(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const fields = forms.flatMap(({ properties, additionalProperties }) => {
      const field =
        properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return typeof field === 'object' ? [field] : [];
    });
    return [name, kept(fields, member, memberOf(before, name))] as const;
  });
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

function withoutCredentials(settings: Settings, before: Settings): Settings {
  const { headers } = settings;
  if (!isSettings(headers)) return settings;
  const members = Object.entries(headers).map(([name, value]) => {
    const masked = maskOf(value, memberOf(before['headers'], name));
    return [name, credential.test(name) ? masked : value] as const;
  });
  return { ...settings, headers: Object.fromEntries(members.filter(([, value]) => value !== undefined)) };
}

/** `before`: the settings that they are an edit of, whose secrets stay as they are stored; of others none is left. */
export function settingsWithoutSecrets(
  type: string,
  settings: Settings,
  types: readonly ActionType[],
  before: Settings = {},
): Settings {
  const schema = types.find((one) => one.type === type)?.configSchema;
  const config = kept(schema === undefined ? [] : [schema], settings, before);
  return isSettings(config) ? withoutCredentials(config, before) : {};
}

/** Its secrets have to be typed once more. */
export function actionWithoutSecrets(
  action: ActionDraft,
  types: readonly ActionType[],
  before?: ActionDraft,
): ActionDraft {
  if ('contact' in action) return action;
  const stored = before !== undefined && 'config' in before && before.type === action.type ? before.config : {};
  return { ...action, config: settingsWithoutSecrets(action.type, action.config, types, stored) };
}

/** What is filled in is secret unless it is said to be none. */
export const stepWithoutSecrets = (step: BrowserStep): BrowserStep =>
  step.do === 'fill' && step.secret !== false ? { ...step, value: '' } : step;
