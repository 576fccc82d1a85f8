/**
 * Appends on one long call, each with a deadline of its own.
 *
 * The client's `appendToStream` is not used. Of version 6.2.1, `streams/appendToStream/batchAppend.js` keeps the answers it
 * waits for in one map for all calls: an error of an old call empties it, and the next answer on a new call throws in an
 * event handler, which ends the process; so does a write that waits while the call breaks (`utils/backpressuredWrite.js`
 * rejects inside an async executor). A call that ends without an error leaves its appends waiting for ever, and
 * a conflict is answered with revision 1 whatever it is. `Append` has the second fault too.
 */
import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { patienceMs, within, type Connection } from './eventstoredb-connection.js';
import { deniedUser, Lost, Refused } from './eventstoredb-errors.js';
import type { EncodedEvent } from './eventstoredb-events.js';
import type { ExpectedRevision } from './event-store.js';

export interface EngineAppend {
  readonly stream: string;
  readonly events: readonly EncodedEvent[];
  readonly expected: ExpectedRevision;
}

export type EngineAnswer =
  /** The server does not tell the position of some repeats. */
  | { readonly ok: true; readonly revision: bigint; readonly commit: bigint | null }
  | { readonly ok: false; readonly revision: bigint | null };

interface OpenCall {
  readonly waiting: Map<string, (response: BatchAppendResp | Lost) => void>;
  /** Of the newest answer: a call that answers nobody is given up. */
  answeredAtMs: number;
  write(request: BatchAppendReq): void;
  end(reason: Lost): void;
}

const detailsOf = 'event_store.client.';
/** What every version takes in one append; some end the whole call for more than they take. */
const appendLimitBytes = 1024 * 1024;

/** As the server counts, which holds types in UTF-16. */
const sizeOf = ({ type, data, metadata }: EncodedEvent): number =>
  type.length * 2 + data.byteLength + metadata.byteLength;

function requestFor({ stream, events, expected }: EngineAppend, correlationId: string): BatchAppendReq {
  // No deadline goes with it: it would be a time of day, and the server's clock may differ. It has a time limit of its own.
  const options = new streams.BatchAppendReq.Options();
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Uint8Array.from(Buffer.from(stream)));
  options.setStreamIdentifier(identifier);
  if (expected === 'none') options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streams.BatchAppendReq();
  request.setCorrelationId(uuid(correlationId));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(message));
  request.setIsFinal(true);
  return request;
}

function message({ id, type, data, metadata }: EncodedEvent): BatchAppendReq.ProposedMessage {
  const proposed = new streams.BatchAppendReq.ProposedMessage();
  proposed.setId(uuid(id));
  proposed.getMetadataMap().set('type', type).set('content-type', 'application/json');
  proposed.setData(data);
  proposed.setCustomMetadata(metadata);
  return proposed;
}

function uuid(text: string) {
  const id = new shared.UUID();
  id.setString(text);
  return id;
}

/** Throws `Refused`, and `Lost` where the server itself does not know. */
function answerOf(response: BatchAppendResp): EngineAnswer {
  const success = response.getSuccess();
  if (success !== undefined) {
    const commit = success.getPosition()?.getCommitPosition();
    return {
      ok: true,
      revision: BigInt(success.getCurrentRevision()),
      commit: commit === undefined ? null : BigInt(commit),
    };
  }
  const details = response.getError()?.getDetails();
  const kind = details?.getTypeName().slice(detailsOf.length);
  switch (kind) {
    case 'WrongExpectedVersion': {
      const conflict = details?.unpack(shared.WrongExpectedVersion.deserializeBinary, `${detailsOf}${kind}`);
      const hasRevision = conflict?.hasCurrentStreamRevision() ?? false;
      return { ok: false, revision: hasRevision ? BigInt(conflict?.getCurrentStreamRevision() ?? 0) : null };
    }
    case 'AccessDenied':
      throw new Refused(deniedUser);
    case 'StreamDeleted':
    case 'BadRequest':
    case 'MaximumAppendSizeExceeded':
    case 'MaximumAppendEventSizeExceeded':
      throw new Refused(kind);
    default:
      throw new Lost(response.getError()?.getMessage() ?? 'an empty answer');
  }
}

function correlationOf(response: BatchAppendResp): string {
  const id = response.getCorrelationId();
  const halves = id?.getStructured();
  if (halves === undefined) return id?.getString() ?? '';
  const half = (value: string): string => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
  const hex = half(halves.getMostSignificantBits()) + half(halves.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function createAppends(connection: Connection) {
  let current: Promise<OpenCall> | null = null;

  const open = async (forget: () => void): Promise<OpenCall> => {
    const session = await within(patienceMs, 'connecting', connection.session());
    const call = session.streams.batchAppend(...session.callArguments());
    const waiting: OpenCall['waiting'] = new Map();
    const opened: OpenCall = {
      waiting,
      answeredAtMs: Date.now(),
      write: (request) => void call.write(request),
      end(reason) {
        forget();
        session.signal.removeEventListener('abort', leave);
        for (const settle of waiting.values()) settle(reason);
        waiting.clear();
        call.cancel();
      },
    };
    const leave = (): void => opened.end(new Lost('the connection was given up', session.signal.reason));
    session.signal.addEventListener('abort', leave, { once: true });
    call.on('data', (response: BatchAppendResp) => {
      opened.answeredAtMs = Date.now();
      const correlationId = correlationOf(response);
      const settle = waiting.get(correlationId);
      // An answer that came too late, or twice, belongs to nobody.
      waiting.delete(correlationId);
      settle?.(response);
    });
    call.on('error', (error: Error) => {
      opened.end(new Lost('the call broke', error));
      connection.report(session, error);
    });
    call.on('end', () => opened.end(new Lost('the server ended the call')));
    if (session.signal.aborted) leave();
    return opened;
  };

  const currentCall = (): Promise<OpenCall> => {
    if (current !== null) return current;
    const forget = (): void => {
      if (current === opening) current = null;
    };
    const opening: Promise<OpenCall> = open(() => forget());
    current = opening;
    opening.catch(forget);
    return opening;
  };

  return {
    /** One try. Rejects with `Lost` where it may or may not be written, with `Refused` where it never will be. */
    async append(append: EngineAppend, milliseconds: number): Promise<EngineAnswer> {
      const sizeBytes = append.events.reduce((sum, event) => sum + sizeOf(event), 0);
      if (sizeBytes > appendLimitBytes) {
        throw new Refused(`${append.stream}: an append of ${sizeBytes} bytes; it takes ${appendLimitBytes} at most`);
      }
      const call = await currentCall();
      const correlationId = randomUUID();
      const sentAtMs = Date.now();
      const answered = new Promise<BatchAppendResp | Lost>((resolve) => call.waiting.set(correlationId, resolve));
      call.write(requestFor(append, correlationId));
      let response: BatchAppendResp | Lost;
      try {
        response = await within(milliseconds, `appending to ${append.stream}`, answered);
      } catch (error) {
        call.waiting.delete(correlationId);
        if (call.answeredAtMs < sentAtMs) call.end(new Lost('the call answers nobody'));
        throw error;
      }
      if (response instanceof Lost) throw response;
      return answerOf(response);
    },

    /** Ends the call; what waits for an answer is lost. */
    async close(): Promise<void> {
      const call = await current?.catch(() => null);
      call?.end(new Lost('the event store is closed'));
    },
  };
}
