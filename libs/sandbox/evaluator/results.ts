/**
 * Whether what the evaluator process answered is a result at all, and no larger than the job allows: the process may have
 * been taken over by what it ran.
 */
import { isJsonObject } from '#runtime/json';
import type { JsonObject } from '#runtime/json';
import { deepestNesting, isNestedDeeper } from '../nesting.js';
import { isFailureReason, isLogLine, isTouchable } from '../result-guards.js';
import { touchable } from '../sandbox.js';
import type { CheckedCode, EvaluationResult, SandboxLimits, ScriptResult } from '../sandbox.js';
import { largestAnswerBytes, longestMessage } from './messages.js';
import type { JobKind, JobKinds } from './messages.js';

/** What the answer to one job may hold. */
export interface AnswerLimits {
  /** Of the whole answer as text. */
  readonly textBytes: number;
  readonly outputBytes: number;
  readonly stateBytes: number;
  /** How many results there may be, where there are several. */
  readonly results: number;
}

/** What an answer has besides output and state: messages, the hint, times, names of members. */
const otherBytes = 128 * 1024;
/** As text in JSON, one byte is six at most. */
const escapeFactor = 6;
/** What each line and value counts besides its text (`prelude/output.ts`). */
const entryBytes = 16;
/** Half a surrogate pair counts two bytes inside the sandbox, and three as what it is replaced by. */
const outputSlack = 1.5;

function outputTextBytes({ outputBytes, stateBytes }: Pick<SandboxLimits, 'outputBytes' | 'stateBytes'>): number {
  // A script's value has a limit of its own, of the same size.
  return (escapeFactor + 1) * outputBytes + stateBytes + otherBytes;
}

export function answerLimitsOf(job: JobKinds[JobKind]['job']): AnswerLimits {
  if ('codes' in job) {
    const checks = job.codes.length;
    const textBytes = Math.min(largestAnswerBytes, otherBytes + checks * escapeFactor * longestMessage);
    return { textBytes, outputBytes: 0, stateBytes: 0, results: checks };
  }
  const { outputBytes, stateBytes } = job.limits;
  const results = 'visits' in job ? job.visits.length : 1;
  return {
    textBytes: Math.min(largestAnswerBytes, results * outputTextBytes(job.limits)),
    outputBytes,
    stateBytes,
    results,
  };
}

const forms: ReadonlySet<unknown> = new Set(['function', 'body', 'script']);

const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const isPlace = (value: unknown): boolean => value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1);
const isMessage = (value: unknown): boolean => typeof value === 'string' && value.length <= longestMessage;

function isFailure(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    isFailureReason(value['reason']) &&
    isMessage(value['message']) &&
    (value['hint'] === undefined || isMessage(value['hint'])) &&
    isPlace(value['line']) &&
    isPlace(value['column'])
  );
}

const areLogs = (value: unknown): boolean => Array.isArray(value) && value.every(isLogLine);

function isCheck(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (value['ok'] === true) return forms.has(value['form']);
  return value['ok'] === false && isMessage(value['message']) && isPlace(value['line']) && isPlace(value['column']);
}

function isEvaluation({ ok, values, logs, timings, touched, outcome, state, failure }: JsonObject): boolean {
  if (!isJsonObject(values) || !areLogs(logs) || !isJsonObject(timings)) return false;
  if (!isTime(timings['parseMs']) || !isTime(timings['evaluateMs'])) return false;
  const areTouched = Array.isArray(touched) && touched.length <= touchable.length && touched.every(isTouchable);
  if (touched !== undefined && !areTouched) return false;
  return ok === true ? typeof outcome === 'boolean' && isJsonObject(state) : ok === false && isFailure(failure);
}

function isScript({ ok, logs, value, failure }: JsonObject): boolean {
  return areLogs(logs) && (ok === true ? value !== undefined : ok === false && isFailure(failure));
}

function isResultOf(kind: JobKind, result: unknown, { results }: AnswerLimits): result is JobKinds[JobKind]['result'] {
  switch (kind) {
    case 'check':
      return Array.isArray(result) && result.length === results && result.every(isCheck);
    case 'evaluate':
      return isJsonObject(result) && isEvaluation(result);
    case 'evaluateAll':
      return (
        Array.isArray(result) &&
        result.length > 0 &&
        result.length <= results &&
        result.every((one) => isJsonObject(one) && isEvaluation(one))
      );
    case 'script':
      return isJsonObject(result) && isScript(result);
  }
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Logs and values, counted as inside the sandbox. */
function countOutput({ values, logs }: { readonly values?: object; readonly logs: readonly { message: string }[] }): {
  readonly entries: number;
  readonly byteLength: number;
} {
  const reported = Object.entries(values ?? {});
  let byteLength = 0;
  for (const [name, value] of reported) byteLength += Buffer.byteLength(name) + jsonBytes(value);
  for (const { message } of logs) byteLength += Buffer.byteLength(message);
  return { entries: reported.length + logs.length, byteLength };
}

/** What of a result is more than the job allows, in words for the log; null: nothing is. */
export function excessOf(
  result: CheckedCode | EvaluationResult | ScriptResult,
  { outputBytes, stateBytes }: AnswerLimits,
): string | null {
  if (!('logs' in result)) return null;
  const values = 'values' in result ? result.values : {};
  const parts = [
    ...Object.values(values),
    'state' in result ? result.state : null,
    'value' in result ? result.value : null,
  ];
  // Before anything that walks into the depth.
  if (parts.some((part) => isNestedDeeper(part, deepestNesting))) return `more than ${deepestNesting} levels`;
  const { entries, byteLength } = countOutput({ values, logs: result.logs });
  if (entries > 1 + outputBytes / entryBytes) return 'more logs and values than the job allows';
  if (byteLength > outputSlack * outputBytes) return 'larger logs and values than the job allows';
  if ('state' in result && jsonBytes(result.state) > stateBytes) return 'a larger state than the job allows';
  if ('value' in result && jsonBytes(result.value) > outputBytes) return 'a larger value than the job allows';
  return null;
}

export type ReadResult =
  { readonly ok: true; readonly result: JobKinds[JobKind]['result'] } | { readonly ok: false; readonly why: string };

/** Reads the text of an answer. `why` says what is wrong with it, in words that follow "it gave an answer". */
export function readResult(kind: JobKind, text: string, limits: AnswerLimits): ReadResult {
  let result: unknown;
  try {
    result = JSON.parse(text);
  } catch {
    return { ok: false, why: 'that is no JSON' };
  }
  if (!isResultOf(kind, result, limits)) return { ok: false, why: 'that is no result' };
  const all = 'length' in result ? result : [result];
  const excess = all.map((one) => excessOf(one, limits)).find((found) => found !== null) ?? null;
  return excess === null ? { ok: true, result } : { ok: false, why: `that holds ${excess}` };
}
