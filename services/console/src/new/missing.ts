/** What a new task lacks before it can be saved. */
import type { NewTaskDraft } from './new-draft.js';

/** Whole addresses only; what has no scheme gets https. */
export function addressOf(typed: string): string | null {
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(typed.trim()) ? typed.trim() : `https://${typed.trim()}`;
  if (!URL.canParse(whole)) return null;
  const { protocol, href, hostname } = new URL(whole);
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? href : null;
}

export type Missing = 'address' | 'condition' | 'name';

/** In the order of the page. */
export function missingIn({ url, code, name }: Pick<NewTaskDraft, 'url' | 'code' | 'name'>): readonly Missing[] {
  const lacks: Readonly<Record<Missing, boolean>> = {
    address: addressOf(url) === null,
    condition: code === '',
    name: name.trim() === '',
  };
  return (['address', 'condition', 'name'] as const).filter((part) => lacks[part]);
}
