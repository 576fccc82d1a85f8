import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shapes, words } from './compact-words.js';
import { fromCompact } from './from-compact.js';
import { encodeUlid, idPrefixes } from './ids.js';
import type { Json } from './json.js';
import { toCompact } from './to-compact.js';

const hex = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'));
const id = fc
  .tuple(fc.constantFrom(...idPrefixes, 'abc'), fc.nat(2 ** 48 - 1), fc.uint8Array({ minLength: 10, maxLength: 10 }))
  .map(([prefix, epochMs, bits]) => `${prefix}_${encodeUlid(epochMs, bits)}`);
/** Texts that have a form of their own, and such as nearly have it. */
const text = fc.oneof(
  id,
  id.map((one) => one.toUpperCase()),
  id.map((one) => one.slice(-10)),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-02-30T00:00:00.000Z', '2026-11-23T24:00:00.000Z', '1969-12-31T23:59:59.999Z'),
  fc.uuid(),
  fc.tuple(id, fc.nat()).map(([one, dueMs]) => `slot.${one}.${String(dueMs).padStart(13, '0')}`),
  fc.tuple(id, fc.nat()).map(([one, dueMs]) => `slot.${one}.${1_795_465_914_001 + dueMs}`),
  hex(32),
  hex(32).map((one) => `sha256:${one}`),
  id.map((one) => `notification.requested:${one}`),
  fc.uint8Array({ minLength: 20, maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.uint8Array({ minLength: 20, maxLength: 50 }).map((bytes) => `${Buffer.from(bytes).toString('base64url')}_`),
  fc.constantFrom(...words),
  fc.string({ unit: 'binary' }),
);
const value = fc.jsonValue({ stringUnit: 'binary' });
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((one) => Math.round(one * 100) / 100),
    fc.constantFrom(null, true, false, {}, []),
    fc.array(tie('tree'), { maxLength: 6 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 6 }),
    fc
      .tuple(fc.constantFrom(...shapes), fc.array(tie('tree'), { minLength: 20, maxLength: 20 }))
      .map(([names, values]) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]))),
  ),
}));

/** Something of every form, as it was first written, behind the byte of packed JSON. */
const stored = {
  packed:
    'EBYBCwFhFR0AAgEDBAWA/weAAQgFCR4KDgZuhhvw+SEJQAacdQCIPOQ3fgsCw6kMAgDYDZSb3aHBaA3QDw58e6VjCZFe0KSrqFZzOTQ7EpABDyBsugIRkGQNV2TzeaJ4h8oQlHNIovWquqfAVgs7ebkhChEY7xV4t9kJbopRW/njrgVjSxKTARv4Ae/MkD7GdjQkNAUiAlQ2SfQ0sQNVNkn0NLEDc0e8SRcRE20LCTAgKiAqICogKkkQLSbqq+cFppCZWmljQUkcfc1ZR31Nxzc+6Dmb/41U/JsbPc5qcrRIbMDxV3PxBxNL',
  value: {
    a: [
      null,
      true,
      false,
      '',
      {},
      [],
      0,
      127,
      128,
      -5,
      1.5,
      0.07,
      3.14159,
      1e300,
      'é',
      '\ud800',
      '2026-11-23T20:31:54.058Z',
      '2026-11-23T20:31:55.058Z',
      '7c7ba563-0991-5ed0-a4ab-a8567339343b',
      'sha256:6cba021190640d5764f379a27887ca10947348a2f5aabaa7c0560b3b79b9210a',
      'slot.ntf_01m851q99tf2vxj2beh98nqyf3.1795465914001',
      'ntf_01m851q99tf2vxj2beh98nqyf3',
      'succeeded',
      'notification.requested:dlv_01m851q9rdxz690fp6ert28d05',
      ['xh6kt4jdjm', 'xh6kt4jdjn'],
      { type: 'interval', intervalSeconds: 60, catchUp: 'none' },
      { type: 'cron', cron: '0 * * * *', catchUp: 'none' },
      'Juqr5wWmkJlaaWNBSRx9zVlHfU3HNz7oOZv_jVT8mxs9zmpytEhswPFXc_EH',
      'queuedAt',
    ],
  },
};

/** As JSON has it. */
const plain = (one: unknown): Json => JSON.parse(JSON.stringify(one)) as Json;

describe('compact JSON', () => {
  it('is the same value again, its members in their order, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(tree, value), fc.array(id, { maxLength: 3 }), (one, known) => {
        const given = plain(one);
        const packed = toCompact(given, known);
        if (packed === null) return expect(JSON.stringify(given)).toMatch(/"(?:__proto__|toJSON)"/);
        expect(JSON.stringify(fromCompact(packed, known))).toBe(JSON.stringify(given));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read, and written, as it was from the first', () => {
    const packed = Buffer.from(stored.packed, 'base64').subarray(1);
    expect(fromCompact(packed)).toEqual(stored.value);
    expect(toCompact(stored.value)).toEqual(packed);
  });

  it('leaves out what JSON leaves out', () => {
    const given = { a: undefined, b: [undefined, 1] };
    expect(fromCompact(toCompact(given as unknown as Json) ?? Buffer.alloc(0))).toEqual({ b: [null, 1] });
  });

  it('has no place for what only a text of JSON can hold', () => {
    expect(toCompact(JSON.parse('{"__proto__":1}') as Json)).toBeNull();
    expect(toCompact(JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as Json)).toBeNull();
  });

  it('tells members by their names, whatever letters these have', () => {
    const given = { 'kind\nfrom': 1, to: 2 };
    expect(fromCompact(toCompact(given) ?? Buffer.alloc(0))).toEqual(given);
  });

  it('is never read as something else where it was cut', () => {
    const packed = toCompact({ price: 12.5, at: '2026-11-23T20:31:54.097Z', id: 'exe_01m851q9mhqs0mjzmxh6kt4jdj' });
    for (let length = 0; length < (packed?.length ?? 0); length += 1) {
      expect(() => fromCompact(packed?.subarray(0, length) ?? Buffer.alloc(0))).toThrow('invalid');
    }
  });

  // More is added at the ends of the lists: then a line here, and those above stay as they are.
  it.each([[[209, 33], '0835a921be56cce2f57546361c488f7bcdf4eb33ef1bdf575a45407aa5f75984']])(
    'counts on words and members that are never changed: %j',
    (ends, expected) => {
      const [ofWords, ofShapes] = ends;
      const said = JSON.stringify([words.slice(0, ofWords), shapes.slice(0, ofShapes)]);
      expect(hash('sha256', said, 'hex')).toBe(expected);
    },
  );

  it('has a number for each word and shape, and no two', () => {
    expect(words.toSorted()).toEqual([...new Set(words)].toSorted());
    const joined = shapes.map((names) => names.join());
    expect(joined.toSorted()).toEqual([...new Set(joined)].toSorted());
  });
});
