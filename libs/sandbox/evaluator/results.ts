/** Whether what the evaluator process answered is a result at all: it may have been taken over by what it ran. */
import { isJsonObject } from '#runtime/json';
import type { JsonObject } from '#runtime/json';
import { isFailureReason, isLogLine, isTouchable } from '../result-guards.js';
import type { JobKind, JobKinds } from './messages.js';

const forms: ReadonlySet<unknown> = new Set(['function', 'body', 'script']);

const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const isPlace = (value: unknown): boolean => value === undefined || (Number.isInteger(value) && Number(value) >= 1);

function isFailure(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    isFailureReason(value['reason']) &&
    typeof value['message'] === 'string' &&
    (value['hint'] === undefined || typeof value['hint'] === 'string') &&
    isPlace(value['line']) &&
    isPlace(value['column'])
  );
}

const areLogs = (value: unknown): boolean => Array.isArray(value) && value.every(isLogLine);

function isCheck(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (value['ok'] === true) return forms.has(value['form']);
  return (
    value['ok'] === false && typeof value['message'] === 'string' && isPlace(value['line']) && isPlace(value['column'])
  );
}

function isEvaluation({ ok, values, logs, timings, touched, outcome, state, failure }: JsonObject): boolean {
  if (!isJsonObject(values) || !areLogs(logs) || !isJsonObject(timings)) return false;
  if (!isTime(timings['parseMs']) || !isTime(timings['evaluateMs'])) return false;
  if (touched !== undefined && !(Array.isArray(touched) && touched.every(isTouchable))) return false;
  return ok === true ? typeof outcome === 'boolean' && isJsonObject(state) : ok === false && isFailure(failure);
}

function isScript({ ok, logs, value, failure }: JsonObject): boolean {
  return areLogs(logs) && (ok === true ? value !== undefined : ok === false && isFailure(failure));
}

/** JSON that was read from an answer. */
export function isResultOf(kind: JobKind, result: unknown): result is JobKinds[JobKind]['result'] {
  switch (kind) {
    case 'check':
      return Array.isArray(result) && result.every(isCheck);
    case 'evaluate':
      return isJsonObject(result) && isEvaluation(result);
    case 'script':
      return isJsonObject(result) && isScript(result);
  }
}
