import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AttemptResult, DeliveryEvent, NotificationRequest } from '#contracts/delivery';
import { given } from '#event-store/given';
import { derivedId } from '#runtime/ids';
import {
  delivery,
  retryDelaysMs,
  type AttemptOutcome,
  type Delivery,
  type DeliveryCommand,
  type Onlooker,
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
const result: AttemptResult = { durationMs: 5, request: summary, response: { status: 500, body: '' }, error: null };
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
const end = (attempt: number, at: string, outcome: AttemptOutcome, random = 0): DeliveryCommand => ({
  type: 'endAttempt',
  attempt,
  at,
  result,
  settled: [],
  outcome,
  random,
});
type Ended = Extract<DeliveryEvent, { type: 'attempt.ended' }>['data'];
const ended = (attempt: number, at: string, next: Ended['next'], settled: Ended['settled'] = []): DeliveryEvent => ({
  type: 'attempt.ended',
  data: { attempt, at, result, settled, next },
});
const others: Onlooker = { worker: 'another', workerIsGone: false };
const lose = (
  attempt: number,
  at: string,
  policy: 'retry' | 'hold' = 'retry',
  onlooker: Onlooker = others,
): DeliveryCommand => ({
  type: 'loseAttempt',
  attempt,
  at,
  onlooker,
  policy,
  random: 0,
});
const lost = (attempt: number, at: string, nextAttemptAt: string): DeliveryEvent => ({
  type: 'attempt.lost',
  data: { attempt, at, next: { policy: 'retry', nextAttemptAt } },
});
const held: DeliveryEvent = { type: 'attempt.lost', data: { attempt: 1, at: after(20), next: { policy: 'hold' } } };
const retry: AttemptOutcome = { kind: 'retry', reason: 'http_status', retryAfterMs: null };

describe('a delivery', () => {
  it('is made once, however often it is asked for', () => {
    given(delivery).when(asked).then(requested).andAgainNothing();
  });

  it('keeps what its links begin with, whatever this instance is reached by later', () => {
    given(delivery, requested)
      .when({ ...asked, linkBase: 'http://elsewhere.example' })
      .thenNothing();
    expect(delivery.evolve(delivery.initial, requested)).toMatchObject({ linkBase });
  });

  it('that nobody asked for is refused', () => {
    given(delivery)
      .when(start(after(0)))
      .thenRejected('delivery_unknown');
  });

  it('is tried at once, by one worker at a time', () => {
    given(delivery, requested)
      .when(start(after(0)))
      .then(started(1, after(0)))
      .andAgainNothing();
  });

  it('is not tried before it is due', () => {
    given(delivery, requested, started(1, after(0)), ended(1, after(1), { state: 'retrying', nextAttemptAt: after(6) }))
      .when(start(after(5.999)))
      .thenNothing();
  });

  it('expires where it is due after its expiry', () => {
    given(delivery, requested)
      .when(start(after(86_400)))
      .then({ type: 'delivery.expired', data: { at: after(86_400) } })
      .andAgainNothing();
    given(delivery, requested)
      .when({ type: 'expireDelivery', at: after(86_400) })
      .then({ type: 'delivery.expired', data: { at: after(86_400) } })
      .andAgainNothing();
    given(delivery, requested)
      .when({ type: 'expireDelivery', at: after(86_399) })
      .thenNothing();
  });

  it('is delivered by an answer that says so, for good', () => {
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(1), { kind: 'delivered' }))
      .then(ended(1, after(1), { state: 'delivered' }))
      .andAgainNothing();
    const delivered = [requested, started(1, after(0)), ended(1, after(1), { state: 'delivered' })];
    given(delivery, ...delivered)
      .when(start(after(9)))
      .thenNothing();
    given(delivery, ...delivered)
      .when(end(1, after(9), retry))
      .thenNothing();
    given(delivery, ...delivered)
      .when(lose(1, after(99)))
      .thenNothing();
    given(delivery, ...delivered)
      .when({ type: 'expireDelivery', at: after(99_999) })
      .thenNothing();
  });

  it('fails for good by an answer that will not change', () => {
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(1), { kind: 'refused', reason: 'gone' }))
      .then(ended(1, after(1), { state: 'failed', reason: 'gone' }))
      .andAgainNothing();
  });
});

describe('a failed try', () => {
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
    given(delivery, longLived, started(attempt, after(0)))
      .when(end(attempt, after(10), retry))
      .then(ended(attempt, after(10), { state: 'retrying', nextAttemptAt: after(10 + seconds) }))
      .andAgainNothing();
  });

  it('waits up to a fifth longer by chance, never shorter', () => {
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(10), retry, 0.5))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(15.5) }));
  });

  it('waits as long as the receiver asks where that is longer', () => {
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: 60_000 }))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(70) }));
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: 1 }))
      .then(ended(1, after(10), { state: 'retrying', nextAttemptAt: after(15) }));
  });

  it('is the last where the next would come after the expiry', () => {
    given(delivery, requested, started(1, after(0)))
      .when(end(1, after(10), { ...retry, retryAfterMs: dayMs }))
      .then(ended(1, after(10), { state: 'expired', reason: 'http_status' }))
      .andAgainNothing();
  });

  it('keeps the parts that are settled, each once', () => {
    const first = ended(1, after(1), { state: 'retrying', nextAttemptAt: after(6) }, [{ part: 0, refused: null }]);
    given(delivery, requested, started(1, after(0)), first, started(2, after(6)))
      .when({
        type: 'endAttempt',
        attempt: 2,
        at: after(7),
        result,
        settled: [
          { part: 0, refused: null },
          { part: 1, refused: 'smtp_refused' },
        ],
        outcome: { kind: 'refused', reason: 'recipients_refused' },
        random: 0,
      })
      .then(
        ended(2, after(7), { state: 'failed', reason: 'recipients_refused' }, [{ part: 1, refused: 'smtp_refused' }]),
      );
  });
});

describe('an attempt that was started and has no end', () => {
  const open = [requested, started(1, after(0))];

  it('is lost after twice its timeout, not before', () => {
    given(delivery, ...open)
      .when(lose(1, after(19.999)))
      .thenNothing();
    given(delivery, ...open)
      .when(lose(1, after(20)))
      .then(lost(1, after(20), after(25)))
      .andAgainNothing();
  });

  it('is lost at once for a worker that is alone and did not start it', () => {
    given(delivery, ...open)
      .when(lose(1, after(1), 'retry', { worker: 'another', workerIsGone: true }))
      .then(lost(1, after(1), after(6)))
      .andAgainNothing();
  });

  it('is lost after twice its timeout for the worker that started it, alone or not', () => {
    for (const workerIsGone of [true, false]) {
      given(delivery, ...open)
        .when(lose(1, after(19.999), 'retry', { worker: 'w', workerIsGone }))
        .thenNothing();
      given(delivery, ...open)
        .when(lose(1, after(20), 'retry', { worker: 'w', workerIsGone }))
        .then(lost(1, after(20), after(25)));
    }
  });

  it('is held for a person where the channel says so, and nobody tries again', () => {
    given(delivery, ...open)
      .when(lose(1, after(20), 'hold'))
      .then(held)
      .andAgainNothing();
    given(delivery, ...open, held)
      .when(start(after(9_999)))
      .thenNothing();
    given(delivery, ...open, held)
      .when({ type: 'expireDelivery', at: after(99_999) })
      .thenNothing();
  });

  it('goes on as the next attempt of the same delivery', () => {
    given(delivery, ...open, lost(1, after(20), after(25)))
      .when(start(after(25)))
      .then(started(2, after(25)));
  });

  it('still counts as delivered where its late answer says so before the next try began', () => {
    for (const past of [lost(1, after(20), after(25)), held]) {
      given(delivery, ...open, past)
        .when(end(1, after(21), { kind: 'delivered' }))
        .then(ended(1, after(21), { state: 'delivered' }))
        .andAgainNothing();
      given(delivery, ...open, past)
        .when(end(1, after(21), retry))
        .thenNothing();
    }
    given(delivery, ...open, lost(1, after(20), after(25)), started(2, after(25)))
      .when(end(1, after(26), { kind: 'delivered' }))
      .thenNothing();
  });

  it('is not lost by a number that is not the open one', () => {
    given(delivery, ...open)
      .when(lose(2, after(99)))
      .thenNothing();
  });
});

describe('any interleaving of commands, doubled and late', () => {
  const outcome = fc.oneof(
    fc.constant<AttemptOutcome>({ kind: 'delivered' }),
    fc.constant<AttemptOutcome>({ kind: 'refused', reason: 'r' }),
    fc
      .option(fc.integer({ min: 0, max: 2 * dayMs }))
      .map((retryAfterMs): AttemptOutcome => ({ ...retry, retryAfterMs })),
  );
  const at = fc.integer({ min: 0, max: 90_000 }).map(after);
  const random = fc.double({ min: 0, max: 0.999, noNaN: true });
  const attempt = fc.integer({ min: 1, max: 4 });
  const command = fc.oneof(
    fc.constant(asked),
    at.map(start),
    at.map(start),
    fc.tuple(attempt, at, outcome, random).map((of) => end(...of)),
    fc
      .tuple(
        attempt,
        at,
        fc.constantFrom('retry' as const, 'hold' as const),
        fc.record({ worker: fc.constantFrom('w', 'another'), workerIsGone: fc.boolean() }),
      )
      .map((of) => lose(...of)),
    at.map((time): DeliveryCommand => ({ type: 'expireDelivery', at: time })),
  );

  it('keeps at most one attempt open, ends for good, keeps its id, and never tries too early or too late', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        let state: Delivery = delivery.initial;
        let open: number | null = null;
        let started = 0;
        let final: Delivery | null = null;
        for (const next of [asked, ...commands, ...commands]) {
          const before = state;
          for (const event of delivery.decide(next, state)) {
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
            state = delivery.evolve(state, event);
          }
          if (next.type !== 'startAttempt') expect(delivery.decide(next, state)).toEqual([]);
          expect(state).toMatchObject({ request: { deliveryId: request.deliveryId } });
          if (state.status === 'delivered' || state.status === 'failed' || state.status === 'expired') final = state;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('waits longer from try to try', () => {
    expect([...retryDelaysMs].sort((a, b) => a - b)).toEqual(retryDelaysMs);
  });
});
