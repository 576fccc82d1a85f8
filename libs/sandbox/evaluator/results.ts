/** Whether what the evaluator process answered is a result at all: it may have been taken over by what it ran. */
import { sandboxFailureReasons, touchable } from '../sandbox.js';
import type { JobKind, JobKinds } from './messages.js';

const reasons: ReadonlySet<unknown> = new Set(sandboxFailureReasons);
const touchables: ReadonlySet<unknown> = new Set(touchable);
const levels: ReadonlySet<unknown> = new Set(['log', 'info', 'warn', 'error', 'debug']);
const forms: ReadonlySet<unknown> = new Set(['function', 'body', 'script']);

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const isPlace = (value: unknown): boolean => value === undefined || (Number.isInteger(value) && Number(value) >= 1);

function isFailure(value: unknown): boolean {
  return (
    isObject(value) &&
    reasons.has(value['reason']) &&
    typeof value['message'] === 'string' &&
    (value['hint'] === undefined || typeof value['hint'] === 'string') &&
    isPlace(value['line']) &&
    isPlace(value['column'])
  );
}

function areLogs(value: unknown): boolean {
  const isLine = (line: unknown): boolean =>
    isObject(line) && levels.has(line['level']) && typeof line['message'] === 'string';
  return Array.isArray(value) && value.every(isLine);
}

function isCheck(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (value['ok'] === true) return forms.has(value['form']);
  return (
    value['ok'] === false && typeof value['message'] === 'string' && isPlace(value['line']) && isPlace(value['column'])
  );
}

function isEvaluation({ ok, values, logs, timings, touched, outcome, state, failure }: Fields): boolean {
  if (!isObject(values) || !areLogs(logs) || !isObject(timings)) return false;
  if (!isTime(timings['parseMs']) || !isTime(timings['evaluateMs'])) return false;
  if (touched !== undefined && !(Array.isArray(touched) && touched.every((word) => touchables.has(word)))) return false;
  return ok === true ? typeof outcome === 'boolean' && isObject(state) : ok === false && isFailure(failure);
}

function isScript({ ok, logs, value, failure }: Fields): boolean {
  return areLogs(logs) && (ok === true ? value !== undefined : ok === false && isFailure(failure));
}

/** JSON that was read from an answer. */
export function isResultOf(kind: JobKind, result: unknown): result is JobKinds[JobKind]['result'] {
  switch (kind) {
    case 'check':
      return Array.isArray(result) && result.every(isCheck);
    case 'evaluate':
      return isObject(result) && isEvaluation(result);
    case 'script':
      return isObject(result) && isScript(result);
  }
}
