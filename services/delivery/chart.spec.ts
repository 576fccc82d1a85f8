import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PNG } from 'pngjs';
import { chartPng } from './chart.js';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 10, minute)).toISOString();
const points = (...values: readonly number[]) => values.map((value, minute) => ({ at: at(minute), value }));
const decoded = (png: Uint8Array | null): PNG => PNG.sync.read(Buffer.from(png ?? []));

/** The row of the middle of the line in a column. */
function lineAt(png: PNG, x: number): number {
  const rows = Array.from({ length: png.height }, (_, y) => y).filter((y) => {
    const place = (y * png.width + x) * 4;
    return (png.data[place] ?? 255) < 120 && (png.data[place + 2] ?? 0) > 180;
  });
  return rows.reduce((sum, row) => sum + row, 0) / rows.length;
}

describe('the chart of the last values', () => {
  it('is a small PNG that rises where the values do', () => {
    const png = chartPng(points(1, 2, 3, 4));
    expect(png?.length).toBeLessThan(8_000);
    const { width, height } = decoded(png);
    expect([width, height]).toEqual([480, 120]);
    expect(lineAt(decoded(png), 20)).toBeGreaterThan(lineAt(decoded(png), 240));
    expect(lineAt(decoded(png), 240)).toBeGreaterThan(lineAt(decoded(png), 450));
  });

  it('is the same bytes for the same points', () => {
    expect(chartPng(points(3, 1, 2))).toEqual(chartPng(points(3, 1, 2)));
  });

  it('is none of fewer than two points', () => {
    expect([chartPng(undefined), chartPng([]), chartPng(points(1))]).toEqual([null, null, null]);
  });

  it('can be made of any finite values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 2, maxLength: 5 }),
        (values) => {
          expect(decoded(chartPng(points(...values))).width).toBe(480);
        },
      ),
      { numRuns: 20 },
    );
  });
});
