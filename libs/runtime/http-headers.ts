/** Which header fields HTTP can carry. */
import { z } from 'zod';

// A line break here would be a second header; beyond Latin-1 HTTP has no bytes for it.
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Field names as RFC 9110 has them, values without control characters; at most 50. */
export const httpHeaders = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, { error: 'must be a header name' }),
    z.string().max(4_096).regex(headerValue, { error: 'must be Latin-1 text without control characters' }),
  )
  .refine((headers) => Object.keys(headers).length <= 50, { error: 'must have at most 50 entries' });

/** The first header whose value HTTP cannot carry: it would fail on every try, and look like the receiver's fault. */
export function unsendableHeader(headers: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerValue.test(value)) return name;
  }
  return null;
}
