import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { AppError } from '#runtime/errors';
import { pageParameters, singleParameters } from './parameters.js';
import { validated } from './validation.js';

function refusal(act: () => unknown): unknown {
  try {
    act();
    return 'accepted';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { reason: error.reason, message: error.message, details: error.details };
  }
}

const schema = z.strictObject({
  name: z.string().min(1).max(5),
  count: z.int().min(1).max(9).optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  kind: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('one'), intervalSeconds: z.int() }),
    z.strictObject({ type: z.literal('two') }),
  ]),
  headers: z.record(z.string().regex(/^[a-z]+$/, { error: 'must be a header name' }), z.string()).optional(),
});
const both = z
  .strictObject({
    one: z.int().optional(),
    two: z
      .string()
      .regex(/^[^:]*$/, { error: 'cannot have a colon' })
      .optional(),
  })
  .refine(({ one, two }) => one !== undefined || two !== undefined, { error: 'needs one or two' });
const good = { name: 'abc', kind: { type: 'two' } };

describe('validation', () => {
  it.each([
    [{ ...good, name: undefined }, 'name_required', 'name', 'is required'],
    [{ ...good, name: '' }, 'name_required', 'name', 'must not be empty'],
    [{ ...good, name: 'abcdef' }, 'name_too_long', 'name', 'must have at most 5 characters'],
    [{ ...good, name: null }, 'name_wrong_type', 'name', 'must be a string'],
    [{ ...good, count: 0 }, 'count_too_small', 'count', 'must be at least 1'],
    [{ ...good, count: 10 }, 'count_too_large', 'count', 'must be at most 9'],
    [{ ...good, count: 1.5 }, 'count_wrong_type', 'count', 'must be a whole number'],
    [{ ...good, list: [] }, 'list_too_few', 'list', 'must have at least 1 entry'],
    [{ ...good, list: ['a', 'b', 'c'] }, 'list_too_many', 'list', 'must have at most 2 entries'],
    [{ ...good, list: ['a', 1] }, 'list_wrong_type', 'list[1]', 'must be a string'],
    [{ ...good, kind: {} }, 'type_required', 'kind.type', 'is required'],
    [{ ...good, kind: { type: 'three' } }, 'type_invalid', 'kind.type', 'must be one of one, two'],
    [{ ...good, kind: { type: 'tow' } }, 'type_invalid', 'kind.type', 'must be one of one, two; perhaps two is meant'],
    [{ ...good, kind: { type: 'one' } }, 'interval_seconds_required', 'kind.intervalSeconds', 'is required'],
    [{ ...good, kind: 5 }, 'kind_wrong_type', 'kind', 'must be an object'],
    [{ ...good, headers: { 'a b': 'x' } }, 'headers_invalid', 'headers["a b"]', 'must be a header name'],
    [{ ...good, extra: 1 }, 'unknown_field', 'extra', 'is not a field; there are name, count, list, kind, headers'],
    [{ ...good, cuont: 1 }, 'unknown_field', 'cuont', 'is not a field; perhaps count is meant'],
    [{ ...good, kind: { type: 'two', extra: 1 } }, 'unknown_field', 'kind.extra', 'is not a field; there are type'],
    [
      { ...good, kind: { type: 'one', intervalSeconds: 1, intervallSeconds: 1 } },
      'unknown_field',
      'kind.intervallSeconds',
      'is not a field; perhaps intervalSeconds is meant',
    ],
    [[], 'body_wrong_type', '', 'must be an object'],
    [null, 'body_wrong_type', '', 'must be an object'],
  ])('of %j names reason, field and rule', (input, reason, field, message) => {
    const subject = field === '' ? 'The body' : field;
    expect(refusal(() => validated(schema, input, 'body'))).toMatchObject({
      reason,
      message: `${subject} ${message}.`,
      details: [{ field, message }],
    });
  });

  it('has the words of the contract, whatever they begin with', () => {
    expect(refusal(() => validated(both, {}, 'body'))).toMatchObject({ message: 'The body needs one or two.' });
    expect(refusal(() => validated(both, { two: 'a:b' }, 'body'))).toMatchObject({
      message: 'two cannot have a colon.',
    });
  });

  it('tells every fault, the first one as the reason', () => {
    const faults = refusal(() => validated(schema, { name: 1, kind: {}, one: 1, two: 2 }, 'body'));
    expect(faults).toMatchObject({
      reason: 'name_wrong_type',
      details: [{ field: 'name' }, { field: 'kind.type' }, { field: 'one' }, { field: 'two' }],
    });
  });

  it('shortens names that were not meant as names', () => {
    const faults = refusal(() => validated(schema, { ...good, ['x'.repeat(10_000)]: 1 }, 'body'));
    expect(JSON.stringify(faults).length).toBeLessThan(500);
  });
});

describe('query parameters', () => {
  const query = z.strictObject(pageParameters);

  it('have defaults', () => {
    expect(validated(query, {}, 'query')).toEqual({ page: 1, limit: 20 });
  });

  it.each(['0', '-1', '+1', '1.0', '1e3', '', ' 1', '1 ', '0x1', '01', 'NaN', 'Infinity', '9007199254740992', '٣'])(
    'page=%j is refused',
    (page) => {
      expect(refusal(() => validated(query, { page }, 'query'))).toMatchObject({ reason: 'page_invalid' });
    },
  );

  it('take the largest page there is', () => {
    expect(validated(query, { page: '9007199254740991' }, 'query').page).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('that come twice are refused', () => {
    expect(refusal(() => singleParameters({ page: ['1', '1'] }))).toMatchObject({ reason: 'repeated_parameter' });
  });
});
