import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AppError } from '#runtime/errors';
import { parseJsonBody } from './json-body.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);

function reasonOf(input: Uint8Array): string {
  try {
    parseJsonBody(input);
    return 'accepted';
  } catch (error) {
    return error instanceof AppError ? error.reason : `threw ${String(error)}`;
  }
}

describe('a JSON body', () => {
  it('gives what JSON.parse gives for everything that is unambiguous', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const expected: unknown = JSON.parse(text);
        if (text.includes('__proto__')) return;
        expect(parseJsonBody(bytes(text))).toEqual(expected);
      }),
    );
  });

  it('never fails in any other way than by name', () => {
    const named = /^(accepted|malformed_json|duplicate_field|too_deep|too_many_values|malformed_text|unknown_field)$/;
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (input) => expect(reasonOf(input)).toMatch(named)));
    const tokens = fc.constantFrom('{', '}', '[', ']', ':', ',', '"a"', '"a":', '\\', '"', '1e999', 'null', '\u0000');
    fc.assert(
      fc.property(fc.array(tokens), (parts) => expect(reasonOf(bytes(parts.join('')))).toMatch(named)),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['', 'accepted'],
    ['\ufeff{}', 'accepted'],
    ['{"a":{"b":1},"c":{"b":1}}', 'accepted'],
    ['[{"a":1},{"a":2}]', 'accepted'],
    ['{"a":"{\\"a\\":1,\\"a\\":2}"}', 'accepted'],
    ['{"a":["a","a"],"b":"a"}', 'accepted'],
    ['{"a":1,"b":{"c":1,"c":2}}', 'duplicate_field'],
    ['{"a":[{}],"a":1}', 'duplicate_field'],
    ['{"\\u0061":1,"a":2}', 'duplicate_field'],
    ['{"a":{"__proto__":1}}', 'unknown_field'],
    ['{"\\ud800":1}', 'accepted'],
    ['["\\udc00"]', 'malformed_text'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, 'too_deep'],
    [`${'['.repeat(500_000)}`, 'malformed_json'],
    ['{"a":NaN}', 'malformed_json'],
    ["{'a':1}", 'malformed_json'],
    ['{"a":1}x', 'malformed_json'],
  ])('%j is %s', (text, reason) => {
    expect(reasonOf(bytes(text))).toBe(reason);
  });

  it('of more than 20,000 values is refused', () => {
    expect(reasonOf(bytes(`[${'1,'.repeat(19_998)}1]`))).toBe('accepted');
    expect(reasonOf(bytes(`[${'1,'.repeat(19_999)}1]`))).toBe('too_many_values');
    expect(reasonOf(bytes(`{"a":[${'{"b":[]},'.repeat(9_999)}1]}`))).toBe('too_many_values');
  });

  it('that is not UTF-8 is refused', () => {
    expect(reasonOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe('malformed_json');
    expect(reasonOf(Buffer.from('{"a":1}', 'utf16le'))).toBe('malformed_json');
  });

  it('is refused by place, without repeating what it holds', () => {
    expect(() => parseJsonBody(bytes('{\n  "a": 1 "b": 2\n}'))).toThrow(/line 2, column 10/);
    expect(() => parseJsonBody(bytes('{\n  "password": hunter2\n}'))).not.toThrow(/hunter2/);
  });
});
