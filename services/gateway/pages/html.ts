/** HTML as a tagged template: everything put in is text, unless it was made by the same template. Pure. */

/** Markup whose text is escaped already. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type HtmlValue = Html | string | number | null | false | readonly HtmlValue[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Marks that turn the direction of what follows would rearrange the page around a name. */
const turning = /\p{Bidi_Control}/gu;

export function escapedHtml(text: string): string {
  return text.replace(turning, '').replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

function markupOf(value: HtmlValue): string {
  if (value === null || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapedHtml(String(value));
}

/** Attributes must stand in quotes; `null` and `false` are nothing; of a list all, one after the other. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + markupOf(values[index] ?? null)).join(''));
}
