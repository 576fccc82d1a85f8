/** Questions to runs, of which none records anything: settings that are stored nowhere, and what was recorded once more. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type { Explanation, ExplainQuery } from '#contracts/explanation';
import { packPreview, type PackedPreview, type PreviewQuery } from '#contracts/page-preview';
import type { Backtest, BacktestQuery, Replay, TestExecution, TestRun } from '#contracts/run';
import { unreachable } from '#runtime/errors';
import { BACKTESTS, type Backtests } from './past/backtests.js';
import { explain } from './past/explain.js';
import { replayRun } from './past/replay.js';
import { RUN_DEPS, type RunDeps } from './run.js';
import { TEST_RUNS, type TestRuns } from './test-task.js';

export type RunQuestion =
  | { readonly type: 'test'; readonly test: TestRun }
  | { readonly type: 'preview'; readonly query: PreviewQuery }
  | { readonly type: 'replay'; readonly executionId: string }
  | { readonly type: 'backtest'; readonly query: BacktestQuery }
  | { readonly type: 'explain'; readonly query: ExplainQuery };

export class RunQuery {
  constructor(
    readonly question: RunQuestion,
    readonly context: RequestContext,
  ) {}
}

type RunAnswer = PackedPreview | Replay | Backtest | Explanation | { readonly execution: TestExecution };

@QueryHandler(RunQuery)
export class RunQueryHandler implements IQueryHandler<RunQuery, RunAnswer> {
  constructor(
    @Inject(RUN_DEPS) private readonly deps: RunDeps,
    @Inject(TEST_RUNS) private readonly tests: TestRuns,
    @Inject(BACKTESTS) private readonly backtests: Backtests,
  ) {}

  async execute({ question, context: { organizationId } }: RunQuery): Promise<RunAnswer> {
    switch (question.type) {
      case 'test':
        return { execution: await this.tests.run(question.test, organizationId) };
      case 'preview':
        return packPreview(await this.tests.preview(question.query, organizationId));
      case 'replay':
        return replayRun(this.deps, question.executionId, organizationId);
      case 'backtest':
        return this.backtests.run(question.query, organizationId);
      case 'explain':
        return explain(this.deps, question.query, organizationId);
      default:
        return unreachable(question);
    }
  }
}
