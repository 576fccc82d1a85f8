/**
 * Page parsing: bytes in, flat tables out. parse5 is always available; lexbor is several times as fast where it
 * was built (`npm run build:parser`). Both are held to `page-parser.contract.ts`.
 */
import type { FlatPage, FlatText } from './flat-page.js';
import type { ContentKind } from '../sandbox.js';

export const pageParserNames = ['parse5', 'lexbor'] as const;
export type PageParserName = (typeof pageParserNames)[number];

export interface PageLimits {
  readonly elements: number;
  readonly depth: number;
  readonly parseMs: number;
}

export const defaultPageLimits: PageLimits = { elements: 200_000, depth: 512, parseMs: 2_000 };

/** What was parsed is beyond the limits. The message is a sentence for the user about a page; `fault` is its predicate. */
export class PageTooComplex extends Error {
  constructor(readonly fault: string) {
    super(`The page ${fault}.`);
  }
}

export interface ParsedPage {
  /** The decoded body, `page.text` in the code. */
  readonly text: FlatText;
  readonly flat: FlatPage;
}

export const markupNamespaces = ['html', 'svg', 'math'] as const;
/** The element inside which markup is read, by its local name. */
export interface MarkupContext {
  readonly tag: string;
  readonly namespace: (typeof markupNamespaces)[number];
}

export interface PageParser {
  /** A loaded page, read as a browser that runs scripts would. Throws `PageTooComplex`. */
  parsePage(body: Uint8Array, kind: ContentKind, limits: PageLimits): ParsedPage;
  /** Markup that code writes: what stands inside an element, or a document of its own. Throws `PageTooComplex`. */
  parseMarkup(markup: string, context: MarkupContext | null, limits: PageLimits): FlatPage;
}

const decoder = new TextDecoder('utf-8');

/** UTF-8 with replacement characters for malformed bytes, and without a byte order mark. */
export function decodeBody(body: Uint8Array): string {
  return decoder.decode(body);
}

const escaped: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;' };

/** What a browser shows for a body that is no markup: the text in a `pre`. */
export function asPreformatted(text: string): string {
  return `<!doctype html><html><head></head><body><pre>\n${text.replace(/[&<]/g, (mark) => escaped[mark] ?? mark)}</pre></body></html>`;
}
