/** The cookie of a signed-in browser: read, set, cleared. Pure. */

export const sessionCookieName = 'meerkat_session';

/** The token in a Cookie header; null where there is none. Of several the first counts, as browsers send the closest path first. */
export function tokenOfCookie(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === sessionCookieName) return value.join('=').trim().slice(0, 200);
  }
  return null;
}

const attributes = (secure: boolean): string => `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

export function sessionCookie(token: string, maxAgeSeconds: number, secure: boolean): string {
  return `${sessionCookieName}=${token}; Max-Age=${maxAgeSeconds}; ${attributes(secure)}`;
}

export function clearedCookie(secure: boolean): string {
  return `${sessionCookieName}=; Max-Age=0; ${attributes(secure)}`;
}

/**
 * Whether a write comes from a page of ours. Browsers send Origin with every write; what sends none is no browser, and
 * a `null` one is a page that hides where it is from.
 */
export function isOwnOrigin(origin: string | undefined, host: string | undefined, publicUrl: string | null): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const own = publicUrl === null ? null : new URL(publicUrl);
  if (origin === own?.origin) return true;
  // Where there is TLS, who answers for the same name without it is another.
  if (host === undefined || (own?.protocol === 'https:' && host.toLowerCase() === own.host)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Behind a proxy that ends TLS the header says so; a client that forges it only restricts its own cookie to TLS. */
export function isSecureRequest(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  publicUrl: string | null,
): boolean {
  return headers['x-forwarded-proto'] === 'https' || publicUrl?.startsWith('https:') === true;
}
