/** What is shown of where an attempt goes: of an address only what does not give access. */
import type { ShownRequest } from './channel.js';
import type { PeerMessage } from './peer.js';

/** Long words of letters and digits in a path are what services hand out in place of a password. */
export function isToken(segment: string): boolean {
  return segment.length >= 20 && /[0-9]/.test(segment) && /[A-Za-z]/.test(segment);
}

/** Origin and path: no user name, password, query or fragment, and no token within the path. */
export function httpSummary(method: string, url: string): ShownRequest {
  if (!URL.canParse(url)) return { method, url: '' };
  const { origin, pathname } = new URL(url);
  const path = pathname
    .split('/')
    .map((segment) => (isToken(segment) ? '…' : segment))
    .join('/');
  return { method, url: `${origin}${path}`.slice(0, 500) };
}

/** `a…@example.com`: enough to tell one mailbox from another, not enough to write to it. */
export function maskMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '…' : `${address.slice(0, 1)}…${address.slice(at)}`;
}

export function mailSummary(recipients: readonly string[]): ShownRequest {
  const shown = recipients.slice(0, 3).map(maskMailbox);
  const more = recipients.length - shown.length;
  return { method: 'smtp', url: more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ') };
}

/** Where a message goes that is neither HTTP nor mail: a server and its port, or the program that is run. */
export function peerSummary(message: PeerMessage): ShownRequest {
  const { protocol } = message;
  if (protocol === 'command') return { method: protocol, url: message.file };
  const { host, port } = message;
  const shown = host.includes(':') ? `[${host}]` : host;
  const scheme = protocol === 'syslog' ? message.transport : message.trust === null ? 'mqtt' : 'mqtts';
  return { method: protocol, url: `${scheme}://${shown}:${port}` };
}
