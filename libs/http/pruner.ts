/** Drops what is past its time: idempotency records and counters. */
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import { pruneExpired } from '#read-store/counted';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { LOGGER, type Logger } from '#runtime/logger';
import { idempotencyView } from './idempotency.js';
import { quotaView } from './quota.js';

const everyMs = 3_600_000;

@Injectable()
export class Pruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private sweep: LeasedWork | null = null;

  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { leases, logger, readStore, clock } = this;
    this.sweep = startSweep({
      leases,
      name: 'expired-requests',
      everyMs,
      logger,
      async sweep() {
        await pruneExpired(readStore, idempotencyView, clock.now());
        await pruneExpired(readStore, quotaView, clock.now());
      },
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweep?.stop();
  }
}
