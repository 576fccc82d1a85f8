import { describe, expect, it } from '@jest/globals';
import type { AttemptRecord, DeliveryEvent, NotificationRequest } from '#contracts/delivery';
import { given } from '#eventing/given';
import { derivedId } from '#runtime/ids';
import { notificationOf } from '../delivery.kit.js';
import { deliveryDecider, type DeliveryCommand } from './delivery.js';

const request: NotificationRequest = notificationOf({ config: { url: { $sealed: 'x' } } });
const beginMs = Date.parse(request.createdAt);
const after = (seconds: number): string => new Date(beginMs + seconds * 1_000).toISOString();
const linkBase = 'https://meerkat.example';
const summary = { method: 'POST', url: 'https://hooks.example/x' };
const record: AttemptRecord = { durationMs: 5, request: summary, response: { status: 500, body: '' }, error: null };

const asked = (more: Partial<NotificationRequest> = {}): DeliveryEvent => ({
  type: 'delivery.requested',
  data: { request: { ...request, ...more }, linkBase },
});
const started: DeliveryEvent = {
  type: 'attempt.started',
  data: { attempt: 1, at: after(0), timeoutMs: 10_000, worker: 'w', request: summary },
};
type Ended = Extract<DeliveryEvent, { type: 'attempt.ended' }>['data'];
const ended = (next: Ended['next'], settled: Ended['settled'] = []): DeliveryEvent => ({
  type: 'attempt.ended',
  data: { attempt: 1, at: after(1), result: record, settled, next },
});
const failed = ended({ state: 'failed', reason: 'http_status' });
const action = { ...request.action, config: { url: { $sealed: 'mended' } } };
const resend = (at: string): DeliveryCommand => ({ type: 'resendDelivery', at, expiresAt: after(90_000), action });
const resent = (at: string): DeliveryEvent => ({
  type: 'delivery.resent',
  data: { at, expiresAt: after(90_000), action },
});
const lose: DeliveryCommand = {
  type: 'loseAttempt',
  attempt: 1,
  at: after(60),
  observer: { worker: 'v', ownerIsDead: true },
  random: 0,
};
const stateAfter = (...events: readonly DeliveryEvent[]) =>
  events.reduce(deliveryDecider.evolve, deliveryDecider.initial);

describe('a delivery of a folded day, of which the last event is left', () => {
  const end = ended({ state: 'delivered' });

  it('is neither asked for nor sent again', () => {
    given(deliveryDecider, end).when({ type: 'requestDelivery', request, linkBase }).thenNothing();
    given(deliveryDecider, started, end).when(lose).thenNothing();
    given(deliveryDecider, end)
      .when(resend(after(100)))
      .thenRejected('delivery_folded');
  });
});

describe('a delivery that a person has sent again', () => {
  it.each([
    ['failed', failed],
    ['expired', ended({ state: 'expired', reason: 'http_status' })],
    ['arrived', ended({ state: 'delivered' })],
  ])('after it %s goes to where the action leads now, once', (_how, end) => {
    given(deliveryDecider, asked(), started, end)
      .when(resend(after(100)))
      .then(resent(after(100)))
      .andAgainNothing();
    expect(stateAfter(asked(), started, end, resent(after(100)))).toMatchObject({
      status: 'waiting',
      nextAttemptAt: after(100),
      request: { action, expiresAt: after(90_000), context: request.context },
    });
  });

  it('goes to those who have not got it, or to all where all had', () => {
    const parts = [
      { part: 0, refused: null },
      { part: 1, refused: 'smtp_refused' },
    ];
    const some = ended({ state: 'failed', reason: 'smtp_refused' }, parts);
    expect(stateAfter(asked(), started, some, resent(after(9)))).toMatchObject({ settled: [parts[0]] });
    const all = ended({ state: 'delivered' }, [{ part: 0, refused: null }]);
    expect(stateAfter(asked(), started, all, resent(after(9)))).toMatchObject({ settled: [] });
  });

  it('is left alone while a try is under way', () => {
    given(deliveryDecider, asked(), started)
      .when(resend(after(2)))
      .thenNothing();
  });

  it('is retried from the start of the schedule', () => {
    const again: DeliveryEvent = {
      type: 'attempt.started',
      data: { attempt: 2, at: after(100), timeoutMs: 10_000, worker: 'w', request: summary },
    };
    const retry = { kind: 'retry', reason: 'http_status', retryAfterMs: null, record, settled: [] } as const;
    given(deliveryDecider, asked(), started, failed, resent(after(100)), again)
      .when({ type: 'endAttempt', attempt: 2, at: after(101), result: retry, random: 0 })
      .then({
        type: 'attempt.ended',
        data: {
          attempt: 2,
          at: after(101),
          result: record,
          settled: [],
          next: { state: 'retrying', nextAttemptAt: after(106) },
        },
      });
  });
});

describe('a delivery whose last try nobody knows of', () => {
  const held = asked({ action: { ...request.action, retryUnknown: false } });
  const unknown: DeliveryEvent = {
    type: 'attempt.lost',
    data: { attempt: 1, at: after(60), next: { policy: 'hold' } },
  };

  it('is tried again where its action says nothing else', () => {
    given(deliveryDecider, asked(), started)
      .when(lose)
      .then({
        type: 'attempt.lost',
        data: { attempt: 1, at: after(60), next: { policy: 'retry', nextAttemptAt: after(65) } },
      });
  });

  it('is held for a person where its action asks for that', () => {
    given(deliveryDecider, held, started).when(lose).then(unknown).andAgainNothing();
    given(deliveryDecider, held, started, unknown)
      .when({ type: 'startAttempt', at: after(70), timeoutMs: 1, worker: 'w', request: summary })
      .thenNothing();
    given(deliveryDecider, held, started, unknown)
      .when(resend(after(100)))
      .then(resent(after(100)));
  });

  it('has arrived where its answer comes in after all', () => {
    const result = { kind: 'delivered', record, settled: [] } as const;
    given(deliveryDecider, held, started, unknown)
      .when({ type: 'endAttempt', attempt: 1, at: after(70), result, random: 0 })
      .then({
        type: 'attempt.ended',
        data: { attempt: 1, at: after(70), result: record, settled: [], next: { state: 'delivered' } },
      });
  });
});

describe('a delivery that is held back', () => {
  const until = after(600);
  const held = asked({ heldUntil: until });
  const other = { ...request, deliveryId: derivedId('dlv', beginMs, 'other') };
  const gather: DeliveryCommand = { type: 'gatherMessage', at: after(5), request: other };
  const gathered: DeliveryEvent = { type: 'delivery.gathered', data: { at: after(5), request: other } };

  it('is not tried before its time', () => {
    const start = { type: 'startAttempt', timeoutMs: 1, worker: 'w', request: summary } as const;
    given(deliveryDecider, held)
      .when({ ...start, at: after(599) })
      .thenNothing();
    expect(deliveryDecider.decide({ ...start, at: until }, stateAfter(held))).toMatchObject([
      { type: 'attempt.started' },
    ]);
  });

  it('gathers another message once, and none after its first try', () => {
    given(deliveryDecider, held).when(gather).then(gathered).andAgainNothing();
    given(deliveryDecider, held, started).when(gather).thenNothing();
  });

  it('can be given up or put off as long as nothing was sent', () => {
    const suppress: DeliveryCommand = { type: 'suppressDelivery', at: after(6), reason: 'over' };
    given(deliveryDecider, held)
      .when(suppress)
      .then({ type: 'delivery.suppressed', data: { at: after(6), reason: 'over' } })
      .andAgainNothing();
    const postpone: DeliveryCommand = {
      type: 'postponeDelivery',
      at: until,
      reason: 'acknowledged',
      until: after(900),
    };
    given(deliveryDecider, held)
      .when(postpone)
      .then({ type: 'delivery.postponed', data: { at: until, reason: 'acknowledged', until: after(900) } });
    const retrying = ended({ state: 'retrying', nextAttemptAt: after(6) });
    for (const command of [suppress, postpone]) {
      given(deliveryDecider, asked(), started, retrying).when(command).thenNothing();
    }
  });
});
