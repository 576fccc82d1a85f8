import { describe, expect, it } from '@jest/globals';
import { createBloomFilter } from './bloom-filter.js';

const idsFrom = (start: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `exe_01kaj3v0wq5c8m7d2r4n${String(start + index).padStart(6, '0')}`);

describe('a Bloom filter', () => {
  it('contains every id that was added', () => {
    const filter = createBloomFilter();
    const added = idsFrom(0, 50_000);
    for (const id of added) filter.add(id);
    expect(added.filter((id) => !filter.mayContain(id))).toEqual([]);
  });

  it('rarely contains an id that was not added', () => {
    const filter = createBloomFilter();
    for (const id of idsFrom(0, 50_000)) filter.add(id);
    expect(idsFrom(500_000, 50_000).filter((id) => filter.mayContain(id)).length).toBeLessThan(5);
  });
});
