import { describe, expect, it } from '@jest/globals';
import { cursorList, data, list } from './envelope.js';
import { encodeJson } from './encode-json.js';

describe('an answer as JSON text', () => {
  it.each([
    ['one thing', data({ id: 'ntf_1', text: '"\\\u2028' })],
    ['a list', list([{ a: 1 }, { b: [null, true] }], { page: 1, limit: 20 }, 2)],
    ['an empty list', list([], { page: 3, limit: 20 }, 2)],
    ['a list by cursor', cursorList([{ a: 1 }], 'next')],
    ['a list at its end', cursorList([{ a: 'x' }], null)],
    ['a list inside of one answer', data([{ a: 1 }, 'b', 3])],
  ])('is what JSON.stringify gives: %s', async (_, { body }) => {
    expect(await encodeJson(body as object)).toBe(JSON.stringify(body));
  });

  it('lets other work run between the items of a long list', async () => {
    const text = 'x'.repeat(400_000);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const items = Array.from({ length: 20 }, () => ({ text }));
    const encoded = await encodeJson(list(items, { page: 1, limit: 20 }, 20).body as object);
    isOver = true;
    expect(encoded.length).toBeGreaterThan(8_000_000);
    expect(turns).toBeGreaterThan(5);
  });
});
