/**
 * Runs of settings that are stored nowhere (`run.test`): nothing is recorded, nothing is sent. A person waits for the
 * answer, but the runs that are due come first: tests are few at once, and their code runs one after the other.
 */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type Consumer, type RequestContext } from '#bus/bus';
import { createMutex } from '#concurrency/mutex';
import { requests } from '#contracts/catalogue';
import { fetchSettings } from '#contracts/fetch';
import { testRun, type RunError, type TestExecution, type TestRun } from '#contracts/run';
import { codeFrame } from '#hints/code-frame';
import { hintFor } from '#hints/hint';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { AppError, unavailable } from '#runtime/errors';
import { asJson, type Json, type JsonObject } from '#runtime/json';
import { decideAlert, initialAlert } from './domain/alert.js';
import { EVALUATION_DEPS } from './tokens.js';
import { evaluated, failedLoad, toPageRequest, type Evaluated, type EvaluationDeps } from './page-evaluation.js';

/** A person waits for the answer: a page that takes longer fails, whatever its own settings say. */
const loadTimeoutMs = 45_000;
const maxTests = 16;
const maxTestsPerOrganization = 4;

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

/** Rejects only where a part of this installation is broken (a secret that cannot be opened). */
async function evaluateTask(
  { pageLoader, sandbox, vault, limits }: EvaluationDeps,
  { runId, url, evaluationFunction: code, codeForm: form, fetch }: TestRun,
  ownerId: string,
  nowMs: number,
): Promise<Evaluated> {
  const settings = fetchSettings.parse(await vault.open(ownerId, 'fetch', fetch));
  const signal = AbortSignal.timeout(loadTimeoutMs);
  const page = await pageLoader.load({ ...toPageRequest(url, settings), signal });
  if (!page.ok) return failedLoad(page);
  const job = { code, form, page, previous: null, state: {}, seed: runId, nowMs, limits };
  return evaluated({ ...page, bytes: page.body.byteLength }, await sandbox.evaluate(job));
}

/** The finished execution. Never rejects for what the page or the code does. `ownerId`: whose key the secrets are sealed with. */
export async function runTest(
  deps: EvaluationDeps,
  clock: Clock,
  test: TestRun,
  ownerId: string,
): Promise<TestExecution> {
  const { runId, evaluationFunction, policy, paused, actions, queuedAt } = test;
  const startedMs = clock.now();
  const { state, error, timings, endedFromOutside, ...found } = await evaluateTask(deps, test, ownerId, startedMs);
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

/** Answers `run.test`. */
export class TestRuns implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #deps: EvaluationDeps;
  readonly #bus: Bus;
  readonly #clock: Clock;
  /** Each with its organization. */
  readonly #inProgress = new Map<Promise<unknown>, string>();
  #responder: Consumer | null = null;

  constructor(@Inject(EVALUATION_DEPS) deps: EvaluationDeps, @Inject(BUS) bus: Bus, @Inject(CLOCK) clock: Clock) {
    const { sandbox } = deps;
    const mutex = createMutex();
    this.#deps = { ...deps, sandbox: { ...sandbox, evaluate: (job) => mutex.run(() => sandbox.evaluate(job)) } };
    this.#bus = bus;
    this.#clock = clock;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#responder = await this.#bus.respond(requests.runTest, (payload, context) => this.#answer(payload, context));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#responder?.stop();
    await Promise.allSettled(this.#inProgress.keys());
  }

  async #answer(payload: JsonObject, { organizationId }: RequestContext): Promise<Json> {
    const test = testRun.parse(payload);
    this.#admit(organizationId);
    const working = runTest(this.#deps, this.#clock, test, organizationId);
    this.#inProgress.set(working, organizationId);
    try {
      return asJson({ execution: await working });
    } finally {
      this.#inProgress.delete(working);
    }
  }

  #admit(organizationId: string): void {
    const own = [...this.#inProgress.values()].filter((owner) => owner === organizationId);
    if (own.length >= maxTestsPerOrganization) {
      const message = `${maxTestsPerOrganization} tests are running; try again when one of them has ended.`;
      throw new AppError('RATE_LIMITED', 'too_many_tests', message, { retryAfterSeconds: 2 });
    }
    if (this.#inProgress.size >= maxTests) {
      throw unavailable('tests_busy', 'Many tests are running; try again in a moment.', 5);
    }
  }
}
