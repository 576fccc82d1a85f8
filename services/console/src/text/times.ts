/** Times and numbers as the reader's browser writes them. */
import { useEffect, useState } from 'react';
import { useTexts } from './text.js';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `4 min. ago`, `in 22 sec.`; the largest unit of which there is at least one. */
export function relativeTime(at: string, now: number, language: string): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  return format.format(Math.trunc(seconds / size), unit);
}

/** `24 Nov 2026, 15:21:54 CET`: whole, with its zone. */
export function absoluteTime(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(at));
}

/** `15:21:54`, or with the day in front where it is another one than today. */
export function clockTime(at: string, now: number, language: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  return new Intl.DateTimeFormat(language, isToday ? time : { ...time, day: 'numeric', month: 'short' }).format(date);
}

export function useNumbers(): (value: number, options?: Intl.NumberFormatOptions) => string {
  const { language } = useTexts();
  return (value, options) => new Intl.NumberFormat(language, options).format(value);
}

/** Now, again and again: what shows relative times is drawn anew that often. */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
