/**
 * Runs of settings that are stored nowhere (`run.test`): nothing is recorded, nothing is sent. Somebody waits for the
 * answer, but the runs that are due come first: tests are few at once, and their code runs one after the other.
 */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type Consumer, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { testRun, type RunError, type TestExecution, type TestRun } from '#contracts/run';
import { codeFrame } from '#hints/code-frame';
import { hintFor } from '#hints/hint';
import type { PageLoader } from '#page-loader/page-loader';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { AppError, unavailable } from '#runtime/errors';
import { asJson, type Json, type JsonObject } from '#runtime/json';
import { decideAlert, initialAlert } from './domain/alert.js';
import { evaluateTask, type Evaluators } from './evaluate-task.js';

/** What a page is loaded and code is run with. */
export const EVALUATORS = Symbol('Evaluators');

/** Somebody waits: a page that is not there by then is not waited for any longer, whatever its own settings say. */
const loadTimeoutMs = 45_000;
const testsAtOnce = 16;
const testsOfOneOrganization = 4;

function withFrame(error: RunError, code: string): TestExecution['error'] {
  const { line, column } = error;
  const frame = line === undefined ? [] : codeFrame(code, line, column ?? 1);
  const hint = hintFor(error);
  return {
    ...error,
    ...(frame.length === 0 ? {} : { frame: frame.join('\n') }),
    ...(hint === null ? {} : { hint }),
  };
}

/** The finished execution. Never rejects for what the page or the code does. `ownerId`: whose key the secrets are sealed with. */
export async function runTest(
  evaluators: Evaluators,
  clock: Clock,
  test: TestRun,
  ownerId: string,
): Promise<TestExecution> {
  const { runId, url, evaluationFunction, codeForm, fetch, policy, paused, actions, queuedAt } = test;
  const signal = AbortSignal.timeout(loadTimeoutMs);
  const pageLoader: PageLoader = {
    ...evaluators.pageLoader,
    load: (request) => evaluators.pageLoader.load({ ...request, signal }),
  };
  const startedMs = clock.now();
  const { state, error, timings, endedFromOutside, ...found } = await evaluateTask(
    { ...evaluators, pageLoader },
    {
      taskId: ownerId,
      spec: { url, evaluationFunction, codeForm, fetch },
      previous: null,
      state: {},
      seed: runId,
      nowMs: startedMs,
    },
  );
  const finishedAt = toTimestamp(clock.now());
  const { outcome, values } = found;
  const run = { runId, trigger: 'manual', force: false, dryRun: false, scheduledFor: queuedAt } as const;
  const { decision } = decideAlert(
    initialAlert,
    { ...run, finishedAt, outcome, values, state, endedFromOutside },
    { policy, paused, codeRevision: 0, actions },
  );
  return {
    ...found,
    id: runId,
    notificationId: null,
    revision: null,
    trigger: 'test',
    error: error === null ? null : withFrame(error, evaluationFunction),
    decision,
    snapshotId: null,
    scheduledFor: queuedAt,
    queuedAt,
    startedAt: toTimestamp(startedMs),
    finishedAt,
    timings: { queueMs: Math.max(0, startedMs - Date.parse(queuedAt)), ...timings },
    seed: runId,
  };
}

/** One after the other, in the order in which they came. */
function oneByOne<Job, Result>(work: (job: Job) => Promise<Result>): (job: Job) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(() => work(job));
    last = result.catch(() => undefined);
    return result;
  };
}

/** Answers `run.test`. */
export class TestRuns implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly evaluators: Evaluators;
  private readonly running = new Map<string, number>();
  private intake: Consumer | null = null;
  private readonly inHand = new Set<Promise<unknown>>();

  constructor(
    @Inject(EVALUATORS) evaluators: Evaluators,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const { sandbox } = evaluators;
    this.evaluators = {
      ...evaluators,
      sandbox: { ...sandbox, evaluate: oneByOne((job) => sandbox.evaluate(job)) },
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    this.intake = await this.bus.respond(requests.runTest, (payload, context) => this.answer(payload, context));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.intake?.stop();
    await Promise.allSettled(this.inHand);
  }

  private async answer(payload: JsonObject, { organizationId }: RequestContext): Promise<Json> {
    const test = testRun.parse(payload);
    this.takePlace(organizationId);
    const working = runTest(this.evaluators, this.clock, test, organizationId);
    this.inHand.add(working);
    try {
      return asJson({ execution: await working });
    } finally {
      this.inHand.delete(working);
      this.leavePlace(organizationId);
    }
  }

  private takePlace(organizationId: string): void {
    const own = this.running.get(organizationId) ?? 0;
    if (own >= testsOfOneOrganization) {
      throw new AppError(
        'RATE_LIMITED',
        'too_many_tests',
        `${testsOfOneOrganization} tests are running; try again when one of them has ended.`,
        {
          retryAfterSeconds: 2,
        },
      );
    }
    const all = [...this.running.values()].reduce((sum, count) => sum + count, 0);
    if (all >= testsAtOnce) throw unavailable('tests_busy', 'Many tests are running; try again in a moment.', 5);
    this.running.set(organizationId, own + 1);
  }

  private leavePlace(organizationId: string): void {
    const own = (this.running.get(organizationId) ?? 1) - 1;
    if (own === 0) this.running.delete(organizationId);
    else this.running.set(organizationId, own);
  }
}
