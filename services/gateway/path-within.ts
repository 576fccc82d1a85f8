/** Where somebody who signed in goes: addresses of this instance alone. Pure. */
const home = '/tasks';
/** It is kept in a cookie meanwhile. */
const mostCharacters = 2_000;

/** A path of this instance; anything else, as an address elsewhere in a link that somebody sent, leads home. */
export function pathWithin(to: string): string {
  const base = 'http://here.invalid';
  // Browsers take a backslash for a slash, and pass over control characters.
  if (to.length > mostCharacters || !to.startsWith('/') || /[\\\p{Cc}]/u.test(to) || !URL.canParse(to, base))
    return home;
  const { origin, pathname, search } = new URL(to, base);
  const path = `${pathname}${search}`;
  // Written out, it may be longer.
  return origin === base && !pathname.startsWith('//') && path.length <= mostCharacters ? path : home;
}
