import { describe, expect, it } from '@jest/globals';
import type { MemoryImage } from './image.js';
import { PageImages } from './page-images.js';

const imageOf = (bytes: number): MemoryImage => ({ runs: [{ at: 0, bytes: new Uint8Array(bytes) }], stackEnd: 0 });

describe('the images of pages that came more than once', () => {
  it('are dropped by their number, the one that was not used for longest first', () => {
    const images = new PageImages({ pages: 2, bytes: 1_000 });
    images.keep('a', imageOf(1));
    images.keep('b', imageOf(1));
    expect(images.use('a')).not.toBeNull();
    images.keep('c', null);
    expect(['a', 'b', 'c'].map((key) => images.has(key))).toEqual([true, false, true]);
    expect(images.use('c')).toBeNull();
  });

  it('are dropped by their bytes, however few they are', () => {
    const images = new PageImages({ pages: 8, bytes: 1_000 });
    for (const key of ['a', 'b', 'c']) images.keep(key, imageOf(400));
    expect(['a', 'b', 'c'].map((key) => images.has(key))).toEqual([false, true, true]);
    expect(images.bytes).toBe(800);
    images.keep('c', imageOf(1_000));
    expect(images.bytes).toBe(1_000);
  });

  it('are not kept where one is larger than all may be: the page is read anew each time', () => {
    const images = new PageImages({ pages: 8, bytes: 1_000 });
    images.keep('a', imageOf(400));
    images.keep('large', imageOf(1_001));
    expect([images.use('large'), images.has('large'), images.bytes]).toEqual([null, true, 400]);
  });
});
