/** `page`: what is known of the load, and what the code may hand back besides its answer. */
import { firstNumber } from './numbers.js';
import { reportValue } from './output.js';
import { touch } from './touched.js';
import type { Touched } from './touched.js';

export interface PageFacts {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly previous: object | null;
  readonly state: object;
}

const parseJson = JSON.parse;
const { defineProperty } = Object;

export interface Page extends PageFacts {
  readonly text: string;
  state: object;
  json(): unknown;
  number(source: unknown, locale?: string): number;
  report(name: string, value: unknown): void;
}

function textOfSource(source: unknown): string {
  if (source === null || source === undefined) return '';
  if (typeof source === 'object') {
    const { textContent, value } = source as { textContent?: unknown; value?: unknown };
    if (typeof value === 'string' && value !== '') return value;
    if (typeof textContent === 'string') return textContent;
  }
  return String(source);
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

export function createPage(facts: PageFacts, text: string): { readonly page: Page; stateNow(): unknown } {
  let { headers, previous, state }: { headers: unknown; previous: unknown; state: unknown } = facts;
  if (facts.previous !== null) previous = notedPrevious(facts.previous);
  const page = {
    url: facts.url,
    finalUrl: facts.finalUrl,
    status: facts.status,
    headers: undefined,
    text,
    previous: undefined,
    state: undefined,
    json: () => parseJson(text) as unknown,
    number: (source: unknown, locale?: string) =>
      typeof source === 'number' ? source : firstNumber(textOfSource(source), locale),
    report: (name: string, value: unknown) => reportValue(String(name), value),
  };
  const toHeaders = noted(
    'headers',
    () => headers,
    (value) => (headers = value),
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
  defineProperty(page, 'previous', toPrevious);
  defineProperty(page, 'state', toState);
  return { page: page as unknown as Page, stateNow: () => state };
}
