/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { createFairSlots } from '#concurrency/fair-slots';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE, type Service } from '#eventing/service';
import { LEASES, type Leases } from '#leases/leases';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { VAULT, type Vault } from '#vault/vault';
import type { EvaluationDeps } from './page-evaluation.js';
import { EVALUATION_DEPS, RUN_DEPS } from './tokens.js';
import { KnownResults } from './known-results.js';
import type { RunDeps } from './run.js';
import { createExecutionService } from './service.js';

@Module({
  providers: [
    {
      provide: EVALUATION_DEPS,
      inject: [CONFIG, PAGE_LOADER, SANDBOX, VAULT],
      useFactory: (
        { evaluationCpuMs, evaluationMemoryMb }: Config,
        pageLoader: PageLoader,
        sandbox: Sandbox,
        vault: Vault,
      ): EvaluationDeps => ({
        pageLoader,
        sandbox,
        vault,
        limits: { ...defaultSandboxLimits, cpuMs: evaluationCpuMs, memoryMb: evaluationMemoryMb },
      }),
    },
    {
      provide: RUN_DEPS,
      inject: [EVALUATION_DEPS, EVENT_STORE, READ_STORE, SNAPSHOTS, LEASES, CONFIG, CLOCK, LOGGER],
      useFactory: (
        evaluation: EvaluationDeps,
        eventStore: EventStore,
        readStore: ViewStore,
        snapshots: Snapshots,
        leases: Leases,
        { executionConcurrency }: Config,
        clock: Clock,
        logger: Logger,
      ): RunDeps => {
        const knownResults = new KnownResults();
        // A quarter more than one organisation may hold: there is always a slot for another.
        const slots = createFairSlots({
          slots: executionConcurrency + Math.ceil(executionConcurrency / 4),
          shares: { organization: executionConcurrency },
        });
        return { ...evaluation, eventStore, readStore, snapshots, knownResults, slots, leases, clock, logger };
      },
    },
    {
      provide: SERVICE,
      inject: [RUN_DEPS, BUS],
      useFactory: (deps: RunDeps, bus: Bus): Service => createExecutionService(deps, bus),
    },
    ServiceRunner,
  ],
})
export class ExecutionModule {}
