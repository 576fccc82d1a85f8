/** Which addresses may be reached. Every spelling is brought to one form first, then judged by the special-purpose registries. */
import { isIPv4, isIPv6 } from 'node:net';

/** An address or a range of them, as 16-bit words: two for IPv4, eight for IPv6. */
interface Range {
  readonly words: readonly number[];
  readonly bits: number;
}

interface NamedRange extends Range {
  readonly name: string;
}

/** A host as the operator or a URL names it, in its one spelling. */
export type Host =
  { readonly kind: 'address'; readonly address: string } | { readonly kind: 'name'; readonly name: string };

/** What the operator allows in addition to public addresses, and the verdict on each address. */
export interface AddressPolicy {
  /** Why the address may not be reached ("a loopback address"), or null. `name`: the host that it was resolved from. */
  refusalOfAddress(address: string, name?: string): string | null;
}

/** The 16-bit words of an address in the spelling of `node:net`, or null. An address with a zone has no words: it never leaves its link. */
function wordsOf(address: string): number[] | null {
  if (isIPv4(address)) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  }
  if (!isIPv6(address) || address.includes('%')) return null;
  const [head = '', tail] = address.split('::');
  const left = wordsOfGroups(head);
  if (tail === undefined) return left;
  const right = wordsOfGroups(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** The block of neighbours that an address shares its fate with: a /24 of IPv4, a /48 of IPv6. */
export function networkOf(address: string): string {
  const words = wordsOf(address) ?? [];
  return words.length === 2 ? `${words[0]}.${(words[1] ?? 0) >> 8}` : words.slice(0, 3).join(':');
}

/** The IPv4 words in an IPv6 address of a way between the two (mapped, translated, compatible, NAT64, 6to4); null: none. */
function embedded4(words: readonly number[]): readonly number[] | null {
  if (words.length !== 8) return null;
  if (words[0] === 0x2002) return words.slice(1, 3);
  const prefix = words
    .slice(0, 6)
    .map((word) => word.toString(16))
    .join(':');
  const isWay = ['0:0:0:0:0:ffff', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0'].includes(prefix);
  // ::1 and :: are addresses of their own.
  const isCompatible = prefix === '0:0:0:0:0:0' && (words[6] !== 0 || (words[7] ?? 0) > 1);
  return isWay || isCompatible ? words.slice(6) : null;
}

/** Equal for addresses that lead to the same machine, whatever their spelling: all of this machine's own are one. */
export function machineOf(address: string): string {
  const words = wordsOf(address) ?? [];
  const inner = embedded4(words);
  const [first = 0, ...rest] = inner ?? words;
  const isThisMachine =
    words.length === 2 || inner !== null
      ? first >> 8 === 127 || (first === 0 && rest[0] === 0)
      : first === 0 && rest.slice(0, -1).every((word) => word === 0) && (rest.at(-1) ?? 0) <= 1;
  return isThisMachine ? 'this machine' : [first, ...rest].join('.');
}

function wordsOfGroups(groups: string): number[] {
  if (groups === '') return [];
  return groups
    .split(':')
    .flatMap((group) => (group.includes('.') ? (wordsOf(group) ?? []) : [Number.parseInt(group, 16)]));
}

function contains(range: Range, words: readonly number[]): boolean {
  if (range.words.length !== words.length) return false;
  let rest = range.bits;
  for (let i = 0; rest > 0; i += 1, rest -= 16) {
    const mask = rest >= 16 ? 0xffff : (0xffff << (16 - rest)) & 0xffff;
    if (((range.words[i] ?? 0) & mask) !== ((words[i] ?? 0) & mask)) return false;
  }
  return true;
}

function rangeOf(text: string): Range | null {
  const slash = text.indexOf('/');
  const words = wordsOf(slash === -1 ? text : text.slice(0, slash));
  if (words === null) return null;
  if (slash === -1) return { words, bits: words.length * 16 };
  const digits = text.slice(slash + 1);
  const bits = Number(digits);
  return /^\d{1,3}$/.test(digits) && bits <= words.length * 16 ? { words, bits } : null;
}

function table(entries: Readonly<Record<string, string>>): readonly NamedRange[] {
  return Object.entries(entries).map(([text, name]) => {
    const range = rangeOf(text);
    if (range === null) throw new Error(`not a range: ${text}`);
    return { ...range, name };
  });
}

/** IANA's IPv4 special-purpose registry, and addresses at which clouds tell their machines what they are: before what holds them. */
const special4 = table({
  '0.0.0.0/8': 'an address of "this network"',
  '10.0.0.0/8': 'a private address',
  '100.100.100.200/32': "a cloud platform's inner address",
  '100.64.0.0/10': 'a carrier-grade NAT address',
  '127.0.0.0/8': 'a loopback address',
  '168.63.129.16/32': "a cloud platform's inner address",
  '169.254.0.0/16': 'a link-local address',
  '172.16.0.0/12': 'a private address',
  '192.0.0.192/32': "a cloud platform's inner address",
  '192.0.0.0/24': 'a protocol-assignment address',
  '192.0.2.0/24': 'a documentation address',
  '192.88.99.0/24': 'a 6to4 relay address',
  '192.168.0.0/16': 'a private address',
  '198.18.0.0/15': 'a benchmarking address',
  '198.51.100.0/24': 'a documentation address',
  '203.0.113.0/24': 'a documentation address',
  '224.0.0.0/4': 'a multicast address',
  '240.0.0.0/4': 'a reserved address',
});

const globalUnicast6: Range = { words: [0x2000, 0, 0, 0, 0, 0, 0, 0], bits: 3 };

/** Names for what lies outside 2000::/3 (all of it is refused), and what is refused inside of it. */
const special6 = table({
  '::/128': 'the unspecified address',
  '::1/128': 'a loopback address',
  '::ffff:0:0/96': 'an IPv4-mapped address',
  '::ffff:0:0:0/96': 'an IPv4-translated address',
  '::/96': 'an IPv4-compatible address',
  '64:ff9b::/96': 'a NAT64 address',
  '64:ff9b:1::/48': 'a NAT64 address',
  '100::/64': 'a discard-only address',
  'fd00:ec2::254/128': "a cloud platform's inner address",
  'fd20:ce::254/128': "a cloud platform's inner address",
  'fc00::/7': 'a private address',
  'fe80::/10': 'a link-local address',
  'fec0::/10': 'a site-local address',
  'ff00::/8': 'a multicast address',
  '2001::/32': 'a Teredo address',
  '2001::/23': 'a protocol-assignment address',
  '2001:db8::/32': 'a documentation address',
  '2002::/16': 'a 6to4 address',
  '3ffe::/16': 'a withdrawn address',
  '3fff::/20': 'a documentation address',
});

/** What kind of special address this is, or null for a public one. */
export function specialKindOf(address: string): string | null {
  const words = wordsOf(address);
  if (words === null) return 'an address of one link';
  const name = (words.length === 2 ? special4 : special6).find((range) => contains(range, words))?.name;
  if (name !== undefined) return name;
  return words.length === 2 || contains(globalUnicast6, words) ? null : 'a reserved address';
}

/** Kinds of addresses that `*.suffix` in EGRESS_ALLOW never opens. */
const innermost: ReadonlySet<string> = new Set([
  'a loopback address',
  'a link-local address',
  "a cloud platform's inner address",
  'an address of "this network"',
  'the unspecified address',
  'an IPv4-mapped address',
]);

/** Whether it is this machine, its link or its cloud, by whatever way it is written. */
function isInnermost(address: string, kind: string): boolean {
  if (innermost.has(kind)) return true;
  const inner = embedded4(wordsOf(address) ?? []);
  const within = inner === null ? undefined : special4.find((range) => contains(range, inner));
  return within !== undefined && innermost.has(within.name);
}

/** One spelling of a host: addresses as the WHATWG URL standard writes them, names in lower case without the root's dot. Null: not a host. */
export function hostOf(text: string): Host | null {
  const bracketed = text.startsWith('[') && text.endsWith(']');
  const bare = bracketed ? text.slice(1, -1) : text;
  const isSix = isIPv6(bare);
  if (/[/?#@\\]/.test(text) || (text.includes(':') && !isSix)) return null;
  let hostname: string;
  try {
    hostname = new URL(`http://${isSix ? `[${bare}]` : text}/`).hostname;
  } catch {
    return null;
  }
  return hostOfUrlHostname(hostname);
}

/** The same for the `hostname` of a parsed URL, which has one spelling of addresses already. */
export function hostOfUrlHostname(hostname: string): Host | null {
  if (hostname.startsWith('[')) return { kind: 'address', address: hostname.slice(1, -1) };
  if (isIPv4(hostname)) return { kind: 'address', address: hostname };
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name.length === 0 || name.length > 253) return null;
  return name.split('.').every((label) => label.length > 0 && label.length <= 63) ? { kind: 'name', name } : null;
}

/** `localhost` and what is under it never leave the machine, and are answered without DNS (RFC 6761). */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

export const loopbackAddresses: readonly string[] = ['127.0.0.1', '::1'];

/** Reads EGRESS_ALLOW: CIDRs, single addresses, host names, `*.suffix`. Throws a TypeError that names the bad entry. */
export function createAddressPolicy(egressAllow: readonly string[]): AddressPolicy {
  const ranges: Range[] = [];
  const names = new Set<string>();
  const suffixes: string[] = [];
  for (const entry of egressAllow) {
    const text = entry.trim().toLowerCase();
    const range = rangeOf(text);
    const wildcard = text.startsWith('*.');
    const host = range === null && !text.includes('/') ? hostOf(wildcard ? text.slice(2) : text) : null;
    if (range !== null) ranges.push(range);
    else if (host?.kind === 'name' && !host.name.includes('*')) {
      if (wildcard) suffixes.push(`.${host.name}`);
      else names.add(host.name);
    } else throw new TypeError(`"${entry}" is neither an address, a CIDR (10.0.0.0/8), a host name nor *.suffix.`);
  }
  return {
    refusalOfAddress(address, name) {
      const kind = specialKindOf(address);
      if (kind === null || (name !== undefined && names.has(name))) return null;
      const words = wordsOf(address);
      if (words !== null && ranges.some((range) => contains(range, words))) return null;
      // Who may add a name to a domain must not open this machine, or a cloud's metadata, by it.
      return !isInnermost(address, kind) && suffixes.some((suffix) => name?.endsWith(suffix) === true) ? null : kind;
    },
  };
}
