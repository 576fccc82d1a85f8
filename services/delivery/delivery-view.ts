/** The view `deliveries`: each delivery as the API answers it, and when a worker has to look at it again. */
import { deliveriesView, threadOf, type DeliveryDocument, type DeliveryEvent } from '#contracts/delivery';
import { lastMomentOf, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import { forgettingPurged } from '#eventing/forget-purged';
import { unreachable } from '#runtime/errors';
import { messageTypeOf } from '#channels/message';
import { deliveryIdOf } from './delivery-stream.js';
import { lostAtMs } from './domain/delivery.js';

type Attempt = DeliveryDocument['attempts'][number];

/** The open attempt is the last one; its end is written into it. */
function ended(attempts: readonly Attempt[], end: Partial<Attempt>): Attempt[] {
  const last = attempts.at(-1);
  return last === undefined ? [] : [...attempts.slice(0, -1), { ...last, ...end }];
}

function finished(document: DeliveryDocument, finishedAt: string, reason: string | null): DeliveryDocument {
  return { ...document, reason, nextAttemptAt: null, dueAt: null, finishedAt };
}

const lostMessage =
  'The service stopped between sending and writing down the answer: nobody knows whether this try arrived.';

export function documentAfter(document: DeliveryDocument | null, event: DeliveryEvent): DeliveryDocument | null {
  if (event.type === 'delivery.requested') {
    const { request } = event.data;
    const thread = threadOf(request);
    return {
      id: request.deliveryId,
      organizationId: request.organizationId,
      notificationId: request.taskId,
      executionId: request.executionId,
      actionId: request.action.id,
      actionType: request.action.type,
      ...(thread === null ? {} : { thread }),
      type: messageTypeOf(request),
      state: 'pending',
      reason: null,
      attempts: [],
      createdAt: request.createdAt,
      nextAttemptAt: request.heldUntil ?? request.createdAt,
      expiresAt: request.expiresAt,
      finishedAt: null,
      dueAt: request.heldUntil ?? request.createdAt,
    };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'attempt.started': {
      const { at, timeoutMs, request } = event.data;
      return {
        ...document,
        state: 'sending',
        attempts: [...document.attempts, { at, durationMs: 0, request, response: null, error: null }],
        nextAttemptAt: null,
        dueAt: new Date(lostAtMs({ startedAt: at, timeoutMs })).toISOString(),
      };
    }
    case 'attempt.ended': {
      const { at, result, next } = event.data;
      const base = { ...document, state: next.state, attempts: ended(document.attempts, result) };
      switch (next.state) {
        case 'retrying': {
          const { nextAttemptAt } = next;
          return { ...base, reason: result.error?.reason ?? null, nextAttemptAt, dueAt: nextAttemptAt };
        }
        case 'delivered':
          return finished(base, at, null);
        case 'failed':
        case 'expired':
          return finished(base, at, next.reason);
        default:
          return unreachable(next);
      }
    }
    case 'attempt.lost': {
      const { next } = event.data;
      const reason = 'attempt_lost';
      const attempts = ended(document.attempts, { error: { reason, message: lostMessage } });
      if (next.policy === 'hold') {
        return { ...document, state: 'unknown', reason, attempts, nextAttemptAt: null, dueAt: null };
      }
      const { nextAttemptAt } = next;
      return { ...document, state: 'retrying', reason, attempts, nextAttemptAt, dueAt: nextAttemptAt };
    }
    case 'delivery.expired':
      return finished({ ...document, state: 'expired' }, event.data.at, 'expired');
    case 'delivery.suppressed':
      return finished({ ...document, state: 'suppressed' }, event.data.at, event.data.reason);
    case 'delivery.postponed': {
      const { reason, until } = event.data;
      return { ...document, reason, nextAttemptAt: until, dueAt: until };
    }
    case 'delivery.gathered':
      return { ...document, type: messageTypeOf({ kind: 'digest' }) };
    case 'delivery.resent': {
      const { at, expiresAt } = event.data;
      const state = document.attempts.length === 0 ? 'pending' : 'retrying';
      return { ...document, state, reason: null, nextAttemptAt: at, dueAt: at, expiresAt, finishedAt: null };
    }
    default:
      return unreachable(event);
  }
}

export const deliveriesProjection = forgettingPurged<DeliveryDocument>(
  {
    view: deliveriesView,
    prefixes: ['dlv-', 'stats-'],
    idOf: ({ stream }) => (stream.startsWith('dlv-') ? deliveryIdOf(stream) : null),
    reduce: (document, recorded) => documentAfter(document, decodeEvent<DeliveryEvent>(recorded)),
    forgets(recorded) {
      if (recorded.type !== 'deliveries.folded') return [];
      const { taskId, day } = decodeEvent<FoldEvent>(recorded).data;
      return [
        [
          { field: 'notificationId', equals: taskId },
          { field: 'createdAt', to: lastMomentOf(day) },
        ],
      ];
    },
  },
  'notificationId',
);
