/**
 * Events of checks and what follows from them, which are nearly all of a file, in one column: ids and MACs as bytes, who did it and
 * for whom by number, the rest as compact JSON. What people changed stays in clear, for any tool that reads SQLite.
 */
import { fromCompact } from '#runtime/from-compact';
import { toCompact } from '#runtime/to-compact';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import type { EventMetadata } from './event-store.js';

/** Beginnings of the names of streams that grow with every check. */
export const packedKinds: readonly string[] = ['schedule-', 'run-', 'claim-', 'dlv-', 'stats-'];

/** The first byte: how the rest is packed. What is stored counts on it for ever. */
const withoutMac = 1;
const withMac = 2;
const idBytes = 16;
const macBytes = 16;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface PackableEvent {
  readonly stream: string;
  readonly id: string;
  readonly data: string;
  readonly metadata: string;
  readonly mac: string | null;
}

/** Names that many events share have numbers, of a table of the file. */
export type NumberOf = (name: string) => number;
export type NameOf = (number: number) => string;

/** What a packed event says beside its type and place. */
export interface UnpackedEvent {
  readonly metadata: EventMetadata;
  readonly data: JsonObject;
}

/** A value that no event has been packed into. */
export class PackedUnreadable extends Error {
  constructor() {
    super('a packed event cannot be read');
    this.name = 'PackedUnreadable';
  }
}

const knownIn = (stream: string): readonly string[] => [stream.slice(stream.indexOf('-') + 1)];

function isMetadata(value: Json): value is JsonObject & EventMetadata {
  if (!isJsonObject(value)) return false;
  const { organizationId, actor, requestId, causationId, at, ...others } = value;
  return (
    Object.keys(others).length === 0 &&
    [organizationId, actor, requestId, at].every((one) => typeof one === 'string') &&
    (causationId === null || typeof causationId === 'string')
  );
}

/** As text in the order in which it is unpacked again. */
function toMetadata(value: EventMetadata): EventMetadata {
  const { organizationId, actor, requestId, causationId, at } = value;
  return { organizationId, actor, requestId, causationId, at };
}

/** null: it would not be the same text again, and is kept in clear. */
export function packEvent({ stream, id, data, metadata, mac }: PackableEvent, numberOf: NumberOf): Buffer | null {
  const who = JSON.parse(metadata) as Json;
  if (!uuid.test(id) || !isMetadata(who) || JSON.stringify(toMetadata(who)) !== metadata) return null;
  const { organizationId, actor, requestId, causationId, at } = who;
  const body = toCompact(
    {
      organizationId: numberOf(organizationId),
      actor: numberOf(actor),
      requestId,
      causationId,
      at,
      data: JSON.parse(data) as Json,
    },
    knownIn(stream),
  );
  if (body === null) return null;
  const key = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (mac === null) return Buffer.concat([Buffer.of(withoutMac), key, body]);
  const keyedSum = Buffer.from(mac, 'base64url');
  if (keyedSum.length !== macBytes || keyedSum.toString('base64url') !== mac) return null;
  return Buffer.concat([Buffer.of(withMac), key, keyedSum, body]);
}

function bytesOf(packed: Uint8Array): Buffer {
  return Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
}

/** Where the rest begins. */
function headLength(packed: Uint8Array): number {
  const [form] = packed;
  if (form === withMac) return 1 + idBytes + macBytes;
  if (form === withoutMac) return 1 + idBytes;
  throw new PackedUnreadable();
}

export function idOfPacked(packed: Uint8Array): string {
  const hex = bytesOf(packed).toString('hex', 1, 1 + idBytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function macOfPacked(packed: Uint8Array): string | null {
  const begin = 1 + idBytes;
  return headLength(packed) > begin ? bytesOf(packed).toString('base64url', begin, begin + macBytes) : null;
}

/** Throws where it was changed so that it is none any more. */
export function unpackEvent(packed: Uint8Array, stream: string, nameOf: NameOf): UnpackedEvent {
  const body = fromCompact(packed.subarray(headLength(packed)), knownIn(stream));
  if (!isJsonObject(body)) throw new PackedUnreadable();
  const { organizationId, actor, requestId, causationId = null, at, data = null } = body;
  if (typeof organizationId !== 'number' || typeof actor !== 'number' || !isJsonObject(data))
    throw new PackedUnreadable();
  const metadata = { organizationId: nameOf(organizationId), actor: nameOf(actor), requestId, causationId, at };
  return { metadata: metadata as EventMetadata, data };
}

/** The same event with other data: the MAC stays what it was. */
export function repackWith(packed: Uint8Array, stream: string, data: JsonObject): Buffer {
  const begin = headLength(packed);
  const body = fromCompact(packed.subarray(begin), knownIn(stream));
  const changed = isJsonObject(body) ? toCompact({ ...body, data }, knownIn(stream)) : null;
  if (changed === null) throw new PackedUnreadable();
  return Buffer.concat([packed.subarray(0, begin), changed]);
}
