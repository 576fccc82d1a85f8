/** Messages as they go on the wire, built with the definitions that the client ships. */
import { Metadata, status } from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';

export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** A fault as gRPC reports it: status, words, and the headers by which the client knows its kind. */
export class Refusal extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;

  constructor(code: number, details: string, headers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.code = code;
    this.details = details;
    this.metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) this.metadata.set(name, value);
  }
}

export const unavailable = () => new Refusal(status.UNAVAILABLE, 'Server Is Not Ready');
export const notLeader = (host: string, port: number) =>
  new Refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
export const noLeaderInfo = () => new Refusal(status.UNKNOWN, 'No leader info available in response');
export const accessDenied = () =>
  new Refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
export const invalid = (details: string) => new Refusal(status.INVALID_ARGUMENT, details);

const utf8 = new TextDecoder();
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf8'));

export function streamIdentifier(name: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(bytes(name));
}

export function streamName(identifier: StreamIdentifier | undefined): string {
  return identifier === undefined ? '' : utf8.decode(identifier.getStreamName_asU8());
}

/** Ids come as text or as two halves of 64 bits. */
export function idText(id: UUID | undefined): string {
  const halves = id?.getStructured();
  if (halves === undefined) return id?.getString().toLowerCase() ?? '';
  const half = (value: string): string => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
  const hex = half(halves.getMostSignificantBits()) + half(halves.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const empty = () => new shared.Empty();
const ticksPerMillisecond = 10_000n;

/** A serialized ReadResp with one event at its place in the log. */
export function eventMessage(event: ProposedEvent, stream: string, revision: number, position: number): Uint8Array {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(streamIdentifier(stream))
    .setStreamRevision(String(revision))
    .setCommitPosition(String(position))
    .setPreparePosition(String(position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('created', String(BigInt(Date.now()) * ticksPerMillisecond))
    .set('content-type', event.contentType);
  const read = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(position));
  return new streams.ReadResp().setEvent(read).serializeBinary();
}

export function confirmationMessage(id: string): Uint8Array {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id);
  return new streams.ReadResp().setConfirmation(confirmation).serializeBinary();
}

export function checkpointMessage(commit: number, prepare: number): Uint8Array {
  const checkpoint = new streams.ReadResp.Checkpoint()
    .setCommitPosition(String(commit))
    .setPreparePosition(String(prepare));
  return new streams.ReadResp().setCheckpoint(checkpoint).serializeBinary();
}

export const maximumCheckpointMessage = (): Uint8Array => {
  const most = String(2n ** 64n - 1n);
  const checkpoint = new streams.ReadResp.Checkpoint().setCommitPosition(most).setPreparePosition(most);
  return new streams.ReadResp().setCheckpoint(checkpoint).serializeBinary();
};

export const caughtUpMessage = (): Uint8Array =>
  new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()).serializeBinary();

export function streamNotFoundMessage(name: string): Uint8Array {
  const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(name));
  return new streams.ReadResp().setStreamNotFound(notFound).serializeBinary();
}

export function appendSuccess(revision: number, position: number | null) {
  const success = new streams.AppendResp.Success();
  if (revision < 0) success.setNoStream(empty());
  else success.setCurrentRevision(String(revision));
  if (position === null) success.setNoPosition(empty());
  else {
    success.setPosition(
      new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );
  }
  return new streams.AppendResp().setSuccess(success);
}

type Expected = number | 'any' | 'no_stream' | 'stream_exists';

export function appendConflict(expected: Expected, current: number | null) {
  const conflict = new streams.AppendResp.WrongExpectedVersion();
  if (expected === 'any') conflict.setExpectedAny(empty());
  else if (expected === 'no_stream') conflict.setExpectedNoStream(empty());
  else if (expected === 'stream_exists') conflict.setExpectedStreamExists(empty());
  else conflict.setExpectedRevision(String(expected));
  if (current === null) conflict.setCurrentNoStream(empty());
  else conflict.setCurrentRevision(String(current));
  return new streams.AppendResp().setWrongExpectedVersion(conflict);
}

export function batchSuccess(correlationId: string, stream: string, revision: number, position: number | null) {
  const success = new streams.BatchAppendResp.Success();
  if (revision < 0) success.setNoStream(empty());
  else success.setCurrentRevision(String(revision));
  if (position === null) success.setNoPosition(empty());
  else {
    success.setPosition(
      new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );
  }
  return batchAnswer(correlationId, stream).setSuccess(success);
}

export function batchConflict(correlationId: string, stream: string, expected: Expected, current: number | null) {
  const conflict = new shared.WrongExpectedVersion();
  if (expected === 'any') conflict.setExpectedAny(empty());
  else if (expected === 'no_stream') conflict.setExpectedNoStream(empty());
  else if (expected === 'stream_exists') conflict.setExpectedStreamExists(empty());
  else conflict.setExpectedStreamPosition(String(expected));
  if (current === null) conflict.setCurrentNoStream(empty());
  else conflict.setCurrentStreamRevision(String(current));
  return batchError(correlationId, stream, 'WrongExpectedVersion', 6, conflict.serializeBinary());
}

export const batchTimeout = (correlationId: string, stream: string) =>
  batchError(correlationId, stream, 'Timeout', 4, new shared.Timeout().serializeBinary());

/** Of a member that cannot take it now: an answer to the one append, which does not end the call. */
export const batchNotReady = (correlationId: string, stream: string) =>
  batchError(correlationId, stream, 'Empty', 0, new shared.Empty().serializeBinary(), 'Server Is Not Ready');

export const batchAccessDenied = (correlationId: string, stream: string) =>
  batchError(correlationId, stream, 'AccessDenied', 7, new shared.AccessDenied().serializeBinary());

export function batchTooLarge(correlationId: string, stream: string, limitBytes: number) {
  const exceeded = new shared.MaximumAppendSizeExceeded().setMaxappendsize(limitBytes);
  return batchError(correlationId, stream, 'MaximumAppendSizeExceeded', 3, exceeded.serializeBinary());
}

export const batchBadRequest = (correlationId: string, stream: string, message: string) =>
  batchError(correlationId, stream, 'BadRequest', 3, new shared.BadRequest().setMessage(message).serializeBinary());

function batchAnswer(correlationId: string, stream: string) {
  return new streams.BatchAppendResp()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setStreamIdentifier(streamIdentifier(stream));
}

function batchError(
  correlationId: string,
  stream: string,
  name: string,
  code: number,
  detail: Uint8Array,
  message: string = name,
) {
  return batchAnswer(correlationId, stream).setError(errorStatus(name, code, detail, message));
}

/** google.rpc.Status around google.protobuf.Any, written by hand: no package of ours declares the type of Any. */
function errorStatus(name: string, code: number, detail: Uint8Array, message: string) {
  const field = (number: number, value: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([number * 8 + 2]), varint(value.byteLength), value]);
  const any = Buffer.concat([field(1, bytes(`type.googleapis.com/event_store.client.${name}`)), field(2, detail)]);
  const encoded = Buffer.concat([Buffer.from([8, code]), field(2, bytes(message)), field(3, any)]);
  return statuses.Status.deserializeBinary(new Uint8Array(encoded));
}

function varint(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  while (rest > 127) {
    groups.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...groups, rest]);
}
