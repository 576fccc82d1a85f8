/** Page parsing: bytes in, flat tables out. `parse5-page-parser.ts` is the implementation; another may replace it. */
import type { FlatPage } from './flat-page.js';
import type { ContentKind } from './sandbox.js';

export interface PageLimits {
  readonly elements: number;
  readonly depth: number;
  readonly parseMs: number;
}

export const defaultPageLimits: PageLimits = { elements: 200_000, depth: 512, parseMs: 2_000 };

/** The page is beyond the limits; the message is a sentence for the user. */
export class PageTooComplex extends Error {}

export interface ParsedPage {
  /** The decoded body, `page.text` in the code. */
  readonly text: string;
  readonly flat: FlatPage;
}

/** Throws `PageTooComplex`. */
export type PageParser = (body: Uint8Array, kind: ContentKind, limits: PageLimits) => ParsedPage;
