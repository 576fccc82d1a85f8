/**
 * From zod's issues to the details of an answer. The reason is that of the first fault, `<field>_<rule>` with the field's
 * last name in snake_case (`name_required`, `interval_seconds_too_small`, `to_invalid`), or `unknown_field`.
 */
import type { z } from 'zod';
import { reject, type AppError, type ErrorDetail } from '#runtime/errors';
import { nearestName } from '#runtime/nearest-name';
import { fieldPath, reasonPrefix } from './field-path.js';
import { insteadOf } from './known-fields.js';

/** Where the input came from: decides how an unknown name is called. */
export type InputPlace = 'body' | 'query';

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly rule: string;
  readonly message: string;
}

/** More faults than this help nobody. */
const maxFaults = 50;

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** `given`: what stands there. */
function oneOf(values: readonly unknown[], given: unknown): string {
  // An action without a type names a contact: that it may be left out is no value to write.
  const names = values.filter((value) => value !== undefined).map(String);
  const nearest = typeof given === 'string' ? nearestName(given, names) : null;
  const meant = nearest === null ? '' : `; perhaps ${nearest} is meant`;
  return (values.length === 1 ? `must be ${names.join()}` : `must be one of ${names.join(', ')}`) + meant;
}

/** The words of a contract's own `error`, which go on behind the name of the field; zod's begin a sentence. */
function ownWords(message: string, fallback: string): string {
  return /^[a-z]/.test(message) ? message : fallback;
}

function count(amount: number | bigint, unit: string): string {
  return `${amount.toLocaleString('en-US')} ${unit}${Number(amount) === 1 ? '' : 's'}`;
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, input: unknown): Omit<Fault, 'path'> {
  const atLeast = issue.minimum;
  switch (issue.origin) {
    case 'string':
      return input === ''
        ? { rule: 'required', message: 'must not be empty' }
        : { rule: 'too_short', message: `must have at least ${count(atLeast, 'character')}` };
    case 'array':
      return { rule: 'too_few', message: `must have at least ${count(atLeast, 'entry').replace('entrys', 'entries')}` };
    default:
      return { rule: 'too_small', message: `must be at least ${atLeast.toLocaleString('en-US')}` };
  }
}

function tooBig(issue: z.core.$ZodIssueTooBig): Omit<Fault, 'path'> {
  const atMost = issue.maximum;
  switch (issue.origin) {
    case 'string':
      return { rule: 'too_long', message: `must have at most ${count(atMost, 'character')}` };
    case 'array':
      return { rule: 'too_many', message: `must have at most ${count(atMost, 'entry').replace('entrys', 'entries')}` };
    default:
      return { rule: 'too_large', message: `must be at most ${atMost.toLocaleString('en-US')}` };
  }
}

/** Which values a discriminator may have, from the options of the union that refused it. */
function unionWords(issue: z.core.$ZodIssueInvalidUnion, given: unknown): string {
  if ('options' in issue && Array.isArray(issue.options)) return oneOf(issue.options, given);
  return ownWords(issue.message, 'has none of the allowed forms');
}

function faultsOf(issue: z.core.$ZodIssue, root: unknown): Fault[] {
  const { path } = issue;
  const input = valueAt(root, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], rule: 'unknown', message: 'is not a field' }));
    case 'invalid_type':
      if (input === undefined) return [{ path, rule: 'required', message: 'is required' }];
      return [{ path, rule: 'wrong_type', message: `must be ${typeNames[issue.expected] ?? issue.expected}` }];
    case 'too_small':
      return [{ path, ...tooSmall(issue, input) }];
    case 'too_big':
      return [{ path, ...tooBig(issue) }];
    case 'invalid_value':
      if (input === undefined) return [{ path, rule: 'required', message: 'is required' }];
      return [{ path, rule: 'invalid', message: oneOf(issue.values, input) }];
    case 'invalid_union':
      if (input === undefined) return [{ path, rule: 'required', message: 'is required' }];
      return [{ path, rule: 'invalid', message: unionWords(issue, input) }];
    case 'invalid_format':
      return [{ path, rule: 'invalid', message: ownWords(issue.message, `must be ${formatWords(issue.format)}`) }];
    case 'invalid_key':
      return [{ path, rule: 'invalid', message: ownWords(issue.issues[0]?.message ?? '', 'is not an allowed name') }];
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return [{ path, rule: 'invalid', message: ownWords(issue.message, 'is not valid') }];
  }
}

function formatWords(format: string): string {
  return format === 'datetime' ? 'a time such as 2026-11-01T08:00:00Z' : `in the right form (${format})`;
}

function reasonOf(fault: Fault, place: InputPlace): string {
  if (fault.rule === 'unknown') return place === 'body' ? 'unknown_field' : 'unknown_parameter';
  return `${reasonPrefix(fault.path)}_${fault.rule}`;
}

function toDetail(fault: Fault): ErrorDetail {
  return { field: fieldPath(fault.path), rule: fault.rule, message: fault.message };
}

/** One fault that the schema cannot know, in the same words and with the same reason as the schema's own. */
export function refuse(path: readonly PropertyKey[], rule: string, message: string, reason?: string): AppError {
  const fault = { path, rule, message };
  return reject(reason ?? reasonOf(fault, 'body'), `${fieldPath(path) || 'The body'} ${message}.`, [toDetail(fault)]);
}

/** What a schema found wrong, as the error that is answered. */
function validationError(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  place: InputPlace,
): AppError {
  const unknown = place === 'body' ? 'is not a field' : 'is not a parameter';
  const faults = issues
    .flatMap((issue) => faultsOf(issue, input))
    .slice(0, maxFaults)
    .map((fault) =>
      fault.rule === 'unknown' ? { ...fault, message: `${unknown}${insteadOf(schema, input, fault.path)}` } : fault,
    );
  const first = faults[0] ?? { path: [], rule: 'invalid', message: 'is not valid' };
  const subject = place === 'body' ? 'The body' : 'The query';
  return reject(reasonOf(first, place), `${fieldPath(first.path) || subject} ${first.message}.`, faults.map(toDetail));
}

/** The parsed value, or throws the error to answer. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  place: InputPlace,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw validationError(schema, parsed.error.issues, input, place);
  return parsed.data;
}
