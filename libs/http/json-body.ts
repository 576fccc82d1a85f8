/** Reads a request body as JSON, strictly: what two readers could understand differently is refused by name. */
import { reject, type AppError } from '#runtime/errors';
import type { Json } from '#runtime/json';
import { fieldPath } from './field-path.js';

/** Deeper than any document of ours; deeper input only serves to exhaust a stack. */
const maxDepth = 32;
/** Several times more than any document of ours has; more of them only serve to hold up everything else. */
const maxValues = 20_000;

const decoder = new TextDecoder('utf-8', { fatal: true });

function malformed(message: string): AppError {
  return reject('malformed_json', message);
}

function fault(path: readonly PropertyKey[], rule: string, reason: string, message: string): AppError {
  const field = fieldPath(path);
  return reject(reason, `${field} ${message}.`, [{ field, rule, message }]);
}

/** The end of a string literal that begins at `start`; the text is known to be well-formed JSON. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i + 1;
}

/** The first name that one object holds twice, or null. JSON.parse keeps the last one and says nothing. */
function repeatedName(text: string): string | null {
  const objects: (Set<string> | null)[] = [];
  let atName = false;
  for (let i = 0; i < text.length; i += 1) {
    switch (text[i]) {
      case '{':
        objects.push(new Set());
        atName = true;
        break;
      case '[':
        objects.push(null);
        atName = false;
        break;
      case '}':
      case ']':
        objects.pop();
        atName = false;
        break;
      case ',':
        atName = objects.at(-1) != null;
        break;
      case '"': {
        const end = endOfString(text, i);
        const names = objects.at(-1);
        if (atName && names != null) {
          const name = String(JSON.parse(text.slice(i, end)));
          if (names.has(name)) return name;
          names.add(name);
          atName = false;
        }
        i = end - 1;
        break;
      }
      default:
    }
  }
  return null;
}

function checkString(value: string, path: readonly PropertyKey[]): void {
  if (value.isWellFormed()) return;
  throw fault(path, 'malformed_text', 'malformed_text', 'holds half of a surrogate pair, which is no text');
}

/** Returns how many values there are, `before` of them in front of it. */
function checkValue(value: Json, path: PropertyKey[], before: number): number {
  if (typeof value === 'string') checkString(value, path);
  if (typeof value !== 'object' || value === null) return before + 1;
  if (path.length >= maxDepth)
    throw reject('too_deep', `The body is nested deeper than ${maxDepth} levels.`, [
      { field: fieldPath(path.slice(0, 3)), rule: 'too_deep', message: `is nested deeper than ${maxDepth} levels` },
    ]);
  let count = before + 1;
  // One after the other: a list that is far too long is refused before it has been gone through.
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(name);
    if (name === '__proto__') throw fault(path, 'unknown', 'unknown_field', 'is not a field');
    count = checkValue((value as Readonly<Record<PropertyKey, Json>>)[name] as Json, path, count);
    path.pop();
    if (count > maxValues)
      throw reject('too_many_values', `The body holds more than ${maxValues} values.`, [
        { field: fieldPath(path.slice(0, 3)), rule: 'too_many', message: `has value ${maxValues + 1} of the body` },
      ]);
  }
  return count;
}

/** Of a value that was read from another notation than JSON. Throws `too_deep`, `too_many_values`, `malformed_text`, `unknown_field`. */
export function checkJsonBody(value: Json): void {
  checkValue(value, [], 0);
}

/** The JSON inside; undefined where the body is empty. Throws `malformed_json`, `duplicate_field`, `too_deep`, `too_many_values`, `malformed_text`, `unknown_field`. */
export function parseJsonBody(bytes: Uint8Array): Json | undefined {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw malformed('The body is not UTF-8.');
  }
  if (text.trim() === '') return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw malformed(`The body is not JSON: ${positionIn(text, error)}.`);
  }
  const repeated = repeatedName(text);
  if (repeated !== null) {
    const field = fieldPath([repeated]);
    throw reject('duplicate_field', `${field} is given twice in one object.`, [
      { field, rule: 'duplicate', message: 'is given twice in one object' },
    ]);
  }
  checkValue(value, [], 0);
  return value;
}

/** Where the fault is, in words of ours: the engine's message repeats parts of the body. */
function positionIn(text: string, error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return 'it ends too early or holds a character that does not belong there';
  const before = text.slice(0, Number(position)).split('\n');
  return `unexpected character at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
