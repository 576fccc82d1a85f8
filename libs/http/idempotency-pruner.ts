/** Drops idempotency records that are past their day, hourly. */
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LOGGER, type Logger } from '#runtime/logger';
import { IDEMPOTENCY_RECORDS } from './answer.interceptor.js';
import type { IdempotencyRecords } from './idempotency.js';

const everyMs = 3_600_000;

@Injectable()
export class IdempotencyPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | null = null;
  private pruning: Promise<void> = Promise.resolve();

  constructor(
    @Inject(IDEMPOTENCY_RECORDS) private readonly records: IdempotencyRecords,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.pruning = this.records.prune().catch((error: unknown) => {
        this.logger.warn({ error: String(error) }, 'old idempotency records could not be dropped; trying in an hour');
      });
    }, everyMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.pruning;
  }
}
