/** The execution service: consumes due runs, keeps the views of runs, answers questions to runs, and deletes old pages. */
import { requests } from '#contracts/catalogue';
import { explainQuery } from '#contracts/explanation';
import { previewQuery } from '#contracts/page-preview';
import { backtestQuery, replayQuery, testRun } from '#contracts/run';
import type { Service } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import { createDueRuns, runTimeoutMs } from './due-runs.js';
import { executionsProjection } from './execution-view.js';
import { figuresProjection } from './figures-view.js';
import { foldedDaysProjection } from './folded-days-view.js';
import { expiredPages, forgetArchived } from './kept-pages.js';
import { missingNumbers } from './past/missing-numbers.js';
import { toMessages } from './publish.js';
import { startDropping } from './retention/drop-events.js';
import { foldingSweep, type Retention } from './retention/folding.js';
import { recentRunsProjection } from './recent-runs-view.js';
import { redispatchSweep } from './redispatch.js';
import type { RunDeps } from './run.js';
import { RunQuery } from './run-query.js';
import { expiredSessions } from './sessions.js';
import { shadowsProjection } from './shadow/shadow-view.js';
import { skippedSlotsProjection } from './skipped-slots-view.js';
import type { TestRuns } from './test-task.js';
import { undeliveredProjection } from './undelivered-view.js';

/** Runs that are due and begun, most of which may wait for their site: a bound on memory. Slots bound those at work. */
const maxRunsBegun = 1_024;

export function createExecutionService(
  deps: RunDeps & Pick<ServicePorts, 'bus' | 'sharedState'>,
  tests: TestRuns,
  retention: Retention,
): Service {
  return {
    name: 'execution',
    projections: [
      executionsProjection,
      undeliveredProjection,
      shadowsProjection,
      skippedSlotsProjection,
      recentRunsProjection,
      figuresProjection,
      foldedDaysProjection,
    ],
    publication: { prefixes: ['run-'], topic: 'run', toMessages },
    consumers: [
      {
        topic: 'schedule',
        group: 'execution',
        concurrency: maxRunsBegun,
        handlerTimeoutMs: runTimeoutMs,
        handle: createDueRuns(deps, (message) => deps.bus.publish('rendering', [message])),
      },
      {
        topic: 'task',
        group: 'execution',
        types: ['task.archived'],
        concurrency: 8,
        handlerTimeoutMs: 35_000,
        handle: (message) => forgetArchived(deps, message),
      },
    ],
    responders: [
      {
        request: requests.runTest,
        query: (payload, context) => new RunQuery({ type: 'test', test: testRun.parse(payload) }, context),
      },
      {
        request: requests.runPreview,
        query: (payload, context) => new RunQuery({ type: 'preview', query: previewQuery.parse(payload) }, context),
      },
      {
        request: requests.runReplay,
        query: (payload, context) => new RunQuery({ type: 'replay', ...replayQuery.parse(payload) }, context),
      },
      {
        request: requests.runBacktest,
        query: (payload, context) => new RunQuery({ type: 'backtest', query: backtestQuery.parse(payload) }, context),
      },
      {
        request: requests.runExplain,
        query: (payload, context) => new RunQuery({ type: 'explain', query: explainQuery.parse(payload) }, context),
      },
    ],
    sweeps: [
      redispatchSweep(deps),
      expiredPages(deps),
      expiredSessions(deps),
      missingNumbers(deps),
      foldingSweep({ ...deps, ...retention }),
    ],
    background: [() => startDropping({ ...deps, stored: retention.stored })],
    closed: () => tests.ended(),
  };
}
