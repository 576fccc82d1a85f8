import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  fetchOfCondition,
  notifyOnOfCondition,
  printCondition,
  readCondition,
  withLast,
  withoutPart,
  type Joined,
} from './condition.js';
import { sentences } from './sentence.kit.js';
import type { Sentence } from './sentence.js';

const joined: fc.Arbitrary<Joined> = fc.record({
  kind: fc.constantFrom('all' as const, 'any' as const),
  parts: fc.array(
    sentences.filter(({ kind }) => kind !== 'changes'),
    { minLength: 2, maxLength: 4 },
  ),
});

const price: Sentence = { kind: 'number', selector: '.price', locale: '', compare: 'below', limit: 40 };
const stock: Sentence = { kind: 'pageSays', text: 'in stock', isNegated: false };
const news: Sentence = { kind: 'newItem', selector: 'li' };

describe('sentences that are joined', () => {
  it('are read back from the code that they print', () => {
    fc.assert(fc.property(joined, (condition) => expect(readCondition(printCondition(condition))).toEqual(condition)));
  });

  it('are not read from code that was changed by hand, by a single blank', () => {
    fc.assert(fc.property(joined, (condition) => expect(readCondition(`${printCondition(condition)} `)).toBeNull()));
  });

  it('report and remember under names of their own, but for those of texts', () => {
    const says: Sentence = { kind: 'appears', selector: "[data-of='page.state.seen']", isGone: false };
    const code = printCondition({ kind: 'all', parts: [news, news, says] });
    expect([...code.matchAll(/page\.state\.(\w+) = /g)].map(([, name]) => name)).toEqual(['seen', 'seen2']);
    expect([...code.matchAll(/page\.report\('(\w+)'/g)].map(([, name]) => name)).toEqual(['value', 'value2']);
    expect(code).toContain("page.state.seen\\'");
  });

  it('ask for the policy of an event where one of them is an event, and for every status where one asks for it', () => {
    expect(notifyOnOfCondition({ kind: 'all', parts: [price, stock] })).toBe('became_true');
    expect(notifyOnOfCondition({ kind: 'any', parts: [price, news] })).toBe('every_true');
    expect(fetchOfCondition({ kind: 'any', parts: [price, { kind: 'status', status: 404 }] })).toEqual({
      acceptStatus: ['2xx', '3xx', '4xx', '5xx'],
    });
  });

  it('stand alone again where all but one are taken away, and are picked for by the last', () => {
    const both: Joined = { kind: 'all', parts: [price, stock] };
    expect(withoutPart(both, 1)).toEqual(price);
    expect(withLast(both, news)).toEqual({ kind: 'all', parts: [price, news] });
    expect(withLast(price, news)).toEqual(news);
  });
});
