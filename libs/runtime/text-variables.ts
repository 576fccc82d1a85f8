/** Texts of a configuration file, in which `${NAME}` stands for a variable and `$${` for `${` itself. */
import { isJsonObject, jsonEquals, type Json } from './json.js';

/** Code has template literals of its own. */
const isCode = (name: string): boolean => name === 'evaluationFunction' || name === 'code';

/** `value` with each text in it changed but code. `path`: where it stands, `''` at the top. */
export function mapTexts(value: Json, change: (text: string, path: string) => string, path = ''): Json {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((inner, at) => mapTexts(inner, change, `${path}[${at}]`));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isCode(name) ? inner : mapTexts(inner, change, path === '' ? name : `${path}.${name}`),
    ]),
  );
}

/** So that what was stored comes back, no matter who wrote it: nothing in it stands for a variable. */
export function withoutVariables(value: Json): Json {
  return mapTexts(value, (text) => text.replaceAll('${', () => '$${'));
}

/** Whether variables would be looked for in it. */
export function hasVariables(value: Json): boolean {
  return !jsonEquals(withoutVariables(value), value);
}
