import { describe, expect, it } from '@jest/globals';
import { kitTimeMs } from '#channels/notification.kit';
import { deliveryDocument, type DeliveryDocument, type DeliveryEvent } from '#contracts/delivery';
import { documentAfter } from './delivery-view.js';
import { notificationOf } from './delivery.kit.js';

const request = notificationOf({ kind: 'recovered' });
const at = (seconds: number): string => new Date(kitTimeMs + seconds * 1_000).toISOString();
const summary = { method: 'POST', url: 'https://hooks.example/in' };
const requested: DeliveryEvent = { type: 'delivery.requested', data: { request, linkBase: null } };
const started = (attempt: number, seconds: number): DeliveryEvent => ({
  type: 'attempt.started',
  data: { attempt, at: at(seconds), timeoutMs: 10_000, worker: 'w', request: summary },
});
type Next = Extract<DeliveryEvent, { type: 'attempt.ended' }>['data']['next'];
const ended = (attempt: number, seconds: number, next: Next): DeliveryEvent => ({
  type: 'attempt.ended',
  data: {
    attempt,
    at: at(seconds),
    result: {
      durationMs: 7,
      request: summary,
      response: { status: 500, body: 'no' },
      error: { reason: 'http_status', message: 'm' },
    },
    settled: [],
    next,
  },
});

function after(...events: readonly DeliveryEvent[]): DeliveryDocument {
  const document = events.reduce<DeliveryDocument | null>(documentAfter, null);
  return deliveryDocument.strict().parse(document);
}

describe('the document of a delivery', () => {
  it('is due at once after the request', () => {
    expect(after(requested)).toEqual({
      id: request.deliveryId,
      organizationId: request.organizationId,
      notificationId: request.taskId,
      executionId: request.executionId,
      actionId: request.action.id,
      actionType: 'webhook',
      thread: `${request.action.id}/condition:1`,
      type: 'notification.recovered',
      state: 'pending',
      reason: null,
      attempts: [],
      createdAt: at(0),
      nextAttemptAt: at(0),
      expiresAt: at(86_400),
      finishedAt: null,
      dueAt: at(0),
    });
  });

  it('shows an open attempt, and is due when that counts as lost', () => {
    expect(after(requested, started(1, 1))).toMatchObject({
      state: 'sending',
      attempts: [{ at: at(1), durationMs: 0, request: summary, response: null, error: null }],
      nextAttemptAt: null,
      dueAt: at(21),
    });
  });

  it('shows each attempt with its answer, and when the next is due', () => {
    const document = after(
      requested,
      started(1, 0),
      ended(1, 1, { state: 'retrying', nextAttemptAt: at(6) }),
      started(2, 6),
      ended(2, 7, { state: 'retrying', nextAttemptAt: at(37) }),
    );
    expect(document).toMatchObject({ state: 'retrying', reason: 'http_status', nextAttemptAt: at(37), dueAt: at(37) });
    expect(document.attempts.map((attempt) => [attempt.at, attempt.response?.status])).toEqual([
      [at(0), 500],
      [at(6), 500],
    ]);
  });

  it.each<[Next, string | null]>([
    [{ state: 'delivered' }, null],
    [{ state: 'failed', reason: 'gone' }, 'gone'],
    [{ state: 'expired', reason: 'http_status' }, 'http_status'],
  ])('is never due again after %j', (next, reason) => {
    expect(after(requested, started(1, 0), ended(1, 2, next))).toMatchObject({
      state: next.state,
      reason,
      nextAttemptAt: null,
      dueAt: null,
      finishedAt: at(2),
    });
    expect(after(requested, { type: 'delivery.expired', data: { at: at(9) } })).toMatchObject({
      state: 'expired',
      dueAt: null,
      finishedAt: at(9),
    });
  });

  it('shows a lost attempt, and when the next is due', () => {
    expect(
      after(requested, started(1, 0), {
        type: 'attempt.lost',
        data: { attempt: 1, at: at(20), next: { policy: 'retry', nextAttemptAt: at(25) } },
      }),
    ).toMatchObject({
      state: 'retrying',
      reason: 'attempt_lost',
      attempts: [{ error: { reason: 'attempt_lost' } }],
      dueAt: at(25),
      finishedAt: null,
    });
  });

  it('is created by the request event alone', () => {
    expect(documentAfter(null, started(1, 0))).toBeNull();
  });
});
