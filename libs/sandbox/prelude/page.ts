/** `page`: what is known of the load, and what the code may hand back besides its answer. */
import { firstNumber } from './numbers.js';
import { reportValue } from './output.js';

export interface PageFacts {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly previous: object | null;
  readonly state: object;
}

const parseJson = JSON.parse;

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

export function createPage(facts: PageFacts, text: string): Page {
  return {
    url: facts.url,
    finalUrl: facts.finalUrl,
    status: facts.status,
    headers: facts.headers,
    text,
    previous: facts.previous,
    state: facts.state,
    json: () => parseJson(text) as unknown,
    number: (source, locale) => (typeof source === 'number' ? source : firstNumber(textOfSource(source), locale)),
    report: (name, value) => reportValue(String(name), value),
  };
}
