import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createDecoder } from './decoder.js';
import type { Decoder } from './decoder.js';
import { toUtf8 } from './encoding.js';

const megabyte = 1024 * 1024;

/** Bytes of all values, in no order. */
function mixed(byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  for (let at = 0, state = 1; at < byteLength; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
}

const encodings = [
  'gb18030',
  'utf-16le',
  'utf-16be',
  'iso-2022-jp',
  'x-user-defined',
  'big5',
  'euc-jp',
  'shift_jis',
  'euc-kr',
  'windows-1252',
  'koi8-u',
  'utf-8',
];

describe('the decoder of pages', () => {
  let decoder: Decoder;
  beforeEach(() => {
    decoder = createDecoder();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await decoder.close();
  });

  it.each(encodings)(
    'gives a large body in %s as it gives a small one, and decodes none of it here',
    async (encoding) => {
      const bytes = mixed(2 * megabyte + 1);
      const expected = toUtf8(bytes, 'text', encoding);
      const decoding = jest.spyOn(TextDecoder.prototype, 'decode');
      const text = await decoder.decode(bytes, 'text', encoding);
      expect(decoding).not.toHaveBeenCalled();
      if (!text.ok || !expected.ok) throw new Error('not decoded');
      expect(text.encoding).toBe(encoding);
      expect(Buffer.compare(text.body, expected.body)).toBe(0);
    },
  );

  it('gives a body that is UTF-8 as it is, without a copy', async () => {
    const bytes = new TextEncoder().encode('ä'.repeat(megabyte));
    const text = await decoder.decode(bytes, 'html', 'utf-8');
    expect(text).toMatchObject({ ok: true, encoding: 'utf-8' });
    expect(text.ok && text.body === bytes).toBe(true);
  });

  it('leaves out the mark of a large body', async () => {
    const marked = Buffer.from(`\ufeff${'a\u4e2d'.repeat(megabyte / 4)}`, 'utf16le');
    const text = await decoder.decode(marked, 'html', null);
    expect(text).toMatchObject({ ok: true, encoding: 'utf-16le' });
    expect(text.ok && Buffer.from(text.body.subarray(0, 5)).toString()).toBe('a中a');
  });

  it('rejects a large body in an encoding that browsers refuse', async () => {
    expect(await decoder.decode(mixed(megabyte), 'html', 'iso-2022-kr')).toEqual({ ok: false, label: 'iso-2022-kr' });
  });

  it('rejects a body that is larger in UTF-8 than is accepted', async () => {
    const limited = createDecoder({ maxBytes: megabyte });
    const bytes = new Uint8Array(megabyte / 2).fill(0xff);
    expect(await limited.decode(bytes, 'text', 'x-user-defined')).toEqual({ ok: false, maxBytes: megabyte });
    const half = await limited.decode(bytes.subarray(0, megabyte / 3), 'text', 'x-user-defined');
    expect(half.ok && half.body.byteLength).toBe(3 * Math.floor(megabyte / 3));
    await limited.close();
  });

  it('decodes bodies that come at once, and those that come after it was idle', async () => {
    const hasty = createDecoder({ idleMs: 1 });
    const bodies = [1, 2, 3].map((size) => new Uint8Array(size * megabyte).fill(0xe4));
    for (let round = 0; round < 3; round++) {
      const texts = await Promise.all(bodies.map((body) => hasty.decode(body, 'text', 'windows-1252')));
      expect(texts.map((text) => text.ok && text.body.byteLength)).toEqual(bodies.map((body) => 2 * body.byteLength));
    }
    await hasty.close();
  });
});
