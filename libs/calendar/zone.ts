/** Instants and what the clock on the wall of a zone shows then. Wall times are epoch milliseconds of the same digits in UTC. */
import { createLru } from '#concurrency/lru';

const formats = createLru<string, Intl.DateTimeFormat>(200);
const minuteMs = 60_000;
const dayMs = 86_400_000;

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timezone, made);
  return made;
}

export function wallOf(timezone: string, atMs: number): number {
  if (timezone === 'UTC') return atMs;
  const wholeMs = Math.floor(atMs / 1_000) * 1_000;
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(wholeMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall + (atMs - wholeMs);
}

const offsetOf = (timezone: string, atMs: number): number => wallOf(timezone, atMs) - atMs;

/** The first instant of the later offset, between one instant before the change and one after it. */
function changeBetween(timezone: string, beforeMs: number, afterMs: number): number {
  const later = offsetOf(timezone, afterMs);
  let [low, high] = [beforeMs, afterMs];
  while (high - low > minuteMs) {
    const middle = Math.floor((low + high) / 2 / minuteMs) * minuteMs;
    if (middle <= low) break;
    if (offsetOf(timezone, middle) === later) high = middle;
    else low = middle;
  }
  return high;
}

/** When the wall shows this time: the first of two such instants; where none does, the first instant after the gap. */
export function instantOf(timezone: string, wallMs: number): number {
  if (timezone === 'UTC') return wallMs;
  const offsets = [offsetOf(timezone, wallMs - dayMs), offsetOf(timezone, wallMs + dayMs)];
  const earliest = wallMs - Math.max(...offsets);
  if (wallOf(timezone, earliest) === wallMs) return earliest;
  const latest = wallMs - Math.min(...offsets);
  if (wallOf(timezone, latest) === wallMs) return latest;
  return changeBetween(timezone, earliest, latest);
}
