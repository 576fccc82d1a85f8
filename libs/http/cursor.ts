/** Cursors of long lists: the sort value and the id of the last item, as opaque text. */
import { z } from 'zod';
import type { AppError } from '#runtime/errors';
import { refuse } from './validation.js';

export interface Cursor {
  readonly value: string | number;
  readonly id: string;
}

const content = z.tuple([z.union([z.string().max(200), z.number()]), z.string().max(100)]);

export function encodeCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

/** The place that `after` names; null for the beginning. Throws `after_invalid` for text that no list gave. */
export function decodeCursor(after: string): Cursor | null {
  if (after === '') return null;
  try {
    const [value, id] = content.parse(JSON.parse(Buffer.from(after, 'base64url').toString()));
    if (encodeCursor({ value, id }) === after) return { value, id };
  } catch {
    // not JSON, or not ours: answered below like any other text
  }
  throw cursorOfAnotherList();
}

/** For a cursor whose parts are none that this list gives. */
export function cursorOfAnotherList(): AppError {
  return refuse(['after'], 'invalid', 'must be the cursor of an answer, or empty to begin');
}
