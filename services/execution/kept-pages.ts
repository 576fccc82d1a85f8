/** How long pages are kept: those of archived tasks go at once, the others by age. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { taskStream } from '#contracts/task';
import { isOnRecord } from '#eventing/source-event';
import type { LeasedWork } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import type { RunDeps } from './run.js';
import { RUN_DEPS } from './tokens.js';

const sweepEveryMs = 900_000;

type KeptPagesDeps = Pick<RunDeps, 'snapshots' | 'eventStore' | 'leases' | 'clock' | 'logger'>;

export class KeptPages implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #deps: KeptPagesDeps;
  readonly #bus: Bus;
  #running: readonly (Consumer | LeasedWork)[] = [];

  constructor(@Inject(RUN_DEPS) deps: KeptPagesDeps, @Inject(BUS) bus: Bus) {
    this.#deps = deps;
    this.#bus = bus;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { snapshots, eventStore, leases, clock, logger } = this.#deps;
    const options = { topic: 'task', group: 'execution', concurrency: 8, handlerTimeoutMs: 35_000 };
    this.#running = [
      // A run that is under way now may keep one page more; that one goes by its age.
      await this.#bus.consume(options, async ({ type, key, id, data }) => {
        if (type !== 'task.archived') return;
        const source = { stream: taskStream(key), revision: Number(data['revision']), id };
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
