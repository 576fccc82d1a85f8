/** Days and times of a week in a zone, as schedules and policies take them. */
import { z } from 'zod';
import { nearestName } from '#runtime/nearest-name';

/** Monday first. */
export const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const weekDay = z.enum(weekDays);
export type WeekDay = z.infer<typeof weekDay>;

export const dayMinutes = 1_440;

/** Minutes since midnight of a time such as `08:30`; `24:00` is the end of the day. */
export function minutesOfDay(time: string): number {
  const [hours = '', minutes = ''] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** A name of the IANA database. Offsets such as `+01:00` know no daylight saving and are refused. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** The zone that was meant: by its whole name, or by its city alone. */
function likelyZone(given: string): string {
  const zones = Intl.supportedValuesOf('timeZone');
  const byCity = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  return nearestName(given, zones) ?? byCity.get(nearestName(given, [...byCity.keys()]) ?? '') ?? 'Europe/Berlin';
}

export const timezone = z
  .string()
  .max(64)
  .refine(isTimezone, { error: ({ input }) => `must be a zone such as ${likelyZone(String(input))}` })
  .default('UTC')
  .describe('A name of the IANA database.');

const startOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time such as 08:00' });
const endOfDay = z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error: 'must be a time such as 18:00' });

/** A time of some days: one that ends before it begins goes over midnight. */
export const weekWindow = z
  .strictObject({
    days: z
      .array(weekDay)
      .min(1)
      .max(7)
      .refine((days) => new Set(days).size === days.length, { error: 'must name each day once' })
      .meta({ uniqueItems: true })
      .default([...weekDays])
      .describe('The days on which it begins.'),
    from: startOfDay.describe('When it begins.'),
    to: endOfDay.describe('24:00 is the end of the day; a time before `from` is on the next day.'),
  })
  .meta({ id: 'WeekWindow' });
export type WeekWindow = z.infer<typeof weekWindow>;

/** As stored: checked when it was saved. */
export const storedWindow = z.object({ days: z.array(weekDay), from: z.string(), to: z.string() });
