/**
 * Runs of settings that are stored nowhere (`run.test`), and pages loaded to be looked at (`run.preview`): nothing is recorded, nothing is sent. A person waits for the
 * answer, but the runs that are due come first: tests are few at once, and their code runs one after the other.
 */
import { randomBytes } from 'node:crypto';
import { createMutex } from '#concurrency/mutex';
import { fetchSettings } from '#contracts/fetch';
import type { PagePreview, PreviewQuery } from '#contracts/page-preview';
import { blocks, type RunError, type TestExecution, type TestRun } from '#contracts/run';
import { codeFrame } from '#hints/code-frame';
import { hintFor } from '#hints/hint';
import { toTimestamp, type Clock } from '#runtime/clock';
import { AppError, unavailable } from '#runtime/errors';
import { isDependencyDown, type DependencyStores } from './dependencies.js';
import { decideAlert, initialAlert } from './domain/alert/alert.js';
import {
  evaluated,
  falseOnShell,
  renderedFlag,
  failedLoad,
  toPageRequest,
  withShellHint,
  type Evaluated,
  type EvaluationDeps,
} from './page-evaluation.js';
import { failedPreview, listedPreview } from './preview/page-preview.js';

type TestRunDeps = EvaluationDeps & DependencyStores;

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
  const page = await pageLoader.load({ ...toPageRequest(url, settings, ownerId), signal });
  if (!page.ok) return failedLoad(page);
  const { rendering, ...seen } = page;
  const job = {
    code,
    form,
    page: { ...seen, ...renderedFlag(rendering) },
    previous: null,
    state: {},
    seed: runId,
    nowMs,
    limits,
  };
  const result = withShellHint(await sandbox.evaluate(job), page);
  const found = evaluated({ ...page, bytes: page.body.byteLength }, result);
  return { ...found, ...falseOnShell(found.outcome, page) };
}

/** The finished execution. Never rejects for what the page or the code does. `ownerId`: whose key the secrets are sealed with. */
export async function runTest(deps: TestRunDeps, clock: Clock, test: TestRun, ownerId: string): Promise<TestExecution> {
  const { runId, evaluationFunction, policy, paused, actions, queuedAt } = test;
  const startedMs = clock.now();
  const { state, error, timings, endedFromOutside, ...found } = await evaluateTask(deps, test, ownerId, startedMs);
  const dependencyDown = await isDependencyDown(deps, ownerId, policy);
  const finishedAt = toTimestamp(clock.now());
  const { outcome, values } = found;
  const run = { runId, trigger: 'manual', force: false, dryRun: false, scheduledFor: queuedAt } as const;
  const { decision } = decideAlert(
    initialAlert,
    { ...run, finishedAt, outcome, values, state, endedFromOutside, isBlocked: blocks(error) },
    { policy, paused, codeRevision: 0, actions, isDependencyDown: dependencyDown },
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

/** Never rejects for what the page does. */
async function previewPage(deps: EvaluationDeps, { url, fetch }: PreviewQuery, ownerId: string): Promise<PagePreview> {
  const settings = fetchSettings.parse(await deps.vault.open(ownerId, 'fetch', fetch));
  const signal = AbortSignal.timeout(loadTimeoutMs);
  const request = toPageRequest(url, settings, ownerId);
  // A name that no page can know, so that what is taken out of the document is ours.
  const boxAttribute = request.render === undefined ? null : `data-box-${randomBytes(8).toString('hex')}`;
  const withBoxes =
    request.render === undefined ? {} : { render: { ...request.render, takesScreenshot: true, boxAttribute } };
  const page = await deps.pageLoader.load({ ...request, ...withBoxes, signal });
  const picture = page.rendering?.screenshot ?? null;
  const screenshot = picture === null ? null : `data:image/png;base64,${Buffer.from(picture).toString('base64')}`;
  if (!page.ok) return { ...failedPreview(page), screenshot };
  return { ...(await listedPreview(deps, page, boxAttribute)), screenshot };
}

export interface TestRuns {
  /** Rejects with `too_many_tests` or `tests_busy`. */
  run(test: TestRun, organizationId: string): Promise<TestExecution>;
  /** Counts as a test. */
  preview(query: PreviewQuery, organizationId: string): Promise<PagePreview>;
  /** Resolves once no test is under way. */
  ended(): Promise<void>;
}

export const TEST_RUNS = Symbol('TestRuns');

export function createTestRuns(evaluation: TestRunDeps & { readonly clock: Clock }): TestRuns {
  const { sandbox, clock } = evaluation;
  const mutex = createMutex();
  const deps: TestRunDeps = {
    ...evaluation,
    sandbox: { ...sandbox, evaluate: (job) => mutex.run(() => sandbox.evaluate(job)) },
  };
  /** Each with its organization. */
  const inProgress = new Map<Promise<unknown>, string>();

  const admit = (organizationId: string): void => {
    const own = [...inProgress.values()].filter((owner) => owner === organizationId);
    if (own.length >= maxTestsPerOrganization) {
      const message = `${maxTestsPerOrganization} tests are running; try again when one of them has ended.`;
      throw new AppError('RATE_LIMITED', 'too_many_tests', message, { retryAfterSeconds: 2 });
    }
    if (inProgress.size >= maxTests) {
      throw unavailable('tests_busy', 'Many tests are running; try again in a moment.', 5);
    }
  };

  async function admitted<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result> {
    admit(organizationId);
    const working = work();
    inProgress.set(working, organizationId);
    try {
      return await working;
    } finally {
      inProgress.delete(working);
    }
  }

  return {
    run: (test, organizationId) => admitted(organizationId, () => runTest(deps, clock, test, organizationId)),
    preview: (query, organizationId) => admitted(organizationId, () => previewPage(deps, query, organizationId)),
    async ended() {
      await Promise.allSettled(inProgress.keys());
    },
  };
}
