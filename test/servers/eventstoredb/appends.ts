/** Appends, one by one and in batches on one long call, with the faults that a test asked for. */
import { status } from '@grpc/grpc-js';
import type { Metadata, sendUnaryData, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { Access, Roles } from './access.ts';
import type { Role } from './cluster.ts';
import type { Faults } from './faults.ts';
import type { AppendAnswer, AppendRequest, Expected, Log } from './log.ts';
import {
  accessDenied,
  appendConflict,
  appendSuccess,
  batchAccessDenied,
  batchBadRequest,
  batchConflict,
  batchNotReady,
  batchSuccess,
  batchTimeout,
  batchTooLarge,
  idText,
  Refusal,
  streamName,
  unavailable,
  type ProposedEvent,
} from './messages.ts';

/** The real server's default. */
const appendLimitBytes = 1024 * 1024;

interface Context {
  readonly log: Log;
  readonly faults: Faults;
  readonly role: Role;
  readonly access: Access;
  readonly cut: () => void;
  readonly leaderRefusal: () => Refusal;
}

/** As long as the server itself waits for an append to become known. */
const ownPatienceMs = 2_000;

/** What came of an append: its answer, an answer that it was not taken, a refusal of the whole call, or nothing at all. */
type Outcome =
  | { readonly answer: AppendAnswer }
  | { readonly refusal: Refusal }
  | { readonly untaken: 'not-ready' | 'timeout' | 'access-denied' }
  | null;

const refusalOf = {
  'not-ready': unavailable,
  timeout: () => new Refusal(status.DEADLINE_EXCEEDED, 'timeout'),
  'access-denied': accessDenied,
} as const;
const untakenAnswer = {
  'not-ready': batchNotReady,
  timeout: batchTimeout,
  'access-denied': batchAccessDenied,
} as const;

type Message = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

function proposed(message: Message): ProposedEvent {
  const headers = message.getMetadataMap();
  const type = headers.get('type');
  const contentType = headers.get('content-type');
  if (type === undefined || contentType === undefined) {
    const missing = type === undefined ? 'type' : 'content-type';
    throw new Refusal(status.INVALID_ARGUMENT, `Required Metadata Property '${missing}' is missing`, {
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': 'type,content-type',
    });
  }
  const isJson = contentType === 'application/json';
  return {
    id: idText(message.getId()),
    type,
    contentType: isJson ? contentType : 'application/octet-stream',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

const sizeOf = ({ type, data, metadata }: ProposedEvent): number =>
  type.length * 2 + data.byteLength + metadata.byteLength;

const asksForLeader = (metadata: Metadata): boolean => metadata.get('requires-leader').includes('true');

/** Who asks, and for whom. */
interface Caller {
  readonly mustLead: boolean;
  readonly roles: Roles;
}

export function createAppends({ log, faults, role, access, cut, leaderRefusal }: Context) {
  const perform = async (request: AppendRequest, { mustLead, roles }: Caller): Promise<Outcome> => {
    const refusal = mustLead ? role.refusal() : null;
    if (refusal?.metadata.get('exception').includes('not-leader') === true) return { refusal };
    if (refusal !== null || !role.canForward()) return { untaken: 'not-ready' };
    if (!access.may(roles, 'write', request.stream)) return { untaken: 'access-denied' };
    const planned = faults.nextAppend();
    if (faults.refusing || planned?.fault === 'unavailable') return { refusal: unavailable() };
    if (planned?.fault === 'not-leader') return { refusal: leaderRefusal() };
    if (planned?.fault === 'not-ready') return { untaken: 'not-ready' };
    if (planned?.fault === 'access-denied') return { untaken: 'access-denied' };
    if (planned?.fault === 'cut-before') {
      cut();
      return null;
    }
    let answer: AppendAnswer;
    try {
      answer = await log.append(request);
      if (planned?.fault === 'twice') answer = await log.append(request);
    } catch (error) {
      return { refusal: new Refusal(status.UNAVAILABLE, `could not be written: ${String(error)}`) };
    }
    if (planned?.fault === 'unanswered') return null;
    if (planned?.fault === 'timeout-answer') return { untaken: 'timeout' };
    if (planned?.fault === 'dropped-repeat') {
      await new Promise((resolve) => setTimeout(resolve, ownPatienceMs));
      return { untaken: 'timeout' };
    }
    if (planned?.fault === 'cut-after') {
      cut();
      return null;
    }
    if (planned?.fault === 'late') await new Promise((resolve) => setTimeout(resolve, planned.delayMs));
    return { answer };
  };

  /** A refusal where the password is wrong. */
  const callerOf = (metadata: Metadata): Caller | Refusal => {
    try {
      return { mustLead: asksForLeader(metadata), roles: access.rolesOf(metadata) };
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };

  return {
    single(call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>): void {
      let options: AppendReq.Options | undefined;
      const events: ProposedEvent[] = [];
      let sizeBytes = 0;
      let finished = false;
      const finish = (error: Refusal | null, response?: AppendResp): void => {
        if (finished) return;
        finished = true;
        if (error !== null) answer(Object.assign(error, { name: 'Refusal' }));
        else if (response !== undefined) answer(null, response);
      };
      call.on('data', (request: AppendReq) => {
        try {
          options ??= request.getOptions();
          const message = request.getProposedMessage();
          if (message === undefined) return;
          const event = proposed(message);
          sizeBytes += sizeOf(event);
          if (sizeBytes > appendLimitBytes) {
            throw new Refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${appendLimitBytes} Exceeded.`, {
              exception: 'maximum-append-size-exceeded',
              'maximum-append-size': String(appendLimitBytes),
            });
          }
          events.push(event);
        } catch (error) {
          finish(error instanceof Refusal ? error : new Refusal(status.UNKNOWN, String(error)));
        }
      });
      call.on('error', () => {
        finished = true;
      });
      call.on('end', () => {
        if (finished) return;
        if (options === undefined) return finish(new Refusal(status.INVALID_ARGUMENT, 'no options'));
        const stream = streamName(options.getStreamIdentifier());
        const expected: Expected = options.hasRevision()
          ? Number(options.getRevision())
          : options.hasNoStream()
            ? 'no_stream'
            : options.hasStreamExists()
              ? 'stream_exists'
              : 'any';
        const caller = callerOf(call.metadata);
        if (caller instanceof Refusal) return finish(caller);
        void perform({ stream, expected, events }, caller).then((outcome) => {
          if (outcome === null) return;
          if ('refusal' in outcome) return finish(outcome.refusal);
          if ('untaken' in outcome) return finish(refusalOf[outcome.untaken]());
          const done = outcome.answer;
          finish(null, done.ok ? appendSuccess(done.revision, done.position) : appendConflict(expected, done.current));
        });
      });
    },

    batch(call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void {
      interface Pending {
        readonly stream: string;
        readonly expected: Expected;
        readonly deadlineAtMs: number;
        readonly events: ProposedEvent[];
        sizeBytes: number;
      }
      const caller = callerOf(call.metadata);
      const pending = new Map<string, Pending>();
      let underWay = 0;
      let ended = false;
      let broken = false;
      const send = (response: BatchAppendResp): void => {
        if (!broken) call.write(response);
      };
      const fail = (error: Refusal): void => {
        if (broken) return;
        broken = true;
        call.emit('error', error);
      };
      const settle = (): void => {
        if (ended && underWay === 0 && !broken) call.end();
      };
      call.on('data', (request: BatchAppendReq) => {
        const correlationId = idText(request.getCorrelationId());
        const options = request.getOptions();
        if (caller instanceof Refusal) return fail(caller);
        if (faults.refusing) return fail(unavailable());
        try {
          if (options !== undefined) {
            const deadline = options.getDeadline();
            const expected: Expected = options.hasStreamPosition()
              ? Number(options.getStreamPosition())
              : options.hasNoStream()
                ? 'no_stream'
                : options.hasStreamExists()
                  ? 'stream_exists'
                  : 'any';
            const stream = streamName(options.getStreamIdentifier());
            const deadlineAtMs = deadline === undefined ? Number.POSITIVE_INFINITY : deadline.toDate().getTime();
            if (deadlineAtMs <= Date.now()) return send(batchTimeout(correlationId, stream));
            pending.set(correlationId, { stream, expected, deadlineAtMs, events: [], sizeBytes: 0 });
          }
          const append = pending.get(correlationId);
          if (append === undefined) return;
          for (const message of request.getProposedMessagesList()) {
            const event = proposed(message);
            append.sizeBytes += sizeOf(event);
            append.events.push(event);
          }
          if (append.sizeBytes > appendLimitBytes) {
            pending.delete(correlationId);
            return send(batchTooLarge(correlationId, append.stream, appendLimitBytes));
          }
          if (!request.getIsFinal()) return;
          pending.delete(correlationId);
          underWay += 1;
          const { stream, expected, events } = append;
          void perform({ stream, expected, events }, caller).then((outcome) => {
            underWay -= 1;
            if (outcome === null) return settle();
            if ('refusal' in outcome) return fail(outcome.refusal);
            if ('untaken' in outcome) {
              send(untakenAnswer[outcome.untaken](correlationId, stream));
              return settle();
            }
            const done = outcome.answer;
            send(
              done.ok
                ? batchSuccess(correlationId, stream, done.revision, done.position)
                : batchConflict(correlationId, stream, expected, done.current),
            );
            settle();
          });
        } catch (error) {
          send(batchBadRequest(correlationId, '', String(error)));
        }
      });
      call.on('error', () => {
        broken = true;
      });
      call.on('cancelled', () => {
        broken = true;
      });
      call.on('end', () => {
        ended = true;
        settle();
      });
    },
  };
}
