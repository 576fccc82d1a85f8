/** Crons of five fields in a zone: the next time, with both edges of daylight saving. */
import { Cron } from 'croner';
import { createLru } from '#concurrency/lru';
import { instantOf, wallOf } from './zone.js';

const hourMs = 3_600_000;
const dayHours = 24;
/** Clocks change by less. */
const longestChangeMs = 3 * hourMs;

interface ParsedCron {
  /** By the wall: in UTC, whatever the zone. */
  readonly wall: Cron;
  readonly isHourly: boolean;
}

const parsed = createLru<string, ParsedCron>(2_000);
const zoned = createLru<string, Cron>(2_000);

const inMode = (cron: string, timezone: string): Cron => new Cron(cron, { timezone, mode: '5-part', paused: true });

/** It runs in each hour of a day on which it runs: such a cron keeps its real spacing when clocks change. */
function isHourly(cron: string): boolean {
  const [, hours = '*'] = cron.trim().split(/\s+/);
  const midnight = new Date(0);
  const runs = inMode(`0 ${hours} * * *`, 'UTC').nextRuns(dayHours, new Date(midnight.getTime() - 1));
  return runs.every((run, hour) => run.getTime() === hour * hourMs);
}

function parsedCron(cron: string): ParsedCron {
  const known = parsed.get(cron);
  if (known !== undefined) return known;
  const made = { wall: inMode(cron, 'UTC'), isHourly: isHourly(cron) };
  parsed.set(cron, made);
  return made;
}

/** Why it is no cron of five fields, in words; null where it is one. */
export function faultOfCron(cron: string): string | null {
  try {
    parsedCron(cron);
    return null;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return words.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

function nextReal(cron: string, timezone: string, afterMs: number): number | null {
  const key = `${timezone} ${cron}`;
  const known = zoned.get(key);
  const made = known ?? inMode(cron, timezone);
  if (known === undefined) zoned.set(key, made);
  return made.nextRun(new Date(afterMs))?.getTime() ?? null;
}

/**
 * The first time behind this one; null: never. A local time that does not exist runs once, at the first instant after the
 * gap; one that comes twice runs the first time only. Throws where `faultOfCron` names a fault.
 */
export function nextCronRun(cron: string, timezone: string, afterMs: number): number | null {
  const { wall, isHourly: keepsSpacing } = parsedCron(cron);
  if (keepsSpacing || timezone === 'UTC') return nextReal(cron, timezone, afterMs);
  // From before a change of the clock: what stands in its gap is moved behind it.
  let wallMs: number | null = wallOf(timezone, afterMs) - longestChangeMs;
  for (;;) {
    wallMs = wall.nextRun(new Date(wallMs))?.getTime() ?? null;
    if (wallMs === null) return null;
    const instant = instantOf(timezone, wallMs);
    if (instant > afterMs) return instant;
  }
}
