/** Times and numbers as the reader's browser writes them. */
import { useCallback, useEffect, useState } from 'react';
import { useTexts } from './text.js';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `4 min. ago`, `in 22 sec.`; the largest unit of which there is at least one. */
export function relativeTime(at: string, now: number, locale: string): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  return format.format(Math.trunc(seconds / size), unit);
}

/** `24 Nov 2026, 15:21:54 CET`: whole, with its zone. */
export function absoluteTime(at: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, {
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
export function clockTime(at: string, now: number, locale: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  return new Intl.DateTimeFormat(locale, isToday ? time : { ...time, day: 'numeric', month: 'short' }).format(date);
}

export function useNumbers(): (value: number, options?: Intl.NumberFormatOptions) => string {
  const { locale } = useTexts();
  return useCallback((value, options) => new Intl.NumberFormat(locale, options).format(value), [locale]);
}

/** Now, again and again: what shows relative times is drawn anew that often. */
export function useNow(everyMs = 5_000): number {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return Date.now();
}

/** A time as a field for local times takes it, to the minute. */
export function localMinute(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A day of UTC, as the record counts them. */
export function dayOf(at: string, locale: string): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(locale, day).format(new Date(at));
}

const wholeTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** A sentence of the server with its times as the reader's clock shows them. */
export function withLocalTimes(sentence: string, now: number, locale: string): string {
  return sentence.replace(wholeTime, (at) => clockTime(at, now, locale));
}
