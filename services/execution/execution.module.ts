/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { LEASES, type Leases } from '#leases/leases';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import { ExecutionInbox, RUN_PARTS } from './inbox.js';
import type { RunParts } from './run.js';

@Module({
  providers: [
    {
      provide: RUN_PARTS,
      inject: [CONFIG, EVENT_STORE, READ_STORE, PAGE_LOADER, SANDBOX, VAULT, LEASES, CLOCK, LOGGER],
      useFactory: (
        { evaluationCpuMs, evaluationMemoryMb }: Config,
        eventStore: EventStore,
        readStore: ReadStore,
        pageLoader: PageLoader,
        sandbox: Sandbox,
        vault: Vault,
        leases: Leases,
        clock: Clock,
        logger: Logger,
      ): RunParts => ({
        eventStore,
        readStore,
        pageLoader,
        sandbox,
        vault,
        leases,
        clock,
        logger,
        limits: { ...defaultSandboxLimits, cpuMs: evaluationCpuMs, memoryMb: evaluationMemoryMb },
      }),
    },
    ExecutionInbox,
  ],
})
export class ExecutionModule {}
