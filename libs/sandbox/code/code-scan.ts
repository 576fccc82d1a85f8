/**
 * How code begins and ends, read character by character. Each scan looks at a character a fixed number of times: code is
 * up to 200 KB of anything, and a pattern that may begin anywhere, or that has several ways to match, goes quadratic on it.
 */

const isSpace = (character: string): boolean => character !== '' && character.trim() === '';

function afterSpaces(code: string, from: number): number {
  let at = from;
  while (isSpace(code.charAt(at))) at += 1;
  return at;
}

/** Where white space and comments that stand at `from` end; a comment that is not closed is none. */
export function afterComments(code: string, from = 0): number {
  for (let at = afterSpaces(code, from); ; at = afterSpaces(code, at)) {
    if (code.charAt(at) !== '/') return at;
    const mark = code.charAt(at + 1);
    if (mark !== '/' && mark !== '*') return at;
    const end = code.indexOf(mark === '/' ? '\n' : '*/', at + 2);
    if (end === -1) return mark === '/' ? code.length : at;
    at = end + (mark === '/' ? 1 : 2);
  }
}

/** Where the bracket opened at `start` closes, -1 if it does not. Knows strings and comments, which is what parameters hold. */
export function closingBracket(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const mark = code.charAt(at);
    if (mark === '(' || mark === '[' || mark === '{') depth += 1;
    else if (mark === ')' || mark === ']' || mark === '}') {
      depth -= 1;
      if (depth === 0) return at;
    } else if (mark === '"' || mark === "'" || mark === '`') {
      for (at++; at < code.length && code.charAt(at) !== mark; at++) if (code.charAt(at) === '\\') at++;
    } else if (mark === '/' && code.charAt(at + 1) === '/') {
      while (at < code.length && code.charAt(at) !== '\n') at++;
    } else if (mark === '/' && code.charAt(at + 1) === '*') {
      at = code.indexOf('*/', at + 2) + 1;
      if (at === 0) return -1;
    }
  }
  return -1;
}

export interface FunctionHead {
  readonly isAsync: boolean;
  readonly isGenerator: boolean;
  /** Where the bracket of its parameters stands. */
  readonly end: number;
}

/** `async function * name (` at `from`; null: something else is there. */
export function functionHead(code: string, from: number): FunctionHead | null {
  const afterAsync = code.startsWith('async', from) ? afterSpaces(code, from + 5) : from;
  const isAsync = afterAsync > from + 5;
  const word = isAsync ? afterAsync : from;
  if (!code.startsWith('function', word)) return null;
  let at = afterSpaces(code, word + 8);
  const isGenerator = code.charAt(at) === '*';
  if (isGenerator) at = afterSpaces(code, at + 1);
  while (at < code.length && !isSpace(code.charAt(at)) && code.charAt(at) !== '(' && code.charAt(at) !== '*') at += 1;
  const end = afterSpaces(code, at);
  return code.charAt(end) === '(' ? { isAsync, isGenerator, end } : null;
}

/** Where the semicolons begin that the code ends with, a comment of one line behind them or not; -1: it ends with none. */
export function trailingSemicolonAt(code: string): number {
  const end = code.trimEnd().length;
  if (end === 0) return -1;
  const lineStart = code.lastIndexOf('\n', end - 1) + 1;
  // Behind the last character that is no white space, before the place that is looked at.
  let before = code.slice(0, lineStart).trimEnd().length;
  for (let at = lineStart; at < end; at++) {
    const mark = code.charAt(at);
    if (mark === '/' && code.charAt(at + 1) === '/' && code.charAt(before - 1) === ';') break;
    if (!isSpace(mark)) before = at + 1;
  }
  if (code.charAt(before - 1) !== ';') return -1;
  let start = before;
  while (start > 0 && (code.charAt(start - 1) === ';' || isSpace(code.charAt(start - 1)))) start -= 1;
  return start;
}

/** The code without the semicolons that it ends with. */
export function withoutTrailingSemicolon(code: string): string {
  const at = trailingSemicolonAt(code);
  return at === -1 ? code : code.slice(0, at);
}
