/**
 * Markup parsed by the code itself (`innerHTML =`, `DOMParser`). A full parser makes the sandbox's image larger than
 * most code needs it, so it is only in a second image; without it the host is told to run the code again in that one.
 */
export type ParseFragment = (markup: string, contextTag: string, contextNamespace: string) => number;
export type ParseDocument = (markup: string) => number;

export interface MarkupParser {
  readonly parseFragment: ParseFragment;
  readonly parseDocument: ParseDocument;
}

let parser: MarkupParser | null = null;
let isParserMissing = false;

export function provideParser(provided: MarkupParser): void {
  parser = provided;
}

/** Whether the code asked for a parser that this image does not hold. */
export function wasParserMissing(): boolean {
  return isParserMissing;
}

export function markupParser(): MarkupParser {
  if (parser !== null) return parser;
  isParserMissing = true;
  throw new Error('The markup parser is not loaded.');
}
