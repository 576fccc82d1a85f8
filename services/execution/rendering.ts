/** The rendering service: carries out the runs whose pages need a browser, on a topic of their own, so that they delay no others. */
import { requests } from '#contracts/catalogue';
import { previewQuery } from '#contracts/page-preview';
import { testRun } from '#contracts/run';
import type { Service } from '#eventing/service';
import { createDueRuns, runTimeoutMs } from './due-runs.js';
import { RenderedQuery } from './rendered-query.js';
import type { RunDeps } from './run.js';
import type { TestRuns } from './test-task.js';

/** Runs begun, most of which wait for a browser. */
const maxRunsBegun = 128;

export function createRenderingService(deps: RunDeps, tests: TestRuns): Service {
  return {
    name: 'rendering',
    projections: [],
    consumers: [
      {
        topic: 'rendering',
        group: 'rendering',
        concurrency: maxRunsBegun,
        handlerTimeoutMs: runTimeoutMs,
        handle: createDueRuns(deps, null),
      },
    ],
    responders: [
      {
        request: requests.renderTest,
        query: (payload, context) => new RenderedQuery({ type: 'test', test: testRun.parse(payload) }, context),
      },
      {
        request: requests.renderPreview,
        query: (payload, context) =>
          new RenderedQuery({ type: 'preview', query: previewQuery.parse(payload) }, context),
      },
    ],
    closed: () => tests.ended(),
  };
}
