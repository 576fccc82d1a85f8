/** What webhooks and custom requests share when they are built: header names and credentials in addresses. */

/** Lower-case names; of two that differ by case alone the last counts. */
export function lowerHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The address without user name and password, and these as the value of `authorization`. */
export function splitCredentials(address: string): { url: string; authorization: string | null } {
  const url = new URL(address);
  const { username, password } = url;
  if (username === '' && password === '') return { url: url.href, authorization: null };
  url.username = '';
  url.password = '';
  const pair = `${decode(username)}:${decode(password)}`;
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A lone `%` in a password is meant as it stands. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
