/** Where somebody who signed in goes. Pure. */

/** An address of this console to go back to, never one elsewhere: `here` is its origin. */
export function addressWithin(to: string | null, here: string): string {
  if (to === null || !to.startsWith('/') || !URL.canParse(to, here)) return '/tasks';
  const { origin, pathname, search, hash } = new URL(to, here);
  // `/.//elsewhere` is a path of this origin, and what is made of it leads elsewhere.
  return origin === here && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/tasks';
}
