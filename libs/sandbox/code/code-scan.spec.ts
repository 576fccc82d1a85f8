import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { faultOf, formOf, runnableCode } from './code-forms.js';
import { afterComments, functionHead, trailingSemicolonAt } from './code-scan.js';

/** What the scans stand for, as patterns: right, but quadratic and worse. */
const patterns = {
  comments: /^(?:\s+|\/\/[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/,
  head: /^(async\s+)?function\s*(\*?)\s*[^\s(*]*\s*(?=\()/,
  semicolon: /(?:\s*;)+\s*(?:\/\/[^\n]*\s*)?$/,
};

const piece = fc.constantFrom(
  'async',
  'function',
  '*',
  '(',
  ')',
  '/*',
  '*/',
  '//',
  '/',
  ';',
  ' ',
  '\n',
  '\t',
  '\u2028',
  '\ufeff',
  'a',
  "'",
  '=>',
);
const code = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
const runs = { numRuns: 3_000 };

const large = 200_000;
const repeated = (text: string): string => text.repeat(large / text.length);
const hostile: readonly (readonly [string, string])[] = [
  ['comments that never close', repeated('/*')],
  ['comments of no length', repeated('/**/')],
  ['comments of a line', repeated('//\n')],
  ['quotation marks and backslashes', repeated("'\\")],
  ['templates that never close', repeated('`${')],
  ['backquotes', repeated('`')],
  ['spaces', `${repeated(' ')}x`],
  ['new lines', `${repeated('\n')}x`],
  ['new lines at the end', `x${repeated('\n')}`],
  ['semicolons', `${repeated(';')}x`],
  ['semicolons between spaces', `${repeated('; ')}x`],
  ['comments behind semicolons', `${repeated(';//')}\nx`],
  ['spaces behind a function', `function${repeated(' ')}x`],
  ['stars between spaces behind a function', `function${repeated(' *')}x`],
  ['spaces behind async', `async${repeated(' ')}x`],
  ['a name without a bracket', `function ${repeated('a')}`],
  ['brackets', repeated('(')],
  ['names', `${repeated('a')} `],
  ['words that wait', repeated('await ')],
];

describe('the code reader', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('skips the white space and comments that a pattern would skip', () => {
    fc.assert(
      fc.property(code, (text) => {
        expect(afterComments(text)).toBe(patterns.comments.exec(text)?.[0].length ?? 0);
      }),
      runs,
    );
  });

  it('finds the head of a function where a pattern would find it', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'function', 'async function'), code, (start, rest) => {
        const found = patterns.head.exec(start + rest);
        const expected = found && {
          isAsync: found[1] !== undefined,
          isGenerator: found[2] === '*',
          end: found[0].length,
        };
        expect(functionHead(start + rest, 0)).toEqual(expected);
      }),
      runs,
    );
  });

  it('finds the semicolons at the end that a pattern would find', () => {
    fc.assert(
      fc.property(code, fc.constantFrom('', ';', '; // a', ';\n//b\n ', ' ;; '), (start, end) => {
        expect(trailingSemicolonAt(start + end)).toBe(patterns.semicolon.exec(start + end)?.index ?? -1);
      }),
      runs,
    );
  });

  it.each(hostile)('looks at each character a fixed number of times: %s', (_name, text) => {
    const reads = jest.spyOn(String.prototype, 'charAt');
    const compiled: string[] = [];
    const compiles = (source: string): boolean => {
      compiled.push(source);
      return false;
    };
    expect(formOf(text, compiles)).toBeNull();
    for (const form of ['function', 'body', 'script'] as const) runnableCode(text, form, compiles);
    expect(faultOf(text).line).toBeGreaterThan(0);
    expect(reads.mock.calls.length).toBeLessThan(30 * text.length);
    expect(compiled.length).toBeLessThan(20);
  });

  it('says no more of a fault than a message may hold', () => {
    const name = 'a'.repeat(10_000);
    expect(faultOf(`let ${name}; let ${name};`).message.length).toBeLessThan(2_100);
  });
});
