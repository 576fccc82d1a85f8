/** `page`: what is known of the load, and what the code may hand back besides its answer. */
import { endingError } from './ending-errors.js';
import { firstNumber } from './numbers.js';
import { reportValue } from './output.js';
import { touch } from './touched.js';
import type { Touched } from './touched.js';

interface CertificateFacts {
  readonly validTo: string;
  readonly issuer: string;
  readonly subject: string;
  readonly fingerprint: string;
}

export interface PageFacts {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: CertificateFacts | null;
  /** A browser rendered it, and marked what was not shown. */
  readonly rendered?: boolean;
  readonly previous: object | null;
  readonly state: object;
}

const parseJson = JSON.parse;
const { stringify } = JSON;
const { defineProperty } = Object;

export interface Page extends PageFacts {
  readonly text: string;
  state: object;
  json(): unknown;
  number(source: unknown, localeOrOptions?: string | { readonly locale?: string; readonly or?: unknown }): unknown;
  report(name: string, value: unknown): void;
  visible(selector: string): boolean;
}

/** Elements whose number stands in an attribute, written for machines. */
const machineValues: Readonly<Record<string, string>> = {
  META: 'content',
  DATA: 'value',
  METER: 'value',
  PROGRESS: 'value',
};
const plainNumber = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*$/;

interface ElementLike {
  readonly tagName?: unknown;
  readonly textContent?: unknown;
  readonly value?: unknown;
  getAttribute?(name: string): string | null;
}

function numberIn(source: unknown, locale: string | undefined): number {
  if (typeof source === 'number') return source;
  if (typeof source !== 'object') return firstNumber(String(source), locale);
  const element = source as ElementLike;
  const tag = typeof element.tagName === 'string' ? element.tagName : '';
  const written = Object.hasOwn(machineValues, tag) ? element.getAttribute?.(machineValues[tag] ?? '') : null;
  if (typeof written === 'string') return plainNumber.test(written) ? Number(written) : firstNumber(written, locale);
  if (/^(?:INPUT|SELECT|TEXTAREA|OUTPUT)$/.test(tag) && typeof element.value === 'string') {
    return firstNumber(element.value, locale);
  }
  return firstNumber(typeof element.textContent === 'string' ? element.textContent : String(source), locale);
}

const shownText = 80;

/** Compared with NaN everything is false, and nobody would hear of it: so it ends the run. */
function noNumberIn(source: unknown): Error {
  const text =
    typeof source === 'object' && source !== null && typeof (source as ElementLike).textContent === 'string'
      ? String((source as ElementLike).textContent)
      : String(source);
  const shown = text.replace(/\s+/g, ' ').trim();
  const clipped = shown.length > shownText ? `${shown.slice(0, shownText)}…` : shown;
  return endingError('number_not_found', `page.number: there is no number in ${stringify(clipped)}.`);
}

interface NumberOptions {
  readonly locale: string | undefined;
  /** null: a number that is not there ends the run. */
  readonly instead: { readonly value: unknown } | null;
}

function numberOptions(given: unknown): NumberOptions {
  if (given === undefined || given === null) return { locale: undefined, instead: null };
  if (typeof given !== 'object') return { locale: String(given), instead: null };
  const { locale } = given as { locale?: unknown };
  return {
    locale: locale === undefined || locale === null ? undefined : String(locale),
    instead: 'or' in given ? { value: given.or } : null,
  };
}

function pageNumber(source: unknown, given: unknown): unknown {
  const { locale, instead } = numberOptions(given);
  const isNothing = source === null || source === undefined;
  const found = isNothing ? Number.NaN : numberIn(source, locale);
  if (found === found) return found;
  if (instead !== null) return instead.value;
  throw isNothing
    ? endingError('number_not_found', `page.number was given ${String(source)}, so there is no number to read.`)
    : noNumberIn(source);
}

function report(name: string, value: unknown): void {
  // Most of what reads JSON loses it, and what would be lost must not seem to be recorded.
  if (name === '__proto__')
    throw new TypeError('page.report: "__proto__" cannot be the name of a value; give it another.');
  // Infinity minus itself is NaN too, and nothing else that is a number.
  if (typeof value === 'number' && value - value !== 0) {
    throw endingError('not_a_number', `page.report: ${stringify(name)} is ${value}, which is no number to record.`);
  }
  reportValue(name, value);
}

/** Where the engine says that JSON broke off; it does not always. */
function placeInJson(text: string, said: string): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(said) ?? [];
  if (line !== undefined) return ` at line ${line}, column ${column}`;
  const token = /^unexpected token: '(.+)'$/s.exec(said)?.[1];
  const first = token === undefined ? -1 : text.indexOf(token);
  // Only where it stands once is it sure to be the place.
  if (token === undefined || first < 0 || text.indexOf(token, first + 1) >= 0) return '';
  const before = text.slice(0, first).split('\n');
  return ` at line ${before.length}, column ${(before[before.length - 1] ?? '').length + 1}`;
}

function readJson(text: string): unknown {
  try {
    return parseJson(text) as unknown;
  } catch (thrown) {
    const said = thrown instanceof SyntaxError ? thrown.message : '';
    const start = text.trimStart().slice(0, 40);
    const why =
      start === ''
        ? 'it is empty'
        : start.startsWith('<')
          ? `it is markup and begins with ${stringify(start)}; read it through document`
          : `${said.replace(/ in JSON at position.*$/s, '') || 'it breaks off'}${placeInJson(text, said)}; it begins with ${stringify(start)}`;
    throw new SyntaxError(`The page is no JSON: ${why}.`);
  }
}

/** An attribute of an object that is noted when it is read or written; it cannot be defined anew past that. */
function noted(what: Touched, read: () => unknown, write: (value: unknown) => void): PropertyDescriptor {
  return {
    enumerable: true,
    configurable: false,
    get: () => {
      touch(what);
      return read();
    },
    set: (value: unknown) => {
      touch(what);
      write(value);
    },
  };
}

function notedPrevious(previous: object): object {
  let { text } = previous as { text?: unknown };
  return defineProperty(
    previous,
    'text',
    noted(
      'previous_text',
      () => text,
      (value) => (text = value),
    ),
  );
}

let isRendered = false;
let find: (selector: string) => { closest(selector: string): unknown } | null = () => null;

/** Never shown, whatever their style says. */
const unshown = 'head, script, style, template, noscript, title, meta, link, base, source, track, param, area';

/** As the browser saw it: whether the first match was shown. */
function visible(selector: string): boolean {
  if (!isRendered) {
    const advice = 'set fetch.mode to "browser"';
    throw endingError('not_rendered', `page.visible: this page was not rendered, so nobody knows; ${advice}.`);
  }
  const element = find(selector);
  if (element === null || element.closest(unshown) !== null) return false;
  const own = element as unknown as { hasAttribute(name: string): boolean };
  return !own.hasAttribute('data-not-shown') && element.closest('[data-frame][data-not-shown]') === null;
}

let [pageText, headers, previous, state]: [string, unknown, unknown, unknown] = ['', undefined, null, undefined];
let certificate: unknown = null;

const dayMs = 86_400_000;
const parseDate = Date.parse;
const { floor } = Math;

/** Days are counted from the time of the run, as `Date.now()` tells it, so that a replay counts the same. */
function shownCertificate({ validTo, issuer, subject, fingerprint }: CertificateFacts, nowMs: number): object {
  return { validTo, daysLeft: floor((parseDate(validTo) - nowMs) / dayMs), issuer, subject, fingerprint };
}

/** Made with the image, and filled in for each run. */
const page: { -readonly [name in keyof Page]: Page[name] | undefined } = {
  url: '',
  finalUrl: '',
  status: 0,
  headers: undefined,
  certificate: undefined,
  text: '',
  previous: undefined,
  state: undefined,
  json: () => readJson(pageText),
  number: (source: unknown, localeOrOptions?: unknown) => pageNumber(source, localeOrOptions),
  report: (name: string, value: unknown) => report(String(name), value),
  visible: (selector: string) => visible(String(selector)),
};
const toHeaders = noted(
  'headers',
  () => headers,
  (value) => (headers = value),
);
const toCertificate = noted(
  'certificate',
  () => certificate,
  (value) => (certificate = value),
);
const toPrevious = noted(
  'previous',
  () => previous,
  (value) => (previous = value),
);
const toState = noted(
  'state',
  () => state,
  (value) => (state = value),
);
defineProperty(page, 'headers', toHeaders);
defineProperty(page, 'certificate', toCertificate);
defineProperty(page, 'previous', toPrevious);
defineProperty(page, 'state', toState);

/** For one run, once. */
export function openPage(facts: PageFacts, text: string, nowMs: number, query: typeof find): object {
  isRendered = facts.rendered === true;
  find = query;
  page.url = facts.url;
  page.finalUrl = facts.finalUrl;
  page.status = facts.status;
  page.text = text;
  pageText = text;
  headers = facts.headers;
  certificate = facts.certificate === null ? null : shownCertificate(facts.certificate, nowMs);
  previous = facts.previous === null ? null : notedPrevious(facts.previous);
  state = facts.state;
  return page;
}

export function stateNow(): unknown {
  return state;
}
