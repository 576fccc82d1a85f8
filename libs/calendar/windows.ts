/** Windows of a week by the clock on the wall of a zone, so that clock changes need no rule of their own. */
import { dayMinutes, minutesOfDay, weekDays, type WeekWindow } from '#contracts/week-time';
import { instantOf, wallOf } from './zone.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const weekLength = 7;

/** Monday is 0. The epoch was a Thursday. */
const dayOf = (wallMs: number): number => (Math.floor(wallMs / dayMs) + 3) % weekLength;

const namesDay = ({ days }: WeekWindow, day: number): boolean =>
  days.some((name) => weekDays.indexOf(name) === ((day % weekLength) + weekLength) % weekLength);

/** A window that ends before it begins goes over midnight and belongs to the day on which it begins. */
export function isInWindow(window: WeekWindow, timezone: string, atMs: number): boolean {
  const wallMs = wallOf(timezone, atMs);
  const day = dayOf(wallMs);
  const minutes = Math.floor((((wallMs % dayMs) + dayMs) % dayMs) / minuteMs);
  const first = minutesOfDay(window.from);
  const last = minutesOfDay(window.to);
  if (first < last) return namesDay(window, day) && minutes >= first && minutes < last;
  return (namesDay(window, day) && minutes >= first) || (namesDay(window, day - 1) && minutes < last);
}

/** The first instant behind this one at which a window opens. */
export function nextOpening(windows: readonly WeekWindow[], timezone: string, afterMs: number): number {
  const midnight = Math.floor(wallOf(timezone, afterMs) / dayMs) * dayMs;
  const openings: number[] = [];
  // A day more than a week: today's opening may be over.
  for (let day = 0; day <= weekLength; day += 1) {
    for (const window of windows) {
      if (!namesDay(window, dayOf(midnight) + day)) continue;
      const openMs = instantOf(timezone, midnight + day * dayMs + minutesOfDay(window.from) * minuteMs);
      if (openMs > afterMs) openings.push(openMs);
    }
    if (openings.length > 0) break;
  }
  return Math.min(...openings);
}

/** Whether a window is open for no minute at all. */
export function isEmptyWindow({ from, to }: WeekWindow): boolean {
  return minutesOfDay(from) % dayMinutes === minutesOfDay(to);
}
