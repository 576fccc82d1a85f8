import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeFrame, FrameReader, FrameTooLarge } from './frames.js';
import type { Frame } from './frames.js';

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const frames = fc.array(
  fc.record({
    id: word,
    word,
    ms: word,
    text: fc.string({ unit: 'grapheme', maxLength: 40 }),
    body: fc.uint8Array({ maxLength: 60 }),
  }),
  { maxLength: 8 },
);

function inChunks(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.byteLength; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe('the frame reader', () => {
  it('returns the frames that were written, wherever the stream is cut', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 5 }), (sent, sizes) => {
        const stream = Buffer.concat(sent.flatMap(({ body, ...frame }) => [...encodeFrame(frame, body)]));
        const reader = new FrameReader(1_000);
        const received: Frame[] = [];
        for (const chunk of inChunks(stream, sizes)) reader.push(chunk, (frame) => received.push(frame));
        expect(received.map((frame) => ({ ...frame, body: [...frame.body] }))).toEqual(
          sent.map((frame) => ({ ...frame, body: [...frame.body] })),
        );
      }),
    );
  });

  it('gives each body memory of its own, which can be transferred', () => {
    const [head, body] = encodeFrame({ id: 1, word: 2, ms: 3, text: 'x' }, new Uint8Array([1, 2, 3]));
    const reader = new FrameReader(100);
    const received: Frame[] = [];
    for (const piece of [head, body]) if (piece !== undefined) reader.push(piece, (frame) => received.push(frame));
    expect(received[0]?.body.buffer.byteLength).toBe(3);
  });

  it('accepts as many bytes as are allowed for the id of a frame, and reads nothing behind one with more', () => {
    const reader = new FrameReader((id) => (id === 1 ? 3 : 0));
    const ids: number[] = [];
    const pieces = (id: number, text: string) => Buffer.concat([...encodeFrame({ id, word: 0, ms: 0, text })]);
    const push = (bytes: Uint8Array): void => reader.push(bytes, ({ id }) => ids.push(id));
    push(pieces(1, 'abc'));
    push(pieces(0, ''));
    expect(() => push(pieces(0, 'a'))).toThrow(FrameTooLarge);
    push(pieces(1, ''));
    expect(ids).toEqual([1, 0]);
  });

  it('rejects a frame that is too large by its header, before buffering any of it', () => {
    const header = Buffer.alloc(20);
    header.writeUInt32LE(0xffff_ffff, 0);
    header.writeUInt32LE(0xffff_ffff, 4);
    expect(() => new FrameReader(1_000).push(header, () => undefined)).toThrow(FrameTooLarge);
  });
});
