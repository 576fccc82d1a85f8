/**
 * How code is read: which of the three forms it has, decided by compiling alone, and the source that runs it.
 *
 * A wrapper that code may close early (`}); evil(); (function () {`) proves nothing, so two must hold it at once whose
 * ends differ: the first closing bracket that belongs to the wrapper cannot fit both.
 */
import { Script } from 'node:vm';
import {
  afterComments,
  closingBracket,
  functionHead,
  trailingSemicolonAt,
  withoutTrailingSemicolon,
} from './code-scan.js';
import type { CheckedCode, CodeForm } from '../sandbox.js';

/** The name under which the engine reports places in the user's code. */
export const codeFileName = 'evaluation.js';

/** Whether the engine compiles a source as a script, with `await` at its top where `isAsync`. */
export type Compiles = (source: string, isAsync: boolean) => boolean;

export interface RunnableCode {
  /** The user's text starts on the second line, so columns are the user's own and lines are one more. */
  readonly source: string;
  readonly isAsyncScript: boolean;
}

const mayAwait = /\bawait\b/;
/** Waiting for a value, or in code that is not asynchronous a call, a member, a sum of something named `await`. */
const awaitsOrNames = /\bawait\s*[([`+\-/]/;

function startsAsArrow(code: string): boolean {
  const head = code.slice(afterComments(code)).replace(/^async(?=[\s(])[^\S\n]*/, '');
  if (head.startsWith('(')) {
    const end = closingBracket(head, 0);
    return end > 0 && head.startsWith('=>', afterComments(head, end + 1));
  }
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*\s*=>/u.test(head);
}

/** The one function expression that the code is, without a trailing semicolon; null where it is something else. */
function functionExpression(code: string, compiles: Compiles): string | null {
  const classic = functionHead(code, afterComments(code));
  if (classic === null && !startsAsArrow(code)) return null;
  for (const candidate of new Set([code, withoutTrailingSemicolon(code)])) {
    if (!compiles(`(0 ?\n${candidate}\n: 0)`, false) || !compiles(`[0 ?\n${candidate}\n: 0]`, false)) continue;
    if (classic === null) return candidate;
    // As a method it can have nothing after its body: no call, no member, no operator.
    const rest = candidate.slice(classic.end);
    const words = `${classic.isAsync ? 'async ' : ''}${classic.isGenerator ? '*' : ''}`;
    if (compiles(`({ ${words}m\n${rest}\n})`, false)) return candidate;
  }
  return null;
}

function isBody(code: string, compiles: Compiles, isAsync: boolean): boolean {
  const word = isAsync ? 'async ' : '';
  return compiles(`({ ${word}m() {\n${code}\n} })`, false) && compiles(`${word}function m() {\n${code}\n}`, false);
}

/** The form of the code, null if it has none. */
export function formOf(code: string, compiles: Compiles): CodeForm | null {
  if (functionExpression(code, compiles) !== null) return 'function';
  if (compiles(`\n${code}`, false)) return 'script';
  if (isBody(code, compiles, false)) return 'body';
  if (!mayAwait.test(code)) return null;
  if (compiles(`\n${code}`, true)) return 'script';
  return isBody(code, compiles, true) ? 'body' : null;
}

/** Whether the code is to be read as asynchronous: where it can only be that, and where it would else call what nobody has. */
function waits(code: string, compilesAs: (word: '' | 'async ') => boolean): boolean {
  if (!mayAwait.test(code)) return false;
  return !compilesAs('') || (awaitsOrNames.test(code) && compilesAs('async '));
}

export function runnableCode(code: string, form: CodeForm, compiles: Compiles): RunnableCode {
  switch (form) {
    case 'function': {
      const isWhole = trailingSemicolonAt(code) === -1 || compiles(`(\n${code}\n)`, false);
      return { source: `(\n${isWhole ? code : withoutTrailingSemicolon(code)}\n)`, isAsyncScript: false };
    }
    case 'body': {
      const isAsync = waits(code, (word) => compiles(`(${word}function () {\n${code}\n})`, false));
      return { source: `(${isAsync ? 'async ' : ''}function () {\n${code}\n})`, isAsyncScript: false };
    }
    case 'script':
      return {
        source: `\n${code}`,
        isAsyncScript: waits(code, (word) => compiles(`\n${code}`, word !== '')),
      };
  }
}

interface Fault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** It may name what the code holds, however long that is. */
const longestMessage = 2_000;

function clipped(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

/**
 * What V8's parser says of a source that the engine refused. The engine decides what is accepted, but names a place only
 * roughly; Node's own parser, which runs nothing here, names it exactly and in the words that people know.
 */
function parserFault(source: string): Fault | null {
  try {
    void new Script(source, { filename: codeFileName });
    return null;
  } catch (thrown) {
    const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
    const message = clipped(thrown instanceof Error ? thrown.message : String(thrown));
    const lines = stack.split('\n');
    const line = Number(/:(\d+)$/.exec(lines[0] ?? '')?.[1] ?? 2);
    const caret = (lines[2] ?? '').indexOf('^');
    return { message, line: line - 1, column: Math.max(1, caret + 1) };
  }
}

/** A place inside the user's text: the parser may stop in what was put around it. */
function withinCode(fault: Fault, code: string): Fault {
  const lines = code.split(/\r\n|[\n\r\u2028\u2029]/);
  if (fault.line < 1) return { ...fault, line: 1, column: 1 };
  const last = lines.at(-1) ?? '';
  // What stands there was put around the code, and is no word of the user's.
  if (fault.line > lines.length) {
    return { message: 'the code ends too early', line: lines.length, column: last.length + 1 };
  }
  return fault;
}

/** The sentence and place for code that has no form: of all readings, the one that got furthest. */
export function faultOf(code: string): Fault {
  const readings = [`\n${code}`, `(async function () {\n${code}\n})`];
  if (functionHead(code, afterComments(code)) !== null || startsAsArrow(code)) readings.push(`(\n${code}\n)`);
  let furthest: Fault | null = null;
  for (const reading of readings) {
    const found = parserFault(reading);
    if (found === null) continue;
    const fault = withinCode(found, code);
    const isFurther =
      furthest === null ||
      fault.line > furthest.line ||
      (fault.line === furthest.line && fault.column > furthest.column);
    if (isFurther) furthest = fault;
  }
  return furthest ?? { message: 'The code is not valid JavaScript.', line: 1, column: 1 };
}

export function checkCode(code: string, compiles: Compiles): CheckedCode {
  const form = formOf(code, compiles);
  return form === null ? { ok: false, ...faultOf(code) } : { ok: true, form };
}
