import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#runtime/json';
import { initialAlert } from './alert.js';
import { aContext, findingAt } from './alert.kit.js';
import { decideAlert } from './alert.js';

/** Runs in a row with these values (null: a run that failed); what each decision was. */
function play(values: readonly (JsonObject | null)[], codeRevisions: readonly number[] = []) {
  let alert = initialAlert;
  return values.map((reported, at) => {
    const codeRevision = codeRevisions[at] ?? 0;
    const found = findingAt(at * 60, reported === null ? null : false, {
      values: { ...reported },
    });
    const decided = decideAlert(alert, found, aContext({}, { codeRevision }));
    ({ alert } = decided);
    return decided;
  });
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const lostIn = (decided: ReturnType<typeof play>) => decided.map(({ lost }) => lost);

describe('a value that is a number run after run', () => {
  it('is missed from the eleventh run on, not before', () => {
    expect(lostIn(play([...times(10, { price: 5 }), {}])).at(-1)).toBe('price');
    expect(lostIn(play([...times(9, { price: 5 }), {}, {}]))).toEqual(times(11, null));
  });

  it('that is a text, null or not there is an error, until it is a number again', () => {
    const decided = play([
      ...times(10, { price: 5 }),
      { price: 'sold out' },
      { price: null },
      {},
      { price: 4 },
      { price: 4 },
    ]);
    expect(lostIn(decided).slice(10)).toEqual(['price', 'price', 'price', null, null]);
    expect(decided[12]?.alert.health).toBe('error');
    expect(decided[12]?.decision.reason).toBe('error_threshold');
    expect(decided[13]?.decision.reason).toBe('recovered');
  });

  it.each(['constructor', 'toString'])('is counted under the name %s as under any other', (name) => {
    expect(play([{ [name]: 5 }, { [name]: 6 }]).at(-1)?.alert.numbers).toEqual({ [name]: 2 });
    expect(lostIn(play([...times(10, { [name]: 5 }), {}])).at(-1)).toBe(name);
  });

  it('is not asked of a run that failed, which neither counts nor forgets', () => {
    const decided = play([...times(9, { price: 5 }), null, { price: 5 }, {}]);
    expect(lostIn(decided)).toEqual([...times(11, null), 'price']);
  });

  it('is forgotten when the code changes', () => {
    expect(lostIn(play([...times(10, { price: 5 }), {}], [...times(10, 0), 3])).at(-1)).toBeNull();
  });

  it('is one of several, of which each is missed by itself', () => {
    const decided = play([...times(4, { a: 1 }), ...times(8, { a: 1, b: 2 }), { a: 1 }, { b: 2 }]);
    expect(lostIn(decided).slice(-2)).toEqual([null, 'a']);
  });

  it('is expected of twenty names at most', () => {
    const many = Object.fromEntries(times(30, 0).map((_, at) => [`n${at}`, at]));
    const { n25: _missing, ...rest } = many;
    expect(lostIn(play([...times(12, many), rest])).at(-1)).toBeNull();
    expect(Object.keys(play(times(3, many)).at(-1)?.alert.numbers ?? {})).toHaveLength(20);
  });
});
