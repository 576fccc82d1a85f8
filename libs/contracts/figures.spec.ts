import { describe, expect, it } from '@jest/globals';
import { addedFigures, noFigures, withRun, type CountedRun, type Stretch } from './figures.js';

const hour = '2026-01-05T10:00:00.000Z';

const runWith = (values: CountedRun['result']['values']): CountedRun => ({
  result: {
    status: 'succeeded',
    outcome: true,
    timings: { queueMs: 1, fetchMs: 1, parseMs: 1, evaluateMs: 1 },
    values,
    finishedAt: hour,
  },
  decision: { notify: false, reason: 'still_true', transition: null },
  alert: { condition: 'true' },
});

const begun: Stretch = { figures: noFigures, counted: null };

describe('the figures of values', () => {
  it.each(['toString', 'constructor', 'hasOwnProperty', 'valueOf'])(
    'are counted under the name %s as under any other, whatever every object inherits',
    (name) => {
      const twice = (value: number | string) =>
        withRun(withRun(begun, runWith({ [name]: value }), hour), runWith({ [name]: value }), hour).figures;
      const [texts, numbers] = [twice('in stock'), twice(5)];
      expect(texts.texts).toEqual({
        [name]: { changes: [{ at: hour, value: 'in stock' }], last: 'in stock', more: 0 },
      });
      expect(numbers.numbers).toMatchObject({ [name]: { count: 2, sum: 10, first: { value: 5 } } });
      expect(addedFigures(noFigures, texts).texts).toEqual(texts.texts);
      expect(addedFigures(numbers, noFigures).numbers).toEqual(numbers.numbers);
      expect(addedFigures(numbers, numbers).numbers).toMatchObject({ [name]: { count: 4 } });
    },
  );

  it('of more names than are counted leave out one that every object inherits', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, index]));
    expect(withRun(begun, runWith({ ...many, toString: 1 }), hour).figures.numbers).not.toHaveProperty([
      'toString',
      'sum',
    ]);
  });
});
