/** Removes expired idempotency records and quota windows. */
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import { CLOCK, type Clock } from '#runtime/clock';
import { LOGGER, type Logger } from '#runtime/logger';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { answerBudgetCollection } from './idempotency-budget.js';
import { idempotencyCollection } from './idempotency.js';
import { quotaCollection } from './quota.js';

const everyMs = 3_600_000;

@Injectable()
export class Pruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #sweep: LeasedWork | null = null;

  constructor(
    @Inject(SHARED_STATE) private readonly sharedState: SharedState,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { leases, logger, sharedState, clock } = this;
    this.#sweep = startSweep({
      leases,
      name: 'expired-requests',
      everyMs,
      logger,
      async sweep() {
        await sharedState.removeExpired(idempotencyCollection, clock.now());
        await sharedState.removeExpired(answerBudgetCollection, clock.now());
        await sharedState.removeExpired(quotaCollection, clock.now());
      },
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#sweep?.stop();
  }
}
