/** Times as the reader's browser writes them. Pure. */
import { madeOnce } from './made-once.js';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

const toTheSecond = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const distance = madeOnce((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }));
const timeOfDay = madeOnce((locale) => new Intl.DateTimeFormat(locale, toTheSecond));
const dayAndTime = madeOnce(
  (locale) => new Intl.DateTimeFormat(locale, { ...toTheSecond, day: 'numeric', month: 'short' }),
);
const wholeMoment = madeOnce(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      ...toTheSecond,
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZoneName: 'short',
    }),
);
const dayOfUtc = madeOnce(
  (locale) => new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
/** `4 min. ago`, `in 22 sec.`; the largest unit of which there is at least one. */
export function relativeTime(at: string, now: number, locale: string): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return distance(locale).format(Math.trunc(seconds / size), unit);
}

/** `24 Nov 2026, 15:21:54 CET`: whole, with its zone. */
export function absoluteTime(at: string, locale: string): string {
  return wholeMoment(locale).format(new Date(at));
}

/** `15:21:54`, or with the day in front where it is another one than today. */
export function clockTime(at: string, now: number, locale: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return (isToday ? timeOfDay : dayAndTime)(locale).format(date);
}

/** A time as a field for local times takes it, to the minute. */
export function localMinute(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A day of UTC, as the record counts them. */
export function dayOf(at: string, locale: string): string {
  return dayOfUtc(locale).format(new Date(at));
}

const wholeTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** A sentence of the server with its times as the reader's clock shows them. */
export function withLocalTimes(sentence: string, now: number, locale: string): string {
  return sentence.replace(wholeTime, (at) => clockTime(at, now, locale));
}
