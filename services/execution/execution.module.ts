/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule, type ServicePorts } from '#eventing/service-ports';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { STORED_STREAMS, type StoredStreams } from '#event-store/event-store';
import { CONFIG, type Config } from '#runtime/config';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { VAULT, type Vault } from '#vault/vault';
import { CHECKS, createPageDeps, type Checks } from './checks.js';
import { RETENTION, type Retention } from './retention/folding.js';
import { RUN_DEPS, type RunDeps } from './run.js';
import { BACKTESTS, createBacktests } from './past/backtests.js';
import { RunQueryHandler } from './run-query.js';
import { createExecutionService } from './service.js';
import { createTestRuns, TEST_RUNS } from './test-task.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    {
      provide: RUN_DEPS,
      inject: [SERVICE_PORTS, PAGE_LOADER, SANDBOX, SNAPSHOTS, VAULT, CHECKS, CONFIG],
      useFactory: (
        ports: ServicePorts,
        pageLoader: PageLoader,
        sandbox: Sandbox,
        snapshots: Snapshots,
        vault: Vault,
        checks: Checks | null,
        config: Config,
      ): RunDeps & ServicePorts => {
        const pageDeps = createPageDeps({ ...ports, pageLoader, sandbox, snapshots }, config);
        return { ...ports, ...pageDeps, vault, checks };
      },
    },
    { provide: TEST_RUNS, inject: [RUN_DEPS], useFactory: createTestRuns },
    { provide: BACKTESTS, inject: [RUN_DEPS], useFactory: createBacktests },
    RunQueryHandler,
    {
      provide: RETENTION,
      inject: [CONFIG, STORED_STREAMS],
      useFactory: ({ keepRunsDays, keepDeliveriesDays, archiveDir }: Config, stored: StoredStreams): Retention => ({
        keepRunsDays,
        keepDeliveriesDays,
        archiveDir,
        stored,
      }),
    },
    { provide: SERVICE, inject: [RUN_DEPS, TEST_RUNS, RETENTION], useFactory: createExecutionService },
    ServiceRunner,
  ],
})
export class ExecutionModule {}
