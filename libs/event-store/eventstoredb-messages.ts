/**
 * The messages of a subscription, decoded in one pass over their bytes: the client's own messages take twice as long, and
 * those of version 6.2.1 have no field for how far a subscription is when it has caught up. Field numbers: `streams.proto`
 * of the server (message ReadResp), encoding: protobuf's documentation of its wire format.
 */
import { ForeignEvent, type EngineEvent } from './eventstoredb-events.js';

/** A place of the log. Beyond 2^53 the numbers are not exact. */
export interface LogPlace {
  readonly commit: number;
  readonly prepare: number;
}

export interface EventBytes {
  readonly stream: string;
  readonly revision: number;
  readonly place: LogPlace;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Buffer;
  readonly metadata: Buffer;
}

export type SubscriptionMessage =
  | { readonly kind: 'event'; readonly event: EventBytes }
  | { readonly kind: 'checkpoint'; readonly place: LogPlace }
  /** `place`: up to there everything came, where the server tells it. */
  | { readonly kind: 'caughtUp'; readonly place: LogPlace | null }
  /** A confirmation, or what later versions tell besides. */
  | { readonly kind: 'other' };

const none: Buffer = Buffer.alloc(0);
const wireVarint = 0;
const wireFixed64 = 1;
const wireBytes = 2;
const wireFixed32 = 5;
const [eventField, checkpointField, caughtUpField] = [1, 3, 8];

/** Reads fields one after the other. */
class Fields {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;
  /** Of the field that `next` found. */
  number = 0;
  #wire = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#at = 0;
    this.#end = bytes.length;
  }

  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.number = Math.floor(tag / 8);
    this.#wire = tag % 8;
    return true;
  }

  /** A number, whole where it is below 2^53. */
  value(): number {
    if (this.#wire === wireVarint) return this.#varint();
    this.skip();
    return 0;
  }

  /** The bytes of a field, not copied. */
  bytes(): Buffer {
    if (this.#wire !== wireBytes) {
      this.skip();
      return none;
    }
    const length = this.#varint();
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#end) throw new Error('a message of the event store ends too early');
    return this.#bytes.subarray(from, this.#at);
  }

  skip(): void {
    if (this.#wire === wireVarint) this.#varint();
    else if (this.#wire === wireBytes) this.bytes();
    else if (this.#wire === wireFixed64) this.#at += 8;
    else if (this.#wire === wireFixed32) this.#at += 4;
    else throw new Error(`a message of the event store has a field of wire type ${this.#wire}`);
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new Error('a message of the event store ends too early');
      this.#at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
}

/** A message that holds another one or a text in one field alone. */
function inner(bytes: Buffer, wanted: number): Buffer {
  const fields = new Fields(bytes);
  while (fields.next()) {
    if (fields.number === wanted) return fields.bytes();
    fields.skip();
  }
  return none;
}

function placeOf(bytes: Buffer): LogPlace {
  const fields = new Fields(bytes);
  let [commit, prepare] = [0, 0];
  while (fields.next()) {
    if (fields.number === 1) commit = fields.value();
    else if (fields.number === 2) prepare = fields.value();
    else fields.skip();
  }
  return { commit, prepare };
}

function recorded(bytes: Buffer): EventBytes {
  const fields = new Fields(bytes);
  const event = { stream: '', revision: 0, id: '', type: '', contentType: '', data: none, metadata: none };
  let [commit, prepare] = [0, 0];
  while (fields.next()) {
    switch (fields.number) {
      case 1:
        event.id = inner(fields.bytes(), 2).toString('latin1');
        break;
      case 2:
        event.stream = inner(fields.bytes(), 3).toString();
        break;
      case 3:
        event.revision = fields.value();
        break;
      case 4:
        prepare = fields.value();
        break;
      case 5:
        commit = fields.value();
        break;
      case 6: {
        const entry = fields.bytes();
        const name = inner(entry, 1).toString('latin1');
        if (name === 'type') event.type = inner(entry, 2).toString();
        else if (name === 'content-type') event.contentType = inner(entry, 2).toString('latin1');
        break;
      }
      case 7:
        event.metadata = fields.bytes();
        break;
      case 8:
        event.data = fields.bytes();
        break;
      default:
        fields.skip();
    }
  }
  return { ...event, place: { commit, prepare } };
}

/** Throws where the bytes are no such message. */
export function decodeSubscriptionMessage(bytes: Buffer): SubscriptionMessage {
  const fields = new Fields(bytes);
  while (fields.next()) {
    if (fields.number === eventField) {
      const event = inner(fields.bytes(), 1);
      return event.length === 0 ? { kind: 'other' } : { kind: 'event', event: recorded(event) };
    }
    if (fields.number === checkpointField) return { kind: 'checkpoint', place: placeOf(fields.bytes()) };
    if (fields.number === caughtUpField) {
      const place = inner(fields.bytes(), 3);
      return { kind: 'caughtUp', place: place.length === 0 ? null : placeOf(place) };
    }
    fields.skip();
  }
  return { kind: 'other' };
}

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes;
  }
};

/** As the client would hand it over. Throws `ForeignEvent` where its places cannot be told apart. */
export function engineEventOf(bytes: EventBytes): EngineEvent {
  const { stream, revision, place, id, type, contentType, data, metadata } = bytes;
  const isJson = contentType === 'application/json';
  const event = {
    streamId: stream,
    revision: BigInt(revision),
    id,
    type,
    isJson,
    data: isJson ? parsed(data) : data,
    metadata: parsed(metadata),
    sizeBytes: data.length + metadata.length,
  };
  if (!Number.isSafeInteger(place.commit)) throw new ForeignEvent(event, `its position is ${place.commit}`);
  return { ...event, position: { commit: BigInt(place.commit), prepare: BigInt(place.prepare) } };
}
