/** One due run: claim, load, evaluate, decide, and record result, decision and notification requests in one append. */
import {
  backsOff,
  backsOffAfter,
  blocks,
  executionsView,
  isRemembered,
  rememberedRun,
  runStream,
  type AlertState,
  type RunEvent,
  type RunResult,
  type ShadowResult,
} from '#contracts/run';
import { onAbort } from '#concurrency/on-abort';
import { wholePolicy } from '#contracts/policy';
import { dayOf } from '#contracts/retention';
import { backOffFactor, type DueRun } from '#contracts/schedule';
import { isGone, tasksView, taskStream, type TaskDocument } from '#contracts/task';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import type { Leases } from '#leases/leases';
import { awaitView } from '#read-store/awaited-views';
import type { ViewStore } from '#read-store/read-store';
import { toTimestamp } from '#runtime/clock';
import { unavailable } from '#runtime/errors';
import { countRun } from '#runtime/metrics';
import type { SharedState } from '#shared-state/shared-state';
import { claim, claimLater, forgetRun, giveUp } from './claim.js';
import { withContacts } from './contacts.js';
import { isDependencyDown } from './dependencies.js';
import { decideAlert, initialAlert } from './domain/alert/alert.js';
import { withLostValue } from './domain/alert/lost-value.js';
import type { Finding } from './domain/alert/step.js';
import type { Checks } from './checks.js';
import { withMessageContent } from './message-content.js';
import { opened, runOpenedCheck, type CheckDeps, type CheckInput, type CheckResult } from './run-check.js';
import { keepSession, sessionOf } from './sessions.js';
import { notificationsFor } from './notifications.js';
import { isPurged, leaveNothing } from './purged-run.js';
import { keepScreenshotOnce } from './screenshots.js';
import { foldStateOf } from './retention/fold-state.js';
import { shadowAlert, shadowCode, shadowPolicy, shadowResult } from './shadow/shadow.js';

export interface RunDeps extends CheckDeps {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  /** Names this process in claims, and says which other workers are dead. */
  readonly leases: Leases;
  readonly sharedState: SharedState;
  /** Checks that are done elsewhere; absent or null: here, with these parts. */
  readonly checks?: Checks | null;
  /** How long a run that was begun may still take once the process stops; 20 s by default. */
  readonly finishWithinMs?: number;
}

export const RUN_DEPS = Symbol('RunDeps');

/** Writers of one task's results at once are two at most (a slot and a manual run); more rounds mean a loop. */
const appendRounds = 10;
/** A process that stops waits a little longer than this for what it has begun. */
const defaultFinishWithinMs = 20_000;

interface Recorded {
  readonly alert: AlertState;
  /** The page that the last run saw. */
  readonly snapshotId: string | null;
  readonly contentHash: string | null;
  readonly revision: number | null;
  /** Of the candidate beside the task's own settings. */
  readonly shadow: ShadowResult | null;
}

const nothingRecorded = { alert: initialAlert, snapshotId: null, contentHash: null, shadow: null };

async function lastRecorded(eventStore: EventStore, taskId: string): Promise<Recorded> {
  const last = await eventStore.readLast(runStream(taskId));
  if (last === null) return { ...nothingRecorded, revision: null };
  const event = decodeEvent<RunEvent>(last);
  const { revision } = last;
  if (event.type !== 'run.recorded') return { ...nothingRecorded, revision };
  const { alert, result, shadow = null } = event.data;
  const { snapshotId, page } = result;
  return { alert, snapshotId, contentHash: page?.contentHash ?? null, revision, shadow };
}

/** A recent run is found by its id. For an older slot the view, long caught up, shows whether it was recorded. */
async function hasResult({ readStore, eventStore }: RunDeps, alert: AlertState, run: DueRun): Promise<boolean> {
  if (isRemembered(alert, run.runId)) return true;
  if (run.trigger === 'schedule' && (alert.lastSlot === null || run.scheduledFor > alert.lastSlot)) return false;
  const document = await readStore.get(executionsView, run.runId);
  if (document !== null) return document.finishedAt !== null;
  // A day is folded once none of its runs is open, and takes their documents with it.
  const { runsThrough } = await foldStateOf(eventStore, run.taskId);
  return runsThrough !== null && dayOf(run.queuedAt) <= runsThrough;
}

/** The settings of the task; null: it is archived. Waits for nothing: a view that lags is told so, and looked at again by a later try. */
async function findTask({ readStore, eventStore }: RunDeps, taskId: string): Promise<TaskDocument | null> {
  const document = await readStore.get(tasksView, taskId);
  if (document !== null) return document;
  const last = await eventStore.readLast(taskStream(taskId));
  if (last === null || isGone(last)) return null;
  awaitView(readStore, tasksView, last.position);
  throw unavailable('view_behind', `The view of ${taskId} is not there yet.`);
}

const cancelled: CheckResult = {
  status: 'cancelled',
  outcome: null,
  values: {},
  logs: [],
  error: { reason: 'archived', message: 'The notification was deleted before the run began.' },
  page: null,
  timings: { fetchMs: 0, parseMs: 0, evaluateMs: 0 },
  state: null,
  endedFromOutside: false,
  snapshotId: null,
  shadow: null,
  screenshot: null,
};

/** What is left of a result that cannot be written as an event. */
function withoutContent(found: CheckResult): CheckResult {
  const message = 'What the code reported cannot be stored: it is nested too deeply, or is no JSON.';
  const error = { reason: 'output_limit', message };
  return { ...found, status: 'failed', outcome: null, values: {}, logs: [], error, state: null, shadow: null };
}

function toResult(
  run: DueRun,
  task: TaskDocument | null,
  found: CheckResult,
  startedAt: string,
  finishedAt: string,
): RunResult {
  const { status, outcome, values, logs, error, page, timings, snapshotId, hint } = found;
  return {
    ...run,
    taskRevision: task?.revision ?? -1,
    status,
    outcome,
    values,
    logs,
    error,
    page,
    snapshotId,
    startedAt,
    finishedAt,
    timings: { queueMs: Math.max(0, Date.parse(startedAt) - Date.parse(run.queuedAt)), ...timings },
    seed: run.runId,
    ...(hint !== undefined && { hint }),
  };
}

function withBackOffNote(result: RunResult): RunResult {
  if (result.error === null) return result;
  const message = `${result.error.message} At least ${backsOffAfter} runs in a row had to be ended from outside: until one ends well or the code is changed, runs are ${backOffFactor} intervals apart.`;
  return { ...result, error: { ...result.error, message } };
}

interface DependenciesDown {
  readonly live: boolean;
  readonly shadow: boolean;
}

/** By the task's own policy, and by that of the candidate beside it. */
async function dependenciesDown(deps: RunDeps, task: TaskDocument | null): Promise<DependenciesDown> {
  if (task === null) return { live: false, shadow: false };
  const { organizationId, spec, shadow } = task;
  const live = await isDependencyDown(deps, organizationId, spec.policy);
  if (shadow === undefined || shadow.policy === null) return { live, shadow: live };
  return { live, shadow: await isDependencyDown(deps, organizationId, shadowPolicy(shadow, task)) };
}

/** The event for a result, given the alert state before: pure, decided again where another writer appended first. */
function toEvent(
  { alert: before, shadow: lastShadow }: Pick<Recorded, 'alert' | 'shadow'>,
  result: RunResult,
  found: CheckResult,
  task: TaskDocument | null,
  isDown: DependenciesDown,
): RunEvent {
  const finding: Finding = {
    ...result,
    state: found.state,
    endedFromOutside: found.endedFromOutside,
    isOwnNetwork: result.error?.reason === 'own_network',
    isBlocked: blocks(result.error),
  };
  if (task === null) {
    const alert = { ...before, recentRuns: [...before.recentRuns, rememberedRun(result.runId)] };
    const decision = { notify: false, reason: 'not_changed' as const, transition: null };
    return { type: 'run.recorded', data: { result, decision, late: false, notifications: [], alert } };
  }
  const { decision, intents, alert, late, lost } = decideAlert(before, finding, {
    policy: wholePolicy(task.spec.policy),
    paused: task.status === 'paused',
    codeRevision: task.codeRevision,
    actions: task.spec.actions,
    isDependencyDown: isDown.live,
    ...(task.acknowledged === undefined ? {} : { acknowledged: task.acknowledged }),
  });
  const whole = lost === null ? result : withLostValue(result, lost);
  const noted = backsOff(alert) ? withBackOffNote(whole) : whole;
  const recorded = { result: noted, decision, late, ...notificationsFor(intents, task, noted, alert) };
  const { shadow } = task;
  if (shadow === undefined || finding.dryRun) return { type: 'run.recorded', data: recorded };
  const shadowBefore = shadowAlert(shadow, lastShadow, before);
  const beside = shadowResult({ ...task, shadow }, shadowBefore, finding, found.shadow, isDown.shadow);
  return { type: 'run.recorded', data: { ...recorded, shadow: beside } };
}

/**
 * Rejects where a part of Meerkat cannot be reached: the message is then tried again, and the claim taken over. `passOn`:
 * what is done in place of a run whose page needs a browser.
 */
export async function executeRun(
  deps: RunDeps,
  run: DueRun,
  metadata: EventMetadata,
  stopping: AbortSignal,
  passOn: (() => Promise<void>) | null = null,
): Promise<void> {
  const before = await lastRecorded(deps.eventStore, run.taskId);
  if (await hasResult(deps, before.alert, run)) return;
  // Before the claim: an attempt that finds the view behind must not keep other workers away.
  const task = await findTask(deps, run.taskId);
  if (task === null && (await isPurged(deps.eventStore, run.taskId))) return forgetRun(deps, run, metadata);
  if (passOn !== null && task?.spec.fetch['mode'] === 'browser') return passOn();
  const startedAt = toTimestamp(deps.clock.now());
  const claimed = deps.leases.isAlone
    ? claimLater(deps, run, metadata, startedAt)
    : await claim(deps, run, metadata, startedAt);
  const givenUp = new AbortController();
  const known = { ...before, task, stopping, givenUp: givenUp.signal };
  const carriedOut = carryOut(deps, run, metadata, known, claimed.startedAt).catch(async (error: unknown) => {
    await leaveNothing(deps, run.taskId, error);
    await forgetRun(deps, run, metadata);
  });
  // Nobody waits for it any more once it is given up.
  carriedOut.catch(() => undefined);
  const tooLate = deadlineOf(stopping, deps.finishWithinMs ?? defaultFinishWithinMs);
  try {
    const isOver = await Promise.race([carriedOut.then(() => true), tooLate.passed]);
    if (isOver) return;
  } finally {
    tooLate.clear();
    claimed.release();
  }
  givenUp.abort();
  await giveUp(deps, run, metadata, claimed.startedAt);
  deps.logger.warn({ taskId: run.taskId, runId: run.runId }, 'stopped before the run was over; it begins anew');
  throw unavailable('shutting_down', `This process stopped before ${run.runId} was over.`);
}

/** `passed` resolves to false once a process that stops has waited long enough; never where it does not stop. */
function deadlineOf(
  stopping: AbortSignal,
  finishWithinMs: number,
): { readonly passed: Promise<false>; readonly clear: () => void } {
  const { promise, resolve } = Promise.withResolvers<false>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => void (timer = setTimeout(() => resolve(false), finishWithinMs));
  if (stopping.aborted) begin();
  const stopWaiting = onAbort(stopping, begin);
  const clear = (): void => {
    stopWaiting();
    clearTimeout(timer);
  };
  return { passed: promise, clear };
}

/** Rejects only where a part of this installation is broken (a secret that cannot be opened): then the run is tried again. */
async function checked(deps: RunDeps, given: CheckInput): Promise<CheckResult> {
  const { checks = null, vault } = deps;
  const { taskId, stopping } = given;
  const closed = await opened(vault, given);
  const { url } = closed.spec;
  const input = { ...closed, session: await sessionOf(deps, taskId, url, closed.settings) };
  const found = await (checks === null ? runOpenedCheck(deps, input, stopping) : checks.run(input, stopping));
  if (found.session !== undefined) await keepSession(deps, taskId, url, closed.settings, found.session);
  return found;
}

async function carryOut(
  deps: RunDeps,
  run: DueRun,
  metadata: EventMetadata,
  known: Recorded & {
    readonly task: TaskDocument | null;
    readonly stopping: AbortSignal;
    readonly givenUp: AbortSignal;
  },
  startedAt: string,
): Promise<void> {
  const { eventStore, clock, logger } = deps;
  const { task, stopping, givenUp } = known;
  let found =
    task === null
      ? cancelled
      : await checked(deps, {
          runId: run.runId,
          taskId: run.taskId,
          organizationId: task.organizationId,
          taskRevision: task.revision,
          spec: task.spec,
          lastSnapshotId: known.snapshotId,
          lastContentHash: known.contentHash,
          previous: known.alert.previous,
          state: known.alert.state,
          seed: run.runId,
          nowMs: Date.parse(startedAt),
          shadow: shadowCode(task, known.shadow, known.alert),
          session: null,
          stopping,
        });
  // What a process finds whose parts are being closed says nothing about the page.
  if (givenUp.aborted) return;
  const finishedAt = toTimestamp(clock.now());
  const source = { commandId: `${run.runId}|recorded`, metadata: { ...metadata, at: finishedAt } };
  const isDown = await dependenciesDown(deps, task);
  const reached = await withContacts(deps, task);
  const withScreenshot = keepScreenshotOnce(deps, task, found.screenshot);
  let last: Recorded = known;
  for (let round = 0; round < appendRounds; round += 1) {
    let result = toResult(run, task, found, startedAt, finishedAt);
    const before = { snapshotId: last.snapshotId, previous: last.alert.previous };
    const decided = await withScreenshot(toEvent(last, result, found, reached, isDown), last.alert);
    let event = await withMessageContent(deps, decided, before);
    let events: readonly NewEvent[];
    try {
      events = encodeEvents([event], source);
    } catch (error) {
      // Tried again it would be the same: without what cannot be stored, the run is over and says why.
      logger.error({ taskId: run.taskId, runId: run.runId, error: String(error) }, 'a result cannot be stored');
      found = withoutContent(found);
      result = toResult(run, task, found, startedAt, finishedAt);
      event = toEvent(last, result, found, reached, isDown);
      events = encodeEvents([event], source);
    }
    const appended = await eventStore.append(runStream(run.taskId), events, last.revision ?? 'none');
    if (appended.ok) {
      if (event.type === 'run.recorded') {
        const { decision, notifications } = event.data;
        countRun(result.status, decision.reason);
        logger.info(
          {
            taskId: run.taskId,
            runId: run.runId,
            requestId: metadata.requestId,
            status: result.status,
            outcome: result.outcome,
            reason: result.error?.reason,
            decision: decision.reason,
            notifications: notifications.length,
          },
          'run recorded',
        );
      }
      return;
    }
    last = await lastRecorded(eventStore, run.taskId);
    if (isRemembered(last.alert, run.runId)) return;
  }
  throw unavailable('too_many_writers', `The result of ${run.runId} could not be written.`);
}
