/** What a new task lacks before it can be saved. */
import type { NewTaskDraft } from './new-draft.js';
import { addressOf } from './typed-address.js';

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
