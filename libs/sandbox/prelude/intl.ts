/**
 * What pasted code uses of `Intl` most: numbers in the common languages, and dates as American English writes them. The
 * engine has no data for the rest; that is refused with a sentence, because a wrong answer would be worse.
 */
import { domError } from './dom-exception.js';
import { decimalOfLocale } from './numbers.js';

const noBreak = '\u00a0';
/** What stands between groups, by language or by language and region; `~` before it: not in numbers of four digits. */
const groups: Readonly<Record<string, string>> = {
  en: ',',
  'en-ZA': noBreak,
  ja: ',',
  zh: ',',
  ko: ',',
  th: ',',
  he: ',',
  de: '.',
  'de-AT': noBreak,
  'de-CH': "'",
  'de-LI': "'",
  nl: '.',
  it: '~.',
  'it-CH': "'",
  es: '~.',
  'es-MX': ',',
  'es-US': ',',
  pt: '.',
  'pt-PT': `~${noBreak}`,
  id: '.',
  tr: '.',
  da: '.',
  ro: '.',
  el: '.',
  hr: '.',
  sl: '.',
  vi: '.',
  fr: '\u202f',
  'fr-CA': noBreak,
  sv: noBreak,
  nb: noBreak,
  no: noBreak,
  fi: noBreak,
  cs: noBreak,
  sk: noBreak,
  ru: noBreak,
  uk: noBreak,
  hu: noBreak,
  pl: `~${noBreak}`,
  bg: `~${noBreak}`,
};
const indian = /^(?:en|hi)-IN$/;

interface Options {
  readonly style?: unknown;
  readonly minimumFractionDigits?: unknown;
  readonly maximumFractionDigits?: unknown;
  readonly useGrouping?: unknown;
}
const knownOptions = ' style minimumFractionDigits maximumFractionDigits useGrouping ';

function refuse(what: string, instead: string): never {
  throw domError('NotSupportedError', `${what} is not available here: ${instead}.`);
}

function localeOf(given: unknown): string {
  const [first] = Array.isArray(given) ? (given as readonly unknown[]) : [given];
  if (first === undefined) return 'en-US';
  const tag = String(first).replaceAll('_', '-');
  if (!/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/.test(tag))
    throw new RangeError(`Incorrect locale information provided: ${tag}`);
  const [language = '', ...rest] = tag.split('-');
  return [language.toLowerCase(), ...rest].join('-');
}

function grouped(digits: string, locale: string): string {
  const mark = indian.test(locale) ? ',' : (groups[locale] ?? groups[locale.split('-')[0] ?? '']);
  if (mark === undefined)
    return refuse(`The locale ${locale}`, 'numbers are written in the common European and Asian languages');
  const separator = mark.replace('~', '');
  if (mark !== separator && digits.length < 5) return digits;
  return digits.replace(indian.test(locale) ? /\B(?=(?:\d{2})*\d{3}$)/g : /\B(?=(?:\d{3})+$)/g, separator);
}

function fractionDigits({ style, minimumFractionDigits, maximumFractionDigits }: Options): readonly [number, number] {
  const isPercent = style === 'percent';
  const least = minimumFractionDigits === undefined ? 0 : Number(minimumFractionDigits);
  const most = maximumFractionDigits === undefined ? Math.max(least, isPercent ? 0 : 3) : Number(maximumFractionDigits);
  if (!(least >= 0 && least <= most && most <= 100))
    throw new RangeError('maximumFractionDigits value is out of range.');
  return [least, most];
}

function formatNumber(value: number | bigint, locale: string, options: Options): string {
  const unknown = Object.keys(options).find((name) => !knownOptions.includes(` ${name} `));
  const { style = 'decimal' } = options;
  if (unknown !== undefined || (style !== 'decimal' && style !== 'percent')) {
    refuse(
      `Intl.NumberFormat with ${unknown ?? `style ${String(style)}`}`,
      'compare numbers as numbers; page.number() reads prices of any kind',
    );
  }
  const percent = style === 'percent' ? (locale.startsWith('en') ? '%' : `${noBreak}%`) : '';
  if (typeof value === 'bigint') {
    const text = String(value * (percent === '' ? 1n : 100n));
    return (text.startsWith('-') ? `-${grouped(text.slice(1), locale)}` : grouped(text, locale)) + percent;
  }
  if (Number.isNaN(value)) return `NaN${percent}`;
  const size = Math.abs(percent === '' ? value : value * 100);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (size === Infinity) return `${sign}∞${percent}`;
  if (size >= 1e21) return sign + grouped(BigInt(size).toString(), locale) + percent;
  const [least, most] = fractionDigits(options);
  const [whole = '', fraction = ''] = size.toFixed(most).split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(least, '0');
  const head = options.useGrouping === false ? whole : grouped(whole, locale);
  return `${sign}${head}${shown === '' ? '' : decimalOfLocale(locale)}${shown}${percent}`;
}

function formatDate(date: Date, locales: unknown, options: unknown, parts: 'date' | 'time' | 'both'): string {
  const plain =
    options === undefined || (typeof options === 'object' && options !== null && Object.keys(options).length === 0);
  const { timeZone } = (options ?? {}) as { timeZone?: unknown };
  const onlyUtc = plain || (timeZone === 'UTC' && Object.keys(options as object).length === 1);
  if (!onlyUtc || !/^en(?:-US)?$/.test(localeOf(locales))) {
    refuse(
      'Writing dates in other languages, forms or time zones',
      'use toISOString(), or getFullYear(), getMonth() and getDate()',
    );
  }
  if (Number.isNaN(date.getTime())) return 'Invalid Date';
  const day = `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = date.getUTCHours();
  const time = `${hours % 12 === 0 ? 12 : hours % 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${hours < 12 ? 'AM' : 'PM'}`;
  return parts === 'date' ? day : parts === 'time' ? time : `${day}, ${time}`;
}

class NumberFormat {
  readonly #locale: string;
  readonly #options: Options;
  constructor(locales?: unknown, options: Options = {}) {
    this.#locale = localeOf(locales);
    this.#options = { ...options };
    formatNumber(0, this.#locale, this.#options);
  }
  get format(): (value: unknown) => string {
    return (value) => formatNumber(typeof value === 'bigint' ? value : Number(value), this.#locale, this.#options);
  }
  resolvedOptions(): object {
    return { locale: this.#locale, numberingSystem: 'latn', style: 'decimal', ...this.#options };
  }
}

class DateTimeFormat {
  readonly #locales: unknown;
  readonly #options: unknown;
  constructor(locales?: unknown, options?: unknown) {
    this.#locales = locales;
    this.#options = options;
  }
  get format(): (date?: Date | number) => string {
    return (date) => formatDate(new Date(date ?? Date.now()), this.#locales, this.#options, 'date');
  }
  resolvedOptions(): object {
    return { locale: localeOf(this.#locales), calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' };
  }
}

/** Compares as `localeCompare` does: by characters, not by a language's rules. */
class Collator {
  get compare(): (one: unknown, other: unknown) => number {
    return (one, other) => String(one).localeCompare(String(other));
  }
}

/** `Intl.NumberFormat()` works without `new`. */
function callable(kind: new (...args: never[]) => object): object {
  return new Proxy(kind, { apply: (target, _self, args) => Reflect.construct(target, args) as object });
}

function missing(name: string): () => never {
  return function refuseIntl() {
    return refuse(`Intl.${name}`, 'the engine has no data of languages');
  };
}

function makeIntl(): object {
  const absent = 'PluralRules RelativeTimeFormat ListFormat DisplayNames Segmenter DurationFormat Locale'.split(' ');
  const made: object = Object.fromEntries(absent.map((name) => [name, missing(name)]));
  for (const [name, value] of Object.entries({ NumberFormat, DateTimeFormat, Collator })) {
    Object.defineProperty(made, name, { value: callable(value), writable: true, configurable: true });
  }
  return made;
}

export const intl = makeIntl();

export function numberText(value: number | bigint, locales: unknown, options: Options = {}): string {
  return formatNumber(value, localeOf(locales), options);
}

export function dateText(date: Date, locales: unknown, options: unknown, parts: 'date' | 'time' | 'both'): string {
  return formatDate(date, locales, options, parts);
}
