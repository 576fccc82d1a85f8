/** How long pages are kept: those of archived tasks go at once, the others by age. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { isOnRecord } from '#event-store/on-record';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import { CLOCK, type Clock } from '#runtime/clock';
import { LOGGER, type Logger } from '#runtime/logger';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';

const sweepEveryMs = 900_000;

export class KeptPages implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #running: readonly (Consumer | LeasedWork)[] = [];

  constructor(
    @Inject(SNAPSHOTS) private readonly snapshots: Snapshots,
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { snapshots, eventStore, bus, leases, clock, logger } = this;
    const options = { topic: 'task', group: 'execution', concurrency: 8, handlerTimeoutMs: 35_000 };
    this.#running = [
      // A run that is under way now may keep one page more; that one goes by its age.
      await bus.consume(options, async ({ type, key, id, data }) => {
        if (type !== 'task.archived') return;
        const source = { stream: `task-${key}`, revision: Number(data['revision']), id };
        if (await isOnRecord(eventStore, source)) await snapshots.forget(key);
      }),
      startSweep({
        leases,
        name: 'snapshots',
        everyMs: sweepEveryMs,
        logger,
        async sweep() {
          const gone = await snapshots.sweep(clock.now());
          if (gone > 0) logger.info({ snapshots: gone }, 'expired pages deleted');
        },
      }),
    ];
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#running.map((part) => part.stop()));
  }
}
