/** Between the port's events and those of EventStoreDB: names carry the installation, positions are the commit position. */
import type { Position } from '@eventstore/db-client';
import { isJsonObject, type JsonObject } from '#runtime/json';
import type { EventChain, StoredEvent } from './event-chain.js';
import type { EventMetadata, RecordedEvent, StreamAppend } from './event-store.js';

/** What is wanted of an event, however it was decoded. */
export interface EngineEvent {
  readonly streamId: string;
  readonly revision: bigint;
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  /** Bytes where it is not JSON. */
  readonly data: unknown;
  readonly metadata: unknown;
  readonly position?: Position;
  /** Of data and metadata as they are stored, where it is known. */
  readonly sizeBytes?: number;
}

/** Several installations may share one server; a name of ours has no `.` before this one. */
export function engineStream(installation: string, stream: string): string {
  return `${installation}.${stream}`;
}

/** What the server keeps of an event, besides its id, type and time: JSON both, so that its own tools can show it. */
export interface EncodedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** As it stands in the metadata. */
  readonly mac: string | null;
}

/**
 * Events of one append, each with its MAC. `previous`: the MAC of the event that stands before them in their stream.
 * Throws on what JSON cannot hold, before anything is sent.
 */
export function encodeEvents(
  { stream, events, expected }: StreamAppend,
  chain: EventChain | null,
  previous: string | null,
): EncodedEvent[] {
  const first = expected === 'none' ? 0 : expected + 1;
  let before = previous;
  return events.map(({ id, type, version, data, metadata }, index) => {
    const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
    const place = { stream, revision: first + index, position: null };
    const mac = chain?.macOf({ ...place, id, type, version, data: dataText, metadata: metadataText }, before) ?? null;
    before = mac;
    return {
      id: id.toLowerCase(),
      type,
      data: Buffer.from(dataText),
      metadata: Buffer.from(JSON.stringify({ version, ...(mac === null ? {} : { mac }), ...metadata })),
      mac,
    };
  });
}

/** A position of the server that the port's numbers cannot tell from its neighbours. */
export class PositionTooLarge extends Error {
  constructor(position: bigint | number) {
    super(`${position} is beyond the positions that can be told apart (${Number.MAX_SAFE_INTEGER})`);
    this.name = 'PositionTooLarge';
  }
}

export function positionNumber(commit: bigint | number): number {
  if (commit > Number.MAX_SAFE_INTEGER) throw new PositionTooLarge(commit);
  return Number(commit);
}

/** An event in a stream of ours that nobody here wrote. */
export class ForeignEvent extends Error {
  constructor({ streamId, revision, type }: EngineEvent, why: string) {
    super(`${streamId}@${revision}: ${type} cannot be read: ${why}`);
    this.name = 'ForeignEvent';
  }
}

function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && !(value instanceof Uint8Array);
}

/** Throws `ForeignEvent`, `PositionTooLarge`. */
export function decodeEngineEvent(installation: string, event: EngineEvent): RecordedEvent {
  if (!event.isJson || !isObject(event.data)) throw new ForeignEvent(event, 'its data is not a JSON object');
  if (!isObject(event.metadata)) throw new ForeignEvent(event, 'its metadata is not a JSON object');
  if (event.position === undefined) throw new ForeignEvent(event, 'the server does not tell its position');
  const { version, mac: _, ...metadata } = event.metadata;
  if (typeof version !== 'number') throw new ForeignEvent(event, 'its metadata has no version');
  return {
    stream: event.streamId.slice(installation.length + 1),
    revision: Number(event.revision),
    position: positionNumber(event.position.commit),
    id: event.id,
    type: event.type,
    version,
    data: event.data,
    metadata: metadata as unknown as EventMetadata,
  };
}

/** The MAC that stands in the event's metadata. */
export function macOfEngineEvent({ metadata }: Pick<EngineEvent, 'metadata'>): string | null {
  return isObject(metadata) && typeof metadata['mac'] === 'string' ? metadata['mac'] : null;
}

/** What was written as JSON comes back from a parse and a second writing as it was. Throws as `decodeEngineEvent`. */
export function storedEngineEvent(installation: string, event: EngineEvent): StoredEvent {
  const { data, metadata, ...recorded } = decodeEngineEvent(installation, event);
  return {
    ...recorded,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
    mac: macOfEngineEvent(event),
  };
}
