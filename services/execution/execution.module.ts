/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { LEASES, type Leases } from '#leases/leases';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { VAULT, type Vault } from '#vault/vault';
import type { Evaluators } from './evaluate-task.js';
import { ExecutionInbox, RUN_PARTS } from './inbox.js';
import { KeptPages } from './kept-pages.js';
import { KnownResults } from './known-results.js';
import { Replays } from './replay.js';
import type { RunParts } from './run.js';
import { EVALUATORS, TestRuns } from './test-task.js';

@Module({
  providers: [
    {
      provide: EVALUATORS,
      inject: [CONFIG, PAGE_LOADER, SANDBOX, VAULT],
      useFactory: (
        { evaluationCpuMs, evaluationMemoryMb }: Config,
        pageLoader: PageLoader,
        sandbox: Sandbox,
        vault: Vault,
      ): Evaluators => ({
        pageLoader,
        sandbox,
        vault,
        limits: { ...defaultSandboxLimits, cpuMs: evaluationCpuMs, memoryMb: evaluationMemoryMb },
      }),
    },
    {
      provide: RUN_PARTS,
      inject: [EVALUATORS, EVENT_STORE, READ_STORE, SNAPSHOTS, LEASES, CLOCK, LOGGER],
      useFactory: (
        evaluators: Evaluators,
        eventStore: EventStore,
        readStore: ViewStore,
        snapshots: Snapshots,
        leases: Leases,
        clock: Clock,
        logger: Logger,
      ): RunParts => {
        const knownResults = new KnownResults();
        return { ...evaluators, eventStore, readStore, snapshots, knownResults, leases, clock, logger };
      },
    },
    ExecutionInbox,
    TestRuns,
    Replays,
    KeptPages,
  ],
})
export class ExecutionModule {}
