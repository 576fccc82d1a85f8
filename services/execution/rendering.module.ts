/** Runs in a browser, as a role of their own. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { ServicePortsModule } from '#eventing/service-ports';
import { RenderedQueryHandler } from './rendered-query.js';
import { createRenderingService } from './rendering.js';
import { RUN_DEPS } from './run.js';
import { runParts } from './run-parts.js';
import { TEST_RUNS } from './test-task.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    ...runParts,
    RenderedQueryHandler,
    { provide: SERVICE, inject: [RUN_DEPS, TEST_RUNS], useFactory: createRenderingService },
    ServiceRunner,
  ],
})
export class RenderingModule {}
