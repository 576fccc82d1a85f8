/**
 * The MAC of a stored event: over all that is stored of it and the MAC of the event before it in its stream. Without the key
 * an event can neither be changed, added, moved nor taken out so that the MACs still fit.
 */
import { createHmac, createSecretKey, hash, hkdfSync, timingSafeEqual } from 'node:crypto';

/** An event as text, exactly as it is stored. */
export interface StoredEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: string;
  readonly metadata: string;
  /** null: written by a version that made none, or without a key. */
  readonly mac: string | null;
}

/** What the MAC covers. The position is null where the engine gives it only once the event is written. */
export type ChainedEvent = Omit<StoredEvent, 'mac' | 'position'> & { readonly position: number | null };

/** Half of SHA-256, which RFC 2104 calls enough: 22 characters at each event. */
const macBytes = 16;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Characters that these bytes fill, and bits of the one behind them that are theirs too. */
const wholeCharacters = Math.floor((macBytes * 8) / 6);
const bitsBehind = 0b110000;

/** The same as those bytes alone in base64url: to cut the text costs a third less than to make a buffer of each sum. */
function firstBytes(text: string): string {
  const last = alphabet.indexOf(text.charAt(wholeCharacters)) & bitsBehind;
  return text.slice(0, wholeCharacters) + alphabet.charAt(last);
}

export interface EventChain {
  /** Tells keys apart without telling the key. */
  readonly keyId: string;
  /** `previous`: the MAC of the event before it in its stream; null where it is the first that has one. */
  macOf(event: ChainedEvent, previous: string | null): string;
  /** The MAC of a text that is no event: one that does not begin as JSON. */
  macOfText(text: string): string;
}

/** `secretKey`: of the installation; the key of the chain is derived from it. */
export function createEventChain(secretKey: Uint8Array): EventChain {
  const derive = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secretKey, '', `meerkat event ${label}`, bytes));
  const key = createSecretKey(derive('chain', 32));
  const macOfText = (text: string): string => firstBytes(createHmac('sha256', key).update(text).digest('base64url'));
  return {
    keyId: derive('chain key id', macBytes).toString('base64url'),
    macOf({ stream, revision, position, id, type, version, data, metadata }, previous) {
      // With the length of the data it is plain where that ends, whatever stands in the two texts.
      const head = [stream, revision, position, id.toLowerCase(), type, version, data.length, previous ?? ''];
      return macOfText(`${JSON.stringify(head)}\n${data}\n${metadata}`);
    },
    macOfText,
  };
}

/** Of a key before the one that signs now. */
export interface FormerChain {
  readonly chain: EventChain;
  /** The position of the event that a newer key signs from. */
  readonly until: number;
}

/** The chains that an event of a position may be signed by: of the key of then, or of a newer one, as after a migration. */
export interface EventChains {
  readonly current: EventChain;
  /** Newest first. */
  readonly former: readonly FormerChain[];
}

export function createEventChains(
  current: Uint8Array,
  former: readonly { readonly key: Uint8Array; readonly until: number }[] = [],
): EventChains {
  return {
    current: createEventChain(current),
    former: former.map(({ key, until }) => ({ chain: createEventChain(key), until })),
  };
}

/** Whether it has the MAC of one of the keys that it may have been signed with. */
export function isSignedBy(
  { current, former }: EventChains,
  event: StoredEvent,
  previous: string | null,
  hasDensePositions: boolean,
): boolean {
  const { mac, position } = event;
  if (mac === null) return false;
  const chained = hasDensePositions ? event : { ...event, position: null };
  const fits = (chain: EventChain): boolean => isSameMac(mac, chain.macOf(chained, previous));
  if (former.length === 0) return fits(current);
  // The key of then first: nearly every event has that one.
  const allowed = former.filter(({ until }) => position < until);
  return allowed.toReversed().some(({ chain }) => fits(chain)) || fits(current);
}

export function isSignedBeginning({ current, former }: EventChains, beginning: StreamBeginning): boolean {
  const { mac } = beginning;
  if (mac === null) return false;
  return [current, ...former.map(({ chain }) => chain)].some((chain) =>
    isSameMac(mac, macOfBeginning(chain, beginning)),
  );
}

/** What stands in place of data that was erased: that it is gone, and the digest that the audit covers. */
export function erasedData(data: string): string {
  return JSON.stringify({ $erased: hash('sha256', data, 'base64url') });
}

export const isErasedData = (data: string): boolean => data.startsWith('{"$erased":');

export function isSameMac(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Where a stream begins whose first events were dropped, as it was signed then. */
export interface StreamBeginning {
  readonly stream: string;
  /** The first revision that is there. */
  readonly revision: number;
  /** The MAC of the event before it; null: that had none. */
  readonly link: string | null;
  /** Over all of this; null: made without a key. */
  readonly mac: string | null;
}

export function macOfBeginning(chain: EventChain, { stream, revision, link }: Omit<StreamBeginning, 'mac'>): string {
  return chain.macOfText(`beginning ${JSON.stringify([stream, revision, link])}`);
}

/** Every event of a store as it is stored, for those who check it. */
export interface StoredHistory {
  /** Positions have no gaps and stand under the MAC, so that the end of a stream cannot be cut off unseen either. */
  readonly hasDensePositions: boolean;
  /** In order of position, behind `after` (null: from the first on), up to and with `end`. */
  read(after: number | null, end: number): AsyncIterable<readonly StoredEvent[]>;
  at(stream: string, revision: number): Promise<StoredEvent | null>;
  /** null: it begins with its first event, or is not there. */
  beginning(stream: string): Promise<StreamBeginning | null>;
  /** Of every stream that has one, where positions have no gaps but for what was dropped; else none. */
  beginnings(): AsyncIterable<StreamBeginning>;
}
