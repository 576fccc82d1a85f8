/** What comes in for execution: runs that are due. Runs the views, the publication and the sweeper beside. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type BusMessage, type Consumer } from '#bus/bus';
import { startPublisher } from '#bus/publisher';
import { dueRun } from '#contracts/schedule';
import type { LeasedWork } from '#leases/leases';
import { startProjection } from '#read-store/projection';
import { toTimestamp } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { executionsProjection } from './execution-view.js';
import { isLost } from './lost-run.js';
import { toMessages } from './publish.js';
import { executeRun, type RunParts } from './run.js';
import { startRedispatcher, undeliveredProjection } from './undelivered-notifications.js';

/** The longest a run can take: two minutes per try at most five times, and the waits between. */
const runTimeoutMs = 15 * 60_000;

/** What a run needs, put together once by the module. */
export const RUN_PARTS = Symbol('RunParts');

export class ExecutionInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private intake: readonly Consumer[] = [];
  private followers: readonly LeasedWork[] = [];
  private readonly inHand = new Set<string>();

  constructor(
    @Inject(RUN_PARTS) private readonly parts: RunParts,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(BUS) private readonly bus: Bus,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus } = this;
    const { eventStore, readStore, leases, clock, logger } = this.parts;
    const stores = { eventStore, readStore, leases, logger };
    this.followers = [
      startProjection({ ...stores, ...executionsProjection }),
      startProjection({ ...stores, ...undeliveredProjection }),
      startPublisher({ ...stores, bus, name: 'execution', prefixes: ['run-'], topic: 'run', toMessages }),
      startRedispatcher({ readStore, bus, leases, clock, logger }),
    ];
    this.intake = [
      await bus.consume(
        {
          topic: 'schedule',
          group: 'execution',
          concurrency: this.config.executionConcurrency,
          handlerTimeoutMs: runTimeoutMs,
        },
        (message) => this.onDue(message),
      ),
    ];
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.intake.map((part) => part.stop()));
    await Promise.all(this.followers.map((part) => part.stop()));
  }

  private async onDue(message: BusMessage): Promise<void> {
    const { type, data, metadata } = message;
    if (type !== 'run.due') return;
    const run = dueRun.parse(data['run']);
    // The sweeper may emit again what is in hand here; the result will answer both.
    if (this.inHand.has(run.runId)) return;
    this.inHand.add(run.runId);
    try {
      if (await isLost(this.parts.eventStore, run, message)) {
        const { taskId, runId } = run;
        this.parts.logger.warn({ taskId, runId }, 'a run whose slot or request is not on record is left out');
        return;
      }
      await executeRun(this.parts, run, {
        ...metadata,
        actor: 'system:execution',
        at: toTimestamp(this.parts.clock.now()),
      });
    } finally {
      this.inHand.delete(run.runId);
    }
  }
}
