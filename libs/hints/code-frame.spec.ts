import { describe, expect, it } from '@jest/globals';
import { codeFrame } from './code-frame.js';

describe('a code frame', () => {
  it('shows the line with up to two before it, numbered, and a caret under the place', () => {
    expect(codeFrame('one\ntwo\nthree\nfour\nfive', 4, 2)).toEqual([
      '  2 | two',
      '  3 | three',
      '  4 | four',
      '    |  ^',
    ]);
  });

  it('is as wide as the largest line number', () => {
    const text = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n');
    expect(codeFrame(text, 10, 1)).toEqual(['   8 | line 8', '   9 | line 9', '  10 | line 10', '     | ^']);
  });

  it('keeps the caret under its place behind tabs and characters of two units', () => {
    const [shown = '', caret = ''] = codeFrame('\tconst 🦊 = x;', 1, 10);
    expect(shown).toBe('  1 |  const 🦊 = x;');
    expect(Array.from(shown)[caret.indexOf('^')]).toBe(' ');
    expect(Array.from(shown)[caret.indexOf('^') + 1]).toBe('=');
  });

  it('shows the part of a long line that the place is in', () => {
    const [shown = '', caret = ''] = codeFrame(`${'a'.repeat(10_000)}!${'b'.repeat(10_000)}`, 1, 10_001);
    expect(shown.length).toBeLessThan(120);
    expect(shown[caret.indexOf('^')]).toBe('!');
  });

  it('moves no cursor with what stands in the code', () => {
    expect(codeFrame('a\u001b[2Jb\u202ec', 1, 1).join('')).not.toMatch(/[\u001b\u202e]/);
  });

  it('shows nothing where the text has no such line', () => {
    expect(codeFrame('one', 2, 1)).toEqual([]);
    expect(codeFrame('one', 0, 1)).toEqual([]);
  });

  it('points behind the end where the text ended too early', () => {
    expect(codeFrame('return (', 1, 9)).toEqual(['  1 | return (', '    |         ^']);
  });
});
