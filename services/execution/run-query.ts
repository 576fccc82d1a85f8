/** Runs that record nothing: settings that are stored nowhere, and a recorded run once more. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type { Replay, TestExecution, TestRun } from '#contracts/run';
import { unreachable } from '#runtime/errors';
import { replayRun } from './replay.js';
import { RUN_DEPS, type RunDeps } from './run.js';
import { TEST_RUNS, type TestRuns } from './test-task.js';

export type RunQuestion =
  { readonly type: 'test'; readonly test: TestRun } | { readonly type: 'replay'; readonly executionId: string };

export class RunQuery {
  constructor(
    readonly question: RunQuestion,
    readonly context: RequestContext,
  ) {}
}

type RunAnswer = Replay | { readonly execution: TestExecution };

@QueryHandler(RunQuery)
export class RunQueryHandler implements IQueryHandler<RunQuery, RunAnswer> {
  constructor(
    @Inject(RUN_DEPS) private readonly deps: RunDeps,
    @Inject(TEST_RUNS) private readonly tests: TestRuns,
  ) {}

  async execute({ question, context: { organizationId } }: RunQuery): Promise<RunAnswer> {
    switch (question.type) {
      case 'test':
        return { execution: await this.tests.run(question.test, organizationId) };
      case 'replay':
        return replayRun(this.deps, question.executionId, organizationId);
      default:
        return unreachable(question);
    }
  }
}
