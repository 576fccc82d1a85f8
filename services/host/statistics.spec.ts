import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noFigures, percentileOf, withRun, type PhaseFigures } from '#contracts/figures';
import { figuresView, hourMs, type FiguresDocument, type OrganizationFigures } from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import type { ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { derivedId } from '#runtime/ids';
import { playedOrganizationId, playedStep, playEvents } from '../execution/figures.kit.js';
import { StatisticsBuilder, wholeRange, type Bucket, type Range } from '../gateway/statistics/buckets.js';
import { organizationStatistics } from '../gateway/statistics/organization-buckets.js';
import { keptViews } from './projections.js';

const startMs = Date.parse('2026-10-01T05:30:00.000Z');

const ofFigures = keptViews.find(({ name }) => name === figuresView.name);

function documentsOf(events: readonly RecordedEvent[]): FiguresDocument[] {
  const documents = [...(ofFigures?.replay(events) ?? new Map()).values()] as (FiguresDocument | OrganizationFigures)[];
  const ofTasks = documents.flatMap((document) => ('sum' in document ? [] : document));
  return ofTasks.toSorted((one, other) => (one.from < other.from ? -1 : 1));
}

function sumsOf(events: readonly RecordedEvent[]): OrganizationFigures[] {
  const documents = [...(ofFigures?.replay(events) ?? new Map()).values()] as (FiguresDocument | OrganizationFigures)[];
  return documents.flatMap((document) => ('sum' in document ? document : []));
}

const isHourOf = (from: string, ms: number): boolean => Date.parse(from) === Math.floor(ms / hourMs) * hourMs;

function statisticsOf(documents: readonly FiguresDocument[], range: Range, nowMs: number) {
  const builder = new StatisticsBuilder({ range, nowMs });
  for (const document of documents) builder.add(document);
  return builder.answer();
}

interface Found {
  readonly atMs: number;
  readonly event: RunEvent | ScheduleEvent;
}

/** A count over all events, without any figures. */
function naive(events: readonly RecordedEvent[], fromMs: number, toMs: number) {
  const found: Found[] = events.map((recorded) => {
    const event = decodeEvent<RunEvent | ScheduleEvent>(recorded);
    return { event, atMs: Date.parse(recorded.metadata.at) };
  });
  const within = found.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  const runs = within.flatMap(({ event }) => (event.type === 'run.recorded' ? [event.data] : []));
  const slots = within.flatMap(({ event }) => (event.type === 'slots.skipped' ? [event.data] : []));
  const ended = (...statuses: string[]) => runs.filter(({ result }) => statuses.includes(result.status)).length;
  const count = (isMissed: boolean) =>
    slots.filter(({ reason }) => (reason === 'missed') === isMissed).reduce((sum, one) => sum + one.slots.count, 0);
  return {
    runs: ended('succeeded', 'failed', 'timed_out'),
    succeeded: ended('succeeded'),
    failed: ended('failed', 'timed_out'),
    skipped: count(false),
    missed: count(true),
    transitions: runs.filter(({ decision }) => decision.transition !== null).length,
    notified: runs.filter(({ decision }) => decision.notify).length,
    fetchMs: runs.filter(({ result }) => result.status !== 'cancelled').map(({ result }) => result.timings.fetchMs),
  };
}

/** How long the condition was true, and how long it was known, millisecond by millisecond of its changes. */
function knownTimes(events: readonly RecordedEvent[], fromMs: number, toMs: number, nowMs: number): [number, number] {
  let [trueMs, knownMs] = [0, 0];
  const changes = events.flatMap((recorded) => {
    const event = decodeEvent<RunEvent | ScheduleEvent>(recorded);
    if (event.type !== 'run.recorded') return [];
    const { alert, result } = event.data;
    return [{ atMs: Date.parse(result.finishedAt), condition: alert.flapping === true ? 'flapping' : alert.condition }];
  });
  for (const [index, { atMs, condition }] of changes.entries()) {
    const untilMs = changes[index + 1]?.atMs ?? nowMs;
    const ms = Math.max(0, Math.min(untilMs, toMs, nowMs) - Math.max(atMs, fromMs));
    if (condition === 'true') trueMs += ms;
    if (condition === 'true' || condition === 'false') knownMs += ms;
  }
  return [trueMs, knownMs];
}

function naiveTrueShare(events: readonly RecordedEvent[], fromMs: number, toMs: number, nowMs: number): number | null {
  const [trueMs, knownMs] = knownTimes(events, fromMs, toMs, nowMs);
  return knownMs === 0 ? null : Math.round((trueMs / knownMs) * 1e6) / 1e6;
}

function expectCounts(bucket: Bucket, events: readonly RecordedEvent[]): void {
  const { fetchMs, ...counts } = naive(events, Date.parse(bucket.from), Date.parse(bucket.to));
  expect(bucket).toMatchObject(counts);
  const sorted = fetchMs.toSorted((one, other) => one - other);
  expect(bucket.fetchMs.max).toBe(sorted.at(-1) ?? null);
  for (const [share, found] of [
    [0.5, bucket.fetchMs.p50],
    [0.95, bucket.fetchMs.p95],
  ] as const) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1];
    if (exact === undefined) expect(found).toBeNull();
    else expect(Math.abs((found ?? 0) - exact)).toBeLessThanOrEqual(0.05 * exact);
  }
}

describe('statistics', () => {
  it('are what a count over all events gives, in each bucket and in all', () => {
    fc.assert(
      fc.property(
        fc.array(playedStep(4 * hourMs), { minLength: 1, maxLength: 40 }),
        fc.constantFrom('hour' as const, 'day' as const),
        (steps, size) => {
          const { recorded, endMs } = playEvents(steps, startMs);
          const range = wholeRange({ fromMs: startMs, toMs: endMs + 1, size });
          const nowMs = endMs + 90 * 60_000;
          const { buckets, summary } = statisticsOf(documentsOf(recorded), range, nowMs);
          for (const bucket of [...buckets, summary]) {
            expectCounts(bucket, recorded);
            const [fromMs, toMs] = [Date.parse(bucket.from), Date.parse(bucket.to)];
            expect(bucket.trueShare).toBe(naiveTrueShare(recorded, fromMs, toMs, nowMs));
          }
          expect(buckets[0]?.from).toBe(summary.from);
          expect(buckets.at(-1)?.to).toBe(summary.to);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of a part of the time count what is in it alone, and know the condition of before', () => {
    fc.assert(
      fc.property(
        fc.array(playedStep(3 * hourMs), { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 0, max: 60 }),
        (steps, hours) => {
          const { recorded, endMs } = playEvents(steps, startMs);
          const range = wholeRange({ fromMs: startMs + hours * hourMs, toMs: endMs + 61 * hourMs, size: 'hour' });
          const documents = documentsOf(recorded);
          const before = documents.findLast(({ from, counted }) => counted !== null && Date.parse(from) < range.fromMs);
          const builder = new StatisticsBuilder({
            range,
            nowMs: range.toMs,
            ...(before?.counted === undefined || before.counted === null
              ? {}
              : { conditionBefore: before.counted.condition }),
          });
          for (const document of documents) if (Date.parse(document.from) >= range.fromMs) builder.add(document);
          const { summary } = builder.answer();
          expectCounts(summary, recorded);
          expect(summary.trueShare).toBe(naiveTrueShare(recorded, range.fromMs, range.toMs, range.toMs));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the statistics of an organisation', () => {
  /** How long the conditions were true in the hours in which a run was recorded, of each task for itself. */
  function naiveShare(ofTasks: readonly (readonly RecordedEvent[])[], bucket: Bucket, nowMs: number): number | null {
    let [trueMs, knownMs] = [0, 0];
    for (const events of ofTasks) {
      const runs = events.filter(({ type }) => type === 'run.recorded');
      for (const hour of new Set(runs.map(({ metadata }) => Math.floor(Date.parse(metadata.at) / hourMs)))) {
        const [fromMs, toMs] = [hour * hourMs, (hour + 1) * hourMs];
        if (fromMs < Date.parse(bucket.from) || toMs > Date.parse(bucket.to)) continue;
        const [isTrue, isKnown] = knownTimes(events, fromMs, toMs, nowMs);
        trueMs += isTrue;
        knownMs += isKnown;
      }
    }
    return knownMs === 0 ? null : Math.round((trueMs / knownMs) * 1e6) / 1e6;
  }

  it('are what a count over all events of all its tasks gives, in each bucket and in all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(playedStep(4 * hourMs), { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom('hour' as const, 'day' as const),
        fc.integer({ min: 0, max: 2 * 60 }),
        (tasks, size, minutesLater) => {
          const played = tasks.map((steps, index) => {
            const taskId = derivedId('ntf', 0, 'summed', String(index));
            return playEvents(steps, startMs, { taskId, organizationId: playedOrganizationId });
          });
          const endMs = Math.max(...played.map((one) => one.endMs));
          const events = played
            .flatMap(({ recorded }) => recorded)
            .toSorted((one, other) => (one.metadata.at < other.metadata.at ? -1 : 1))
            .map((event, index) => ({ ...event, position: index + 1 }));
          const nowMs = endMs + minutesLater * 60_000;
          const range = wholeRange({ fromMs: startMs, toMs: endMs + 1, size });
          const { buckets, summary } = organizationStatistics(range, sumsOf(events), {
            now: sumsOf(events).find(({ sum, from }) => sum === 'hour' && isHourOf(from, nowMs)) ?? null,
            nowMs,
          });
          for (const bucket of [...buckets, summary]) {
            expectCounts(bucket, events);
            const ofTasks = played.map(({ recorded }) => recorded);
            expect(bucket.trueShare).toBe(naiveShare(ofTasks, bucket, nowMs));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a percentile', () => {
  it('is within 5 % of the exact one, whatever was measured', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.1, max: 100_000, noNaN: true }), { minLength: 1 }), (values) => {
        const timings = (fetchMs: number) => ({ queueMs: 0, fetchMs, parseMs: 0, evaluateMs: 0 });
        const figures = values.reduce(
          (stretch, fetchMs) =>
            withRun(
              stretch,
              {
                result: {
                  status: 'succeeded',
                  outcome: true,
                  values: {},
                  timings: timings(fetchMs),
                  finishedAt: '2026-10-01T00:00:00.000Z',
                },
                decision: { notify: false, reason: 'still_true', transition: null },
                alert: { condition: 'true' },
              },
              '2026-10-01T00:00:00.000Z',
            ),
          { figures: noFigures, counted: null } as Parameters<typeof withRun>[0],
        ).figures;
        const measured: PhaseFigures = figures.timings.fetchMs;
        const sorted = values.toSorted((one, other) => one - other);
        for (const share of [0.5, 0.95, 1]) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          expect(Math.abs((percentileOf(measured, share) ?? 0) - exact)).toBeLessThanOrEqual(0.05 * exact);
        }
      }),
    );
  });
});
