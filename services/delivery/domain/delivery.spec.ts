import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AttemptRecord, DeliveryEvent, NotificationRequest } from '#contracts/delivery';
import { given } from '#eventing/given';
import { derivedId } from '#runtime/ids';
import {
  deliveryDecider,
  retryDelaysMs,
  type AttemptResult,
  type AttemptResultKind,
  type Delivery,
  type DeliveryCommand,
  type Observer,
} from './delivery.js';

const beginMs = Date.parse('2026-01-01T00:00:00.000Z');
const after = (seconds: number): string => new Date(beginMs + seconds * 1_000).toISOString();
const dayMs = 86_400_000;

const request: NotificationRequest = {
  deliveryId: derivedId('dlv', beginMs, 'one'),
  organizationId: derivedId('org', beginMs, 'one'),
  taskId: derivedId('ntf', beginMs, 'one'),
  executionId: derivedId('exe', beginMs, 'one'),
  action: {
    id: derivedId('act', beginMs, 'one'),
    type: 'webhook',
    config: { url: { $sealed: 'x' } },
    enabled: true,
    expireAfterSeconds: 86_400,
    on: ['triggered'],
  },
  kind: 'triggered',
  context: {
    task: { id: derivedId('ntf', beginMs, 'one'), name: 'n', url: 'https://example.com/', tags: [] },
    execution: {
      id: derivedId('exe', beginMs, 'one'),
      outcome: true,
      values: {},
      finishedAt: after(0),
      finalUrl: null,
    },
    transition: null,
    message: 'm',
  },
  createdAt: after(0),
  expiresAt: after(86_400),
};

const summary = { method: 'POST', url: 'https://hooks.example/x' };
const record: AttemptRecord = { durationMs: 5, request: summary, response: { status: 500, body: '' }, error: null };
const linkBase = 'https://meerkat.example';
const requested: DeliveryEvent = { type: 'delivery.requested', data: { request, linkBase } };
const asked: DeliveryCommand = { type: 'requestDelivery', request, linkBase };

const start = (at: string): DeliveryCommand => ({
  type: 'startAttempt',
  at,
  timeoutMs: 10_000,
  worker: 'w',
  request: summary,
});
const started = (attempt: number, at: string): DeliveryEvent => ({
  type: 'attempt.started',
  data: { attempt, at, timeoutMs: 10_000, worker: 'w', request: summary },
});
const resultOf = (kind: AttemptResultKind, settled: AttemptResult['settled'] = []): AttemptResult => ({
  ...kind,
  record,
  settled,
});
const end = (attempt: number, at: string, kind: AttemptResultKind, random = 0): DeliveryCommand => ({
  type: 'endAttempt',
  attempt,
  at,
  result: resultOf(kind),
  random,
});
type Ended = Extract<DeliveryEvent, { type: 'attempt.ended' }>['data'];
const ended = (attempt: number, at: string, next: Ended['next'], settled: Ended['settled'] = []): DeliveryEvent => ({
  type: 'attempt.ended',
  data: { attempt, at, result: record, settled, next },
});
const others: Observer = { worker: 'another', ownerIsDead: false };
const lose = (attempt: number, at: string, observer = others): DeliveryCommand => ({
  type: 'loseAttempt',
  attempt,
  at,
  observer,
  random: 0,
});
const lost = (attempt: number, at: string, nextAttemptAt: string): DeliveryEvent => ({
  type: 'attempt.lost',
  data: { attempt, at, next: { policy: 'retry', nextAttemptAt } },
});
const retry: AttemptResultKind = { kind: 'retry', reason: 'http_status', retryAfterMs: null };

describe('a delivery', () => {
  it('is created once for any number of equal requests', () => {
    given(deliveryDecider).when(asked).then(requested).andAgainNothing();
  });

  it('keeps the base of its links when the public address changes later', () => {
    given(deliveryDecider, requested)
      .when({ ...asked, linkBase: 'http://elsewhere.example' })
      .thenNothing();
    expect(deliveryDecider.evolve(deliveryDecider.initial, requested)).toMatchObject({ linkBase });
  });

  it('without a request is rejected', () => {
    given(deliveryDecider)
      .when(start(after(0)))
      .thenRejected('delivery_unknown');
  });

  it('is attempted at once, by one worker at a time', () => {
    given(deliveryDecider, requested)
      .when(start(after(0)))
      .then(started(1, after(0)))
      .andAgainNothing();
  });

  it('is not attempted before it is due', () => {
    given(
      deliveryDecider,
      requested,
      started(1, after(0)),
      ended(1, after(1), { state: 'retrying', nextAttemptAt: after(6) }),
    )
      .when(start(after(5.999)))
      .thenNothing();
  });

  it('expires where it is due after its expiry', () => {
    given(deliveryDecider, requested)
      .when(start(after(86_400)))
      .then({ type: 'delivery.expired', data: { at: after(86_400) } })
      .andAgainNothing();
    given(deliveryDecider, requested)
      .when({ type: 'expireDelivery', at: after(86_400) })
      .then({ type: 'delivery.expired', data: { at: after(86_400) } })
      .andAgainNothing();
    given(deliveryDecider, requested)
      .when({ type: 'expireDelivery', at: after(86_399) })
      .thenNothing();
  });

  it('stays delivered after an answer that accepts it', () => {
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(1), { kind: 'delivered' }))
      .then(ended(1, after(1), { state: 'delivered' }))
      .andAgainNothing();
    const delivered = [requested, started(1, after(0)), ended(1, after(1), { state: 'delivered' })];
    given(deliveryDecider, ...delivered)
      .when(start(after(9)))
      .thenNothing();
    given(deliveryDecider, ...delivered)
      .when(end(1, after(9), retry))
      .thenNothing();
    given(deliveryDecider, ...delivered)
      .when(lose(1, after(99)))
      .thenNothing();
    given(deliveryDecider, ...delivered)
      .when({ type: 'expireDelivery', at: after(99_999) })
      .thenNothing();
  });

  it('fails permanently on an answer that will not change', () => {
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(1), { kind: 'refused', reason: 'gone' }))
      .then(ended(1, after(1), { state: 'failed', reason: 'gone' }))
      .andAgainNothing();
  });
});

describe('a failed attempt', () => {
  it.each([
    [1, 5],
    [2, 30],
    [3, 120],
    [4, 600],
    [5, 1_800],
    [6, 3_600],
    [7, 10_800],
    [8, 21_600],
    [9, 43_200],
    [10, 43_200],
    [25, 43_200],
  ])('number %i is followed by the next one %i s later', (attempt, seconds) => {
    const longLived: DeliveryEvent = {
      type: 'delivery.requested',
      data: { request: { ...request, expiresAt: after(604_800) }, linkBase },
    };
    given(deliveryDecider, longLived, started(attempt, after(0)))
      .when(end(attempt, after(10), retry))
      .then(ended(attempt, after(10), { state: 'retrying', nextAttemptAt: after(10 + seconds) }))
      .andAgainNothing();
  });

  it('waits up to a fifth longer at random, never shorter', () => {
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(10), retry, 0.5))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(15.5) }));
  });

  it('waits as long as the receiver asks where that is longer', () => {
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: 60_000 }))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(70) }));
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: 1 }))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(15) }));
  });

  it('is the last where the next would come after the expiry', () => {
    given(deliveryDecider, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: dayMs }))
      .then(ended(1, after(10), { state: 'expired', reason: 'http_status' }))
      .andAgainNothing();
  });

  it('records the settled parts, each once', () => {
    const first = ended(1, after(1), { state: 'retrying', nextAttemptAt: after(6) }, [{ part: 0, refused: null }]);
    given(deliveryDecider, requested, started(1, after(0)), first, started(2, after(6)))
      .when({
        type: 'endAttempt',
        attempt: 2,
        at: after(7),
        result: resultOf({ kind: 'refused', reason: 'recipients_refused' }, [
          { part: 0, refused: null },
          { part: 1, refused: 'smtp_refused' },
        ]),
        random: 0,
      })
      .then(
        ended(2, after(7), { state: 'failed', reason: 'recipients_refused' }, [{ part: 1, refused: 'smtp_refused' }]),
      );
  });
});

describe('a started attempt without an end', () => {
  const open = [requested, started(1, after(0))];

  it('is lost after twice its timeout, not before', () => {
    given(deliveryDecider, ...open)
      .when(lose(1, after(19.999)))
      .thenNothing();
    given(deliveryDecider, ...open)
      .when(lose(1, after(20)))
      .then(lost(1, after(20), after(25)))
      .andAgainNothing();
  });

  it('is lost at once for another worker where its owner is dead', () => {
    given(deliveryDecider, ...open)
      .when(lose(1, after(1), { worker: 'another', ownerIsDead: true }))
      .then(lost(1, after(1), after(6)))
      .andAgainNothing();
  });

  it('is lost after twice its timeout for its owner', () => {
    for (const ownerIsDead of [true, false]) {
      given(deliveryDecider, ...open)
        .when(lose(1, after(19.999), { worker: 'w', ownerIsDead }))
        .thenNothing();
      given(deliveryDecider, ...open)
        .when(lose(1, after(20), { worker: 'w', ownerIsDead }))
        .then(lost(1, after(20), after(25)));
    }
  });

  it('is followed by the next attempt of the same delivery', () => {
    given(deliveryDecider, ...open, lost(1, after(20), after(25)))
      .when(start(after(25)))
      .then(started(2, after(25)));
  });

  it('counts as delivered where its late answer arrives before the next attempt', () => {
    const afterLoss = given(deliveryDecider, ...open, lost(1, after(20), after(25)));
    afterLoss
      .when(end(1, after(21), { kind: 'delivered' }))
      .then(ended(1, after(21), { state: 'delivered' }))
      .andAgainNothing();
    afterLoss.when(end(1, after(21), retry)).thenNothing();
    given(deliveryDecider, ...open, lost(1, after(20), after(25)), started(2, after(25)))
      .when(end(1, after(26), { kind: 'delivered' }))
      .thenNothing();
  });

  it('is not ended by the number of another attempt', () => {
    given(deliveryDecider, ...open)
      .when(lose(2, after(99)))
      .thenNothing();
  });
});

describe('any interleaving of repeated and late commands', () => {
  const kind = fc.oneof(
    fc.constant<AttemptResultKind>({ kind: 'delivered' }),
    fc.constant<AttemptResultKind>({ kind: 'refused', reason: 'r' }),
    fc
      .option(fc.integer({ min: 0, max: 2 * dayMs }))
      .map((retryAfterMs): AttemptResultKind => ({ ...retry, retryAfterMs })),
  );
  const at = fc.integer({ min: 0, max: 90_000 }).map(after);
  const random = fc.double({ min: 0, max: 0.999, noNaN: true });
  const attempt = fc.integer({ min: 1, max: 4 });
  const command = fc.oneof(
    fc.constant(asked),
    at.map(start),
    at.map(start),
    fc.tuple(attempt, at, kind, random).map((of) => end(...of)),
    fc
      .tuple(attempt, at, fc.record({ worker: fc.constantFrom('w', 'another'), ownerIsDead: fc.boolean() }))
      .map((of) => lose(...of)),
    at.map((time): DeliveryCommand => ({ type: 'expireDelivery', at: time })),
  );

  it('keeps one attempt open at most, one final state, one id, and no attempt too early or too late', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        let state: Delivery = deliveryDecider.initial;
        let open: number | null = null;
        let started = 0;
        let final: Delivery | null = null;
        for (const next of [asked, ...commands, ...commands]) {
          const before = state;
          for (const event of deliveryDecider.decide(next, state)) {
            expect(final).toBeNull();
            if (event.type === 'attempt.started') {
              expect(open).toBeNull();
              expect(event.data.attempt).toBe(started + 1);
              expect(before).toMatchObject({ status: 'waiting' });
              expect(event.data.at < request.expiresAt).toBe(true);
              if (before.status === 'waiting') expect(event.data.at >= before.nextAttemptAt).toBe(true);
              open = started = event.data.attempt;
            }
            if (event.type === 'attempt.ended' || event.type === 'attempt.lost') {
              expect(event.data.attempt).toBe(started);
              open = null;
            }
            state = deliveryDecider.evolve(state, event);
          }
          if (next.type !== 'startAttempt') expect(deliveryDecider.decide(next, state)).toEqual([]);
          expect(state).toMatchObject({ request: { deliveryId: request.deliveryId } });
          if (state.status === 'delivered' || state.status === 'failed' || state.status === 'expired') final = state;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('waits longer from attempt to attempt', () => {
    expect([...retryDelaysMs].sort((a, b) => a - b)).toEqual(retryDelaysMs);
  });
});
