/** The Retry-After header (RFC 9110, section 10.2.3). */

/** Milliseconds from `nowMs` on: seconds or an HTTP date, 0 for a date that has passed; null where there is none or it cannot be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^[0-9]{1,12}$/.test(text)) return Number(text) * 1_000;
  // Without a weekday in front, Date.parse would read numbers and words that are no HTTP date.
  const dateMs = /^[A-Za-z]{3},? |^[A-Za-z]{6,9}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}
