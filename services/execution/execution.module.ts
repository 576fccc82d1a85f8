/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { ServicePortsModule } from '#eventing/service-ports';
import { STORED_STREAMS, type StoredStreams } from '#event-store/event-store';
import { CONFIG, type Config } from '#runtime/config';
import { RETENTION, type Retention } from './retention/folding.js';
import { RUN_DEPS } from './run.js';
import { runParts } from './run-parts.js';
import { BACKTESTS, createBacktests } from './past/backtests.js';
import { RunQueryHandler } from './run-query.js';
import { createExecutionService } from './service.js';
import { TEST_RUNS } from './test-task.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    ...runParts,
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
