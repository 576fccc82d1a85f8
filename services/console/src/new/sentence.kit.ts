/** Any sentence, for properties. */
import fc from 'fast-check';
import type { Sentence } from './sentence.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((one) => one.toLowerCase() === one);
const selector = fc.oneof(fc.constantFrom('.price', '#a > b', `[data-x='1']`, 'a[title="x\\"y"]'), text);
const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((one) => !Object.is(one, -0));
const compare = fc.constantFrom('below', 'above', 'atMost', 'atLeast', 'exactly' as const);
const locale = fc.constantFrom('', 'de', 'en');
const isNegated = fc.boolean();

export const sentences: fc.Arbitrary<Sentence> = fc.oneof(
  fc.record({ kind: fc.constant('number' as const), selector, locale, compare, limit: number }),
  fc.record({ kind: fc.constant('numberChanges' as const), selector, locale, by: number, isPercent: fc.boolean() }),
  fc.record({ kind: fc.constant('says' as const), selector, text, isNegated }),
  fc.record({ kind: fc.constant('matches' as const), selector, pattern: text }),
  fc.record({ kind: fc.constant('appears' as const), selector, isGone: fc.boolean() }),
  fc.record({ kind: fc.constant('changes' as const), selector }),
  fc.record({ kind: fc.constant('newText' as const), selector, text }),
  fc.record({ kind: fc.constant('newItem' as const), selector }),
  fc.record({ kind: fc.constant('count' as const), selector, isMore: fc.boolean(), count: fc.nat() }),
  fc.record({ kind: fc.constant('pageSays' as const), text, isNegated }),
  fc.record({ kind: fc.constant('json' as const), path: fc.constantFrom('price', 'a.b.0.c'), compare, limit: number }),
  fc.record({ kind: fc.constant('status' as const), status: fc.integer({ min: 100, max: 599 }) }),
  fc.record({ kind: fc.constant('certificate' as const), days: fc.nat() }),
);
