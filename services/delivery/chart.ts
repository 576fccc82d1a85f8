/** The little chart of the last values as a PNG: a line, its ends, nothing that has to be read. The same points give the same bytes. */
import { crc32, deflateSync } from 'node:zlib';

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
const white: Color = [255, 255, 255];
const grid: Color = [228, 232, 238];
const line: Color = [37, 99, 235];
const last: Color = [217, 140, 0];

/** How strongly a pixel is covered, in so many steps: edges look smooth, and a pixel is one number. */
const shades = 15;
const gridIndex = 1;
const lineIndex = 2;
const dotIndex = lineIndex + shades;

const shadesOf = (color: Color): Color[] =>
  Array.from({ length: shades }, (_, step) => {
    const share = (step + 1) / shades;
    const mixed = (channel: 0 | 1 | 2): number =>
      Math.round(white[channel] + (color[channel] - white[channel]) * share);
    return [mixed(0), mixed(1), mixed(2)];
  });

const palette = Uint8Array.from([white, grid, ...shadesOf(line), ...shadesOf(last)].flat());

/** Rows of indexes into the palette, each behind the byte that names its filter: as PNG has them. */
type Pixels = Uint8Array;
const rowBytes = width + 1;

/** Covers a pixel by `share`, from 0 to 1, in the shades that begin at `from`; a stronger shade of the same colour stays. */
function cover(pixels: Pixels, x: number, y: number, from: number, share: number): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const shade = Math.round(Math.min(1, share) * shades);
  if (shade <= 0) return;
  const at = y * rowBytes + 1 + x;
  pixels[at] = Math.max(pixels[at] ?? 0, from + shade - 1);
}

type Place = readonly [x: number, y: number];

/** Row by row just what lies near the line: the box around a steep one is mostly far from it. */
function drawSegment(pixels: Pixels, [x1, y1]: Place, [x2, y2]: Place): void {
  const reach = lineHalf + 0.5;
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  /** How far to the side of the line's middle a row still meets it. */
  const aside = length === 0 ? reach : (reach * Math.sqrt(length)) / Math.max(Math.abs(dy), 1e-9);
  const [left, right] = [Math.min(x1, x2) - reach, Math.max(x1, x2) + reach];
  const [top, bottom] = [Math.floor(Math.min(y1, y2) - reach), Math.ceil(Math.max(y1, y2) + reach)];
  for (let y = top; y <= bottom; y += 1) {
    const middle = dy === 0 ? x1 : x1 + ((y - y1) / dy) * dx;
    const from = Math.floor(Math.max(left, Math.min(middle - aside, right)));
    const to = Math.ceil(Math.min(right, Math.max(middle + aside, left)));
    for (let x = from; x <= to; x += 1) {
      const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length));
      const [awayX, awayY] = [x - (x1 + share * dx), y - (y1 + share * dy)];
      cover(pixels, x, y, lineIndex, reach - Math.sqrt(awayX * awayX + awayY * awayY));
    }
  }
}

function drawDot(pixels: Pixels, [cx, cy]: Place): void {
  const reach = dotRadius + 1;
  for (let y = Math.floor(cy) - reach; y <= cy + reach; y += 1) {
    for (let x = Math.floor(cx) - reach; x <= cx + reach; x += 1) {
      const share = dotRadius + 0.5 - Math.hypot(x - cx, y - cy);
      // Its pale edge would cut the line off.
      if (share >= 0.5 || (pixels[y * rowBytes + 1 + x] ?? 0) <= gridIndex) cover(pixels, x, y, dotIndex, share);
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

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Eight bits a pixel, by the palette. */
function header(): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 3, 0, 0, 0], 8);
  return chunk('IHDR', data);
}

const beginning = Buffer.concat([signature, header(), chunk('PLTE', palette)]);
const ending = chunk('IEND', new Uint8Array());

/**
 * null: there are too few points for a line. Written here and not by a library, which has no palettes: with them it takes a
 * fifth of the time, and each mail of a task that reports numbers has one.
 */
export function chartPng(points: readonly ChartPoint[] | undefined): Uint8Array | null {
  if (points === undefined || points.length < 2) return null;
  // Zero is white, and the filter that changes nothing: few colours in long lines get no smaller by others.
  const pixels: Pixels = new Uint8Array(rowBytes * height);
  for (const y of [margin, height / 2, height - margin]) {
    pixels.fill(gridIndex, y * rowBytes + 1 + margin, y * rowBytes + 1 + width - margin);
  }
  const places = placesOf(points);
  for (const [index, place] of places.entries()) {
    const next = places[index + 1];
    if (next !== undefined) drawSegment(pixels, place, next);
  }
  const end = places.at(-1);
  if (end !== undefined) drawDot(pixels, end);
  return new Uint8Array(Buffer.concat([beginning, chunk('IDAT', deflateSync(pixels, { level: 6 })), ending]));
}
