export interface SnippetPage {
  readonly name: string;
  readonly kind: 'html' | 'xml' | 'json' | 'text';
  readonly url: string;
  readonly body: string;
  readonly snippets: readonly string[];
  readonly answersUrl: URL;
}
/** In the order of their names. */
export function readPages(): readonly SnippetPage[];
/** Code that comes to JSON: what the snippet answers, or the name of what it throws. */
export function expressionFor(snippet: string): string;
