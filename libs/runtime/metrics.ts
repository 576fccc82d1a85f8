/** Counters and timings for Prometheus. One registry per process; code that counts calls a function here. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { takeEventLoopDelay } from './event-loop.js';

const registry = new Registry();
collectDefaultMetrics({ register: registry });

const requests = new Histogram({
  name: 'meerkat_http_request_duration_seconds',
  help: 'Time from a request to its answer, by route template and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  registers: [registry],
});

const runs = new Counter({
  name: 'meerkat_runs_total',
  help: 'Recorded runs, by status and reason of the decision.',
  labelNames: ['status', 'decision'],
  registers: [registry],
});

const deliveries = new Counter({
  name: 'meerkat_delivery_attempts_total',
  help: 'Attempts to deliver a message, by type of action and the state that followed.',
  labelNames: ['action_type', 'state'],
  registers: [registry],
});

const foldedDays = new Counter({
  name: 'meerkat_folded_days_total',
  help: 'Days of tasks that were folded into one record, by what was folded.',
  labelNames: ['kind'],
  registers: [registry],
});

const archiveFailing = new Gauge({
  name: 'meerkat_archive_failing',
  help: '1 while ARCHIVE_DIR cannot be written: nothing is folded or dropped then.',
  registers: [registry],
});

const followerFailing = new Gauge({
  name: 'meerkat_follower_failing',
  help: '1 while a follower of the events fails at the same place: what it keeps is old meanwhile.',
  labelNames: ['follower'],
  registers: [registry],
});

const loopDelay = new Gauge({
  name: 'meerkat_event_loop_delay_seconds',
  help: 'How long the event loop of this process was held, since the last reading.',
  labelNames: ['quantile'],
  registers: [registry],
  collect() {
    const { p99, max } = takeEventLoopDelay();
    loopDelay.set({ quantile: '0.99' }, p99);
    loopDelay.set({ quantile: 'max' }, max);
  },
});

const pageParser = new Gauge({
  name: 'meerkat_page_parser_info',
  help: '1 for the parser that reads pages in this process.',
  labelNames: ['parser'],
  registers: [registry],
});

/** Said once, when the parser is chosen. */
export function setPageParserInfo(parser: string): void {
  pageParser.reset();
  pageParser.set({ parser }, 1);
}

/** `route` is the template, never the path: paths hold ids. */
export function countRequest(method: string, route: string, status: number, seconds: number): void {
  requests.observe({ method, route, status: String(status) }, seconds);
}

export function countRun(status: string, decision: string): void {
  runs.inc({ status, decision });
}

export function countDeliveryAttempt(actionType: string, state: string): void {
  deliveries.inc({ action_type: actionType, state });
}

export function countFoldedDay(kind: 'runs' | 'deliveries'): void {
  foldedDays.inc({ kind });
}

export function setArchiveFailing(isFailing: boolean): void {
  archiveFailing.set(isFailing ? 1 : 0);
}

export function setFollowerFailing(follower: string, isFailing: boolean): void {
  if (isFailing) followerFailing.set({ follower }, 1);
  else followerFailing.remove({ follower });
}

export interface Observation {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Observed {
  readonly gauge: Gauge;
  read: () => Promise<readonly Observation[]>;
}
const observed = new Map<string, Observed>();
/** Scrapers come from several sides, and some ask every second: reading is not for each of them. */
const rememberedMs = 5_000;
let observedAtMs = -Infinity;

/** A gauge that is read when the metrics are asked for. Said again it stands in place of the one before. */
export function observe(name: string, help: string, label: string | null, read: Observed['read']): void {
  const known = observed.get(name);
  if (known !== undefined) {
    known.read = read;
    observedAtMs = -Infinity;
    return;
  }
  observed.set(name, {
    gauge: new Gauge({ name, help, labelNames: label === null ? [] : [label], registers: [registry] }),
    read,
  });
}

/** What cannot be read now is left out, so that nothing old is taken for new. */
async function readObserved(): Promise<void> {
  if (performance.now() - observedAtMs < rememberedMs) return;
  observedAtMs = performance.now();
  await Promise.all(
    [...observed.values()].map(async ({ gauge, read }) => {
      const found = await read().catch(() => []);
      gauge.reset();
      for (const { labels, value } of found) gauge.set({ ...labels }, value);
    }),
  );
}

/** The exposition text and its content type. */
export async function metricsText(): Promise<{ readonly contentType: string; readonly text: string }> {
  await readObserved();
  return { contentType: registry.contentType, text: await registry.metrics() };
}
