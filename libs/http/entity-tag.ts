/** Revisions as entity tags: `ETag: "3"` and what may stand in `If-Match`. */
import { reject } from '#runtime/errors';

export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/** The revision a writer expects; null where any will do. Throws `if_match_invalid` for anything but one strong tag or `*`. */
export function expectedRevision(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const digits = /^\s*"(0|[1-9][0-9]{0,14})"\s*$/.exec(header)?.[1];
  if (digits === undefined) {
    throw reject('if_match_invalid', 'If-Match must be the ETag of an answer, such as "3", or *.', [
      { field: 'If-Match', rule: 'invalid', message: 'must be the ETag of an answer, such as "3", or *' },
    ]);
  }
  return Number(digits);
}
