import { describe, expect, it } from '@jest/globals';
import { printSentence, type Sentence } from '../new/sentence.js';
import { thresholdOf } from './threshold.js';

const selector = '.price';

describe('the threshold in a chart', () => {
  it.each<readonly [Sentence, ReturnType<typeof thresholdOf>]>([
    [
      { kind: 'number', selector, locale: 'de', compare: 'atMost', limit: 1.5 },
      { value: 1.5, compare: 'atMost' },
    ],
    [
      { kind: 'json', path: 'a.b', compare: 'exactly', limit: -3 },
      { value: -3, compare: 'exactly' },
    ],
    [
      { kind: 'count', selector, isMore: true, count: 7 },
      { value: 7, compare: 'above' },
    ],
    [
      { kind: 'certificate', days: 14 },
      { value: 14, compare: 'below' },
    ],
    [{ kind: 'changes', selector }, null],
    [{ kind: 'status', status: 404 }, null],
  ])('is the one that the sentence has: %j', (sentence, threshold) => {
    expect(thresholdOf(printSentence(sentence))).toEqual(threshold);
  });

  it('is read from code by hand that ends by comparing the value it reported', () => {
    const code = `const price = page.number('.price');\npage.report("value", price);\nreturn price >= 40`;
    expect(thresholdOf(code)).toEqual({ value: 40, compare: 'atLeast' });
  });

  it('is none where another value than the reported one is compared', () => {
    const code = `page.report('value', total);\nreturn price < 40;`;
    expect(thresholdOf(code)).toBeNull();
  });
});
