/** Discord's Markdown: text of a page is shown as it is and mentions nobody. */
import { characters, shortened } from '../text-limits.js';

/** A backslash before any of these shows the character itself. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|<>#[\]()@:-]/g, '\\$&');
}

/** Cut to the limit, never within an escape: a lone backslash would take the meaning of what follows. */
export function shortenedMarkdown(text: string, limit: number): string {
  const cut = shortened(text, limit, characters);
  return cut === text ? text : cut.replace(/(?<!\\)((?:\\\\)*)\\…$/, '$1…');
}
