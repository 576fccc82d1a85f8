import { describe, expect, it } from '@jest/globals';
import { kindOf, textOfValue, valueOfText } from './field-kinds.js';

describe('a form made from the schema of settings', () => {
  it('asks for each field by its type', () => {
    expect(kindOf({ type: 'string', maxLength: 100 })).toBe('text');
    expect(kindOf({ type: 'string', maxLength: 65_536 })).toBe('long');
    expect(kindOf({ type: 'integer' })).toBe('number');
    expect(kindOf({ type: 'boolean' })).toBe('boolean');
    expect(kindOf({ enum: ['text', 'html'] })).toBe('choice');
    expect(kindOf({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })).toBe('list');
    expect(kindOf({ type: 'object', additionalProperties: { type: 'string' } })).toBe('map');
    expect(kindOf({ type: 'array', items: { type: 'object' } })).toBe('json');
  });

  it('reads back what it shows', () => {
    for (const [kind, value] of [
      ['list', ['a@b.example', 'c@d.example']],
      ['map', { 'X-Token': 'a:b', Accept: 'text/html' }],
      ['number', 5],
      ['text', 'hello'],
      ['json', { a: [1] }],
    ] as const) {
      expect(valueOfText(kind, textOfValue(kind, value))).toEqual(value);
    }
  });

  it('leaves an empty field out', () => {
    expect(valueOfText('text', '')).toBeUndefined();
    expect(valueOfText('list', '')).toBeUndefined();
  });
});
