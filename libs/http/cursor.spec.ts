import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor.js';
import { entityTag, expectedRevision } from './entity-tag.js';

describe('a cursor', () => {
  it('comes back as it was given', () => {
    const value = fc.oneof(fc.string({ maxLength: 200 }), fc.integer());
    fc.assert(
      fc.property(fc.record({ value, id: fc.string({ maxLength: 100 }) }), (cursor) => {
        expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  it('is empty to begin', () => {
    expect(decodeCursor('')).toBeNull();
  });

  it('that no list gave is refused by name', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        try {
          const cursor = decodeCursor(text);
          expect(cursor === null ? '' : encodeCursor(cursor)).toBe(text);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'after_invalid' });
        }
      }),
    );
  });
});

describe('the If-Match header of a request', () => {
  it('takes one strong tag, or any by *', () => {
    expect(expectedRevision(undefined)).toBeNull();
    expect(expectedRevision('*')).toBeNull();
    expect(expectedRevision(entityTag(12))).toBe(12);
  });

  it.each(['', '12', 'W/"12"', '"1","2"', '"01"', '"-1"', '"1e3"', '"', '"9999999999999999"'])('refuses %j', (tag) => {
    expect(() => expectedRevision(tag)).toThrow('If-Match');
  });
});
