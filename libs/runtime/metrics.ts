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

/** The exposition text and its content type. */
export async function metricsText(): Promise<{ readonly contentType: string; readonly text: string }> {
  return { contentType: registry.contentType, text: await registry.metrics() };
}
