/** A schedule as half a sentence: `every 5 minutes`, `by 0 9 * * 1-5 in Europe/Berlin`. */
import type { Schedule } from '../api/types.js';
import type { Texts } from '../text/text.js';
import { absoluteTime } from '../text/times.js';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `every 5 minutes`, by the largest unit that fits without a rest. */
export function everyWords(seconds: number, locale: string, t: Texts['t']): string {
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? ['second', 1];
  const span = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
  return t('schedule.every', { span });
}

export function scheduleWords(schedule: Schedule, locale: string, t: Texts['t']): string {
  switch (schedule.type) {
    case 'interval':
      return everyWords(schedule.intervalSeconds, locale, t);
    case 'cron':
      return t('schedule.cron', { cron: schedule.cron, timezone: schedule.timezone });
    case 'once':
      return t('schedule.once', { at: absoluteTime(schedule.at, locale) });
    case 'manual':
      return t('schedule.manual');
  }
}
