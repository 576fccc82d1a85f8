/** Reads what the guest handed out. The user's code may have tampered with it, so nothing is trusted. */
import { isJsonObject } from '#runtime/json';
import type { JsonObject } from '#runtime/json';
import { codeFileName } from '../code/code-forms.js';
import { isFailureReason, isLogLine, isTouchable } from '../result-guards.js';
import { deepestNesting, isNestedDeeper } from '../nesting.js';
import type { LogLine, SandboxFailure, Touchable } from '../sandbox.js';

/** `stack` is what the engine wrote of a failure: it decides which kind of failure that was. */
export type GuestResult = {
  readonly values: JsonObject;
  readonly logs: readonly LogLine[];
  readonly stack?: string;
  readonly touched?: readonly Touchable[];
} & (
  | { readonly ok: true; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly failure: SandboxFailure }
);

const frame = new RegExp(`${codeFileName.replace('.', '\\.')}:(\\d{1,7}):(\\d{1,7})`);
/** A syntax error that the engine found before anything ran has a place, and no function around it. */
const compileTimeFrame = new RegExp(`^\\s*at ${codeFileName.replace('.', '\\.')}:\\d+:\\d+\\s*$`);

/** The first place in the user's own code; the source that runs has one line before it. */
export function placeIn(stack: string): { line: number; column: number } | null {
  const match = frame.exec(stack);
  if (match === null) return null;
  return { line: Math.max(1, Number(match[1]) - 1), column: Math.max(1, Number(match[2])) };
}

/** The innermost function that ran, as the engine writes it. */
export function topFrame(stack: string): string {
  return stack.split('\n', 1)[0] ?? '';
}

/** Whether it is the user's own, and not one of the engine's or of the page's. */
export function isUserFrame(stackFrame: string): boolean {
  return frame.test(stackFrame);
}

export function isCompileTimeStack(stack: string): boolean {
  return compileTimeFrame.test(stack);
}

/** The guest keeps to these as well, unless the code broke what it cuts texts with. */
const longestMessage = 2_001;
const longestStack = 4_000;

function clipped(text: unknown, length: number): string | null {
  return typeof text === 'string' ? text.slice(0, length) : null;
}

/** What is nested too deeply to be recorded; null: nothing is. */
function nestingFailure({ state, value }: JsonObject, isValueLeftOut: boolean): SandboxFailure | null {
  const isTooDeep = `nested deeper than ${deepestNesting} levels.`;
  if (isValueLeftOut) return { reason: 'output_limit', message: `The code reported a value that is ${isTooDeep}` };
  if (isNestedDeeper(state, deepestNesting)) {
    return { reason: 'state_limit', message: `page.state is ${isTooDeep}` };
  }
  if (!isNestedDeeper(value, deepestNesting)) return null;
  return { reason: 'output_limit', message: `The code returned a value that is ${isTooDeep}` };
}

/** JSON that came out of the sandbox; what is malformed counts as a failure of the code, which must have tampered. */
export function readGuestResult(text: string): GuestResult {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = null;
  }
  const tampered: GuestResult = {
    ok: false,
    values: {},
    logs: [],
    failure: { reason: 'threw', message: 'The code broke the built-ins that its result is written with.' },
  };
  if (!isJsonObject(read) || !isJsonObject(read['values']) || !Array.isArray(read['logs'])) return tampered;
  const reported = Object.entries(read['values']);
  const kept = reported.filter(([, value]) => !isNestedDeeper(value, deepestNesting));
  const values = Object.fromEntries(kept);
  const logs = read['logs'].filter(isLogLine).map(({ level, message }) => ({ level, message }));
  const marks = read['touched'];
  const touched = Array.isArray(marks) && marks[0] === '' ? { touched: marks.slice(1).filter(isTouchable) } : {};
  if (read['ok'] === true) {
    const failure = nestingFailure(read, kept.length < reported.length);
    return failure === null
      ? { ok: true, values, logs, ...touched, answer: read }
      : { ok: false, values, logs, ...touched, failure };
  }
  const { reason } = read;
  const [message, stack] = [clipped(read['message'], longestMessage), clipped(read['stack'], longestStack)];
  if (!isFailureReason(reason) || message === null || stack === null) return tampered;
  return { ok: false, values, logs, ...touched, stack, failure: { reason, message, ...placeIn(stack) } };
}
