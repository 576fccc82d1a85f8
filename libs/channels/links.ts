/** Addresses as receivers take them in fields of their own: refused there are hosts that only this network knows. */

const privateHost =
  /^(?:localhost|.*\.(?:localhost|local|internal|lan|home|corp|intranet|invalid|test)|127\..*|10\..*|192\.168\..*|169\.254\..*|172\.(?:1[6-9]|2[0-9]|3[01])\..*|0\..*|\[.*\])$/i;

/** An address that people can follow from anywhere, no longer than the receiver takes; null: leave the link out. */
export function publicLink(address: string, longest = 2_000): string | null {
  if (address.length > longest || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const { hostname, href, username, password } = new URL(address);
  if (!hostname.includes('.') || privateHost.test(hostname) || username + password !== '') return null;
  return href.length > longest ? null : href;
}
