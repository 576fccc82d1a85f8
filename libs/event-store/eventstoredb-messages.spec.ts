import { describe, expect, it } from '@jest/globals';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { ForeignEvent } from './eventstoredb-events.js';
import { decodeSubscriptionMessage, engineEventOf } from './eventstoredb-messages.js';

const { ReadResp } = streams;
type Response = InstanceType<typeof ReadResp>;
const bytesOf = (response: Response): Buffer => Buffer.from(response.serializeBinary());

const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));

interface Written {
  readonly commit?: string;
  readonly contentType?: string;
  readonly data?: string;
}

function eventMessage({ commit = '9007199254740991', contentType = 'application/json', data = '{"n":"ü"}' }: Written) {
  const recorded = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString('00000000-0000-4000-8000-0000000000ff'))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(text('test.a-ü')))
    .setStreamRevision('4294967296')
    .setCommitPosition(commit)
    .setPreparePosition('1')
    .setData(text(data))
    .setCustomMetadata(text('{"version":1}'));
  recorded.getMetadataMap().set('type', 'a.n').set('created', '17').set('content-type', contentType);
  return bytesOf(new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(commit)));
}

const decodedEvent = (written: Written) => {
  const message = decodeSubscriptionMessage(eventMessage(written));
  if (message.kind !== 'event') throw new Error(message.kind);
  return engineEventOf(message.event);
};

describe('a message of a subscription', () => {
  it('is an event, as the client would hand it over', () => {
    expect(decodedEvent({})).toEqual({
      streamId: 'test.a-ü',
      revision: 4_294_967_296n,
      id: '00000000-0000-4000-8000-0000000000ff',
      type: 'a.n',
      isJson: true,
      data: { n: 'ü' },
      metadata: { version: 1 },
      sizeBytes: 23,
      position: { commit: 9_007_199_254_740_991n, prepare: 1n },
    });
  });

  it('holds bytes where an event is not JSON, and where it says so wrongly', () => {
    expect(decodedEvent({ contentType: 'application/octet-stream' })).toMatchObject({
      isJson: false,
      data: text('{"n":"ü"}'),
    });
    expect(decodedEvent({ data: '{' })).toMatchObject({ isJson: true, data: text('{') });
  });

  it('of an event beyond the positions that can be told apart is refused', () => {
    expect(() => decodedEvent({ commit: '9007199254740992' })).toThrow(ForeignEvent);
  });

  it('is a checkpoint, of 2^64 - 1 too', () => {
    const checkpoint = new ReadResp.Checkpoint().setCommitPosition('18446744073709551615').setPreparePosition('7');
    expect(decodeSubscriptionMessage(bytesOf(new ReadResp().setCheckpoint(checkpoint)))).toEqual({
      kind: 'checkpoint',
      place: { commit: 2 ** 64, prepare: 7 },
    });
  });

  it('tells how far it is when it has caught up, where the server says it', () => {
    expect(decodeSubscriptionMessage(bytesOf(new ReadResp().setCaughtUp(new ReadResp.CaughtUp())))).toEqual({
      kind: 'caughtUp',
      place: null,
    });
    // Field 8 of the message; in it a time (1), and a position (3) with its two halves.
    const later = Buffer.from([0x42, 12, 0x0a, 2, 0x08, 5, 0x1a, 6, 0x08, 0x80, 0x01, 0x10, 0x80, 0x01]);
    expect(decodeSubscriptionMessage(later)).toEqual({ kind: 'caughtUp', place: { commit: 128, prepare: 128 } });
  });

  it('of another kind, or with fields that are not known, is passed over', () => {
    const confirmation = new ReadResp.SubscriptionConfirmation().setSubscriptionId('x');
    expect(decodeSubscriptionMessage(bytesOf(new ReadResp().setConfirmation(confirmation)))).toEqual({ kind: 'other' });
    // Field 30 as four bytes, field 31 as eight, field 9 as an empty message.
    const unknown = Buffer.from([0xf5, 1, 1, 2, 3, 4, 0xf9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0x4a, 0]);
    expect(decodeSubscriptionMessage(unknown)).toEqual({ kind: 'other' });
  });

  it.each([
    ['a length beyond its end', [0x0a, 5, 1]],
    ['a number without an end', [0x18, 0x80]],
    ['a wire type that there is not', [0x0b, 0]],
  ])('with %s is an error, and never read beyond', (_, bytes) => {
    expect(() => decodeSubscriptionMessage(Buffer.from(bytes))).toThrow('a message of the event store');
  });
});
