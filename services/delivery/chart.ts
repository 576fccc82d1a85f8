/** The little chart of the last values as a PNG: a line, its ends, nothing that has to be read. The same points give the same bytes. */
import { PNG } from 'pngjs';

export interface ChartPoint {
  readonly at: string;
  readonly value: number;
}

const width = 480;
const height = 120;
const margin = 10;
const lineHalf = 1.4;
const dotRadius = 4;

type Color = readonly [red: number, green: number, blue: number];
const grid: Color = [228, 232, 238];
const line: Color = [37, 99, 235];
const last: Color = [217, 140, 0];

/** Lays a color over a pixel, as much as `share` says, from 0 to 1. */
function blend(png: PNG, x: number, y: number, color: Color, share: number): void {
  if (x < 0 || y < 0 || x >= width || y >= height || share <= 0) return;
  const at = (y * width + x) * 4;
  const part = Math.min(1, share);
  for (let channel = 0; channel < 3; channel += 1) {
    const under = png.data[at + channel] ?? 255;
    png.data[at + channel] = Math.round(under + ((color[channel] ?? 0) - under) * part);
  }
}

type Place = readonly [x: number, y: number];

function drawSegment(png: PNG, [x1, y1]: Place, [x2, y2]: Place): void {
  const reach = Math.ceil(lineHalf) + 1;
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const [left, right] = [Math.floor(Math.min(x1, x2)) - reach, Math.ceil(Math.max(x1, x2)) + reach];
  const [top, bottom] = [Math.floor(Math.min(y1, y2)) - reach, Math.ceil(Math.max(y1, y2)) + reach];
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length));
      const [awayX, awayY] = [x - (x1 + share * dx), y - (y1 + share * dy)];
      // Most of the box is far from the line.
      if (awayX * awayX + awayY * awayY >= reach * reach) continue;
      blend(png, x, y, line, lineHalf + 0.5 - Math.hypot(awayX, awayY));
    }
  }
}

function drawDot(png: PNG, [cx, cy]: Place): void {
  const reach = dotRadius + 1;
  for (let y = Math.floor(cy) - reach; y <= cy + reach; y += 1) {
    for (let x = Math.floor(cx) - reach; x <= cx + reach; x += 1) {
      blend(png, x, y, last, dotRadius + 0.5 - Math.hypot(x - cx, y - cy));
    }
  }
}

/** By time from left to right, by value from bottom to top; values that are all the same are a line in the middle. */
function placesOf(points: readonly ChartPoint[]): Place[] {
  const times = points.map(({ at }) => Date.parse(at));
  const values = points.map(({ value }) => value);
  const [first = 0, end = 0] = [times[0], times.at(-1)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return points.map(({ value }, index) => {
    const acrossTime = end > first ? ((times[index] ?? first) - first) / (end - first) : index / (points.length - 1);
    const upwards = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return [margin + acrossTime * (width - 2 * margin), height - margin - upwards * (height - 2 * margin)];
  });
}

/** null: there are too few points for a line. */
export function chartPng(points: readonly ChartPoint[] | undefined): Uint8Array | null {
  if (points === undefined || points.length < 2) return null;
  const png = new PNG({ width, height, colorType: 2 });
  // White.
  png.data.fill(255);
  for (const y of [margin, height / 2, height - margin]) {
    for (let x = margin; x < width - margin; x += 1) blend(png, x, Math.round(y), grid, 1);
  }
  const places = placesOf(points);
  for (const [index, place] of places.entries()) {
    const next = places[index + 1];
    if (next !== undefined) drawSegment(png, place, next);
  }
  const end = places.at(-1);
  if (end !== undefined) drawDot(png, end);
  // Few colours in long lines: filters make it no smaller, and take three times as long.
  return new Uint8Array(PNG.sync.write(png, { colorType: 2, inputColorType: 6, deflateLevel: 6, filterType: 0 }));
}
