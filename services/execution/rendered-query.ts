/** Questions to pages that a browser renders, where it is: none records anything. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import { packPreview, type PackedPreview, type PreviewQuery } from '#contracts/page-preview';
import type { TestExecution, TestRun } from '#contracts/run';
import { TEST_RUNS, type TestRuns } from './test-task.js';

type RenderedQuestion =
  { readonly type: 'test'; readonly test: TestRun } | { readonly type: 'preview'; readonly query: PreviewQuery };

export class RenderedQuery {
  constructor(
    readonly question: RenderedQuestion,
    readonly context: RequestContext,
  ) {}
}

type RenderedAnswer = PackedPreview | { readonly execution: TestExecution };

@QueryHandler(RenderedQuery)
export class RenderedQueryHandler implements IQueryHandler<RenderedQuery, RenderedAnswer> {
  constructor(@Inject(TEST_RUNS) private readonly tests: TestRuns) {}

  async execute({ question, context: { organizationId } }: RenderedQuery): Promise<RenderedAnswer> {
    return question.type === 'test'
      ? { execution: await this.tests.run(question.test, organizationId) }
      : packPreview(await this.tests.preview(question.query, organizationId));
  }
}
