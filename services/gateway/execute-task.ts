/** Asks for a run now and, where wanted, waits for its end. */
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { sleep } from '#concurrency/sleep';
import { requests } from '#contracts/catalogue';
import { executionsView, queuedExecution, type ExecutionDocument } from '#contracts/run';
import { dueRun, type DueRun } from '#contracts/schedule';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { IdempotentAttempt } from '#http/route';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { derivedId, timeOfId } from '#runtime/ids';
import { Activities } from './activities.js';
import { createWaitingRuns, type WaitingRuns } from './waiting-runs.js';

/** `run` is null where a run of that id was asked for before: a repeat after a crash. */
const triggered = z.object({ run: dueRun.nullable(), position: z.number().nullable() });

/** A task that was created a moment ago may not have reached the scheduling service yet. */
const unknownYetMs = 3_000;
const lookAgainMs = 20;
const slowestLookMs = 200;
const viewWaitMs = 2_000;

export interface RunRequest {
  readonly task: TaskDocument;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** 0: do not wait. */
  readonly waitSeconds: number;
  readonly context: RequestContext;
  readonly attempt: IdempotentAttempt | null;
  readonly signal: AbortSignal;
}

function isFinished({ status }: ExecutionDocument): boolean {
  return status !== 'queued' && status !== 'running';
}

@Injectable()
export class TaskRunner {
  readonly #executions: PositionWaiter;
  readonly #tasks: PositionWaiter;
  readonly #waiting: WaitingRuns;

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(Activities) private readonly activities: Activities,
  ) {
    this.#executions = createPositionWaiter(readStore, executionsView);
    this.#tasks = createPositionWaiter(readStore, tasksView);
    this.#waiting = createWaitingRuns(readStore, clock);
  }

  /** The finished execution, or the queued one where it was not to be waited for or took longer. */
  async run(request: RunRequest): Promise<{ readonly execution: ExecutionDocument; readonly finished: boolean }> {
    const { runId, run: triggeredRun, position, place } = await this.#triggerInLine(request);
    const run = triggeredRun ?? this.#askedBefore(runId, request);
    if (position !== null) await this.#executions.reached(position, viewWaitMs);
    const giveUpAtMs = this.clock.now() + request.waitSeconds * 1_000;
    let lookMs = lookAgainMs;
    for (;;) {
      const stored = (await this.readStore.load(executionsView, [run.runId])).get(run.runId);
      const execution = stored?.document ?? queuedExecution(run, request.task.organizationId);
      const finished = isFinished(execution);
      // A caller that sees the end finds it in the task too, in its condition and its health.
      if (finished && stored !== undefined) await this.#tasks.reached(stored.revision, viewWaitMs);
      if (finished) place.over(run.runId);
      const leftMs = giveUpAtMs - this.clock.now();
      if (finished || leftMs <= 0 || request.signal.aborted) return { execution, finished };
      await sleep(Math.min(lookMs, leftMs), request.signal);
      lookMs = Math.min(slowestLookMs, lookMs * 1.5);
    }
  }

  async #triggerInLine(request: RunRequest) {
    const place = await this.#waiting.take(request.task.id);
    try {
      const triggered = await this.#trigger(request);
      const { task, force, dryRun, context } = request;
      const data = { resource: task.id, executionId: triggered.runId, force, dryRun };
      await this.activities.record({ type: 'activity.run_requested', data }, context);
      if (triggered.run === null || triggered.position === null) place.free();
      else place.recorded(triggered.position);
      return { ...triggered, place };
    } catch (error) {
      place.free();
      throw error;
    }
  }

  #askedBefore(runId: string, { task, force, dryRun }: RunRequest): DueRun {
    const at = toTimestamp(timeOfId(runId));
    return { runId, taskId: task.id, trigger: 'manual', scheduledFor: at, queuedAt: at, force, dryRun };
  }

  async #trigger({ task, force, dryRun, context, attempt, signal }: RunRequest) {
    const epochMs = attempt?.startedAtMs ?? this.clock.now();
    const runId = derivedId('exe', epochMs, task.id, 'manual', attempt?.key ?? context.requestId);
    const giveUpAtMs = this.clock.now() + unknownYetMs;
    for (;;) {
      try {
        const payload = { taskId: task.id, runId, force, dryRun };
        return { runId, ...triggered.parse(await this.bus.request(requests.scheduleTrigger, payload, context)) };
      } catch (error) {
        // The view has the task, so scheduling is about to have it.
        const unknownYet = error instanceof AppError && error.code === 'NOT_FOUND';
        if (!unknownYet || signal.aborted || this.clock.now() >= giveUpAtMs) throw error;
        await sleep(lookAgainMs);
      }
    }
  }
}
