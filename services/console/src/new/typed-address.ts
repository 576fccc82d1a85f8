/** The address that somebody means by what they typed. Pure. */

/** Whole addresses only; what has no scheme gets https. */
export function addressOf(typed: string): string | null {
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(typed.trim()) ? typed.trim() : `https://${typed.trim()}`;
  if (!URL.canParse(whole)) return null;
  const { protocol, href, hostname } = new URL(whole);
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? href : null;
}
