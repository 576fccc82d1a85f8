/** Consumes the runs that are due, and runs the projections, the publisher and the redispatcher of this service. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type BusMessage, type Consumer } from '#bus/bus';
import { startPublisher } from '#eventing/publisher';
import { dueRun } from '#contracts/schedule';
import type { LeasedWork } from '#leases/leases';
import { startProjection } from '#eventing/projection';
import { toTimestamp } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { executionsProjection } from './execution-view.js';
import { RUN_DEPS } from './tokens.js';
import { isLost } from './lost-run.js';
import { toMessages } from './publish.js';
import { executeRun, type RunDeps } from './run.js';
import { startRedispatcher, undeliveredProjection } from './undelivered-notifications.js';

/** The longest a run can take: two minutes per try at most five times, and the waits between. */
const runTimeoutMs = 15 * 60_000;

export class ExecutionInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #deps: RunDeps;
  readonly #sharedState: SharedState;
  readonly #config: Config;
  readonly #bus: Bus;
  #consumer: Consumer | null = null;
  #followers: readonly LeasedWork[] = [];
  readonly #inProgress = new Set<string>();

  constructor(
    @Inject(RUN_DEPS) deps: RunDeps,
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(CONFIG) config: Config,
    @Inject(BUS) bus: Bus,
  ) {
    this.#deps = deps;
    this.#sharedState = sharedState;
    this.#config = config;
    this.#bus = bus;
  }

  async onApplicationBootstrap(): Promise<void> {
    const bus = this.#bus;
    const { eventStore, readStore, leases, clock, logger } = this.#deps;
    const stores = { eventStore, readStore, leases, logger };
    this.#followers = [
      startProjection({ ...stores, sharedState: this.#sharedState, ...executionsProjection }),
      startProjection({ ...stores, sharedState: this.#sharedState, ...undeliveredProjection }),
      startPublisher({ ...stores, bus, name: 'execution', prefixes: ['run-'], topic: 'run', toMessages }),
      startRedispatcher({ readStore, bus, leases, clock, logger }),
    ];
    const { executionConcurrency: concurrency } = this.#config;
    this.#consumer = await bus.consume(
      { topic: 'schedule', group: 'execution', concurrency, handlerTimeoutMs: runTimeoutMs },
      (message) => this.#onDue(message),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#consumer?.stop();
    await Promise.all(this.#followers.map((part) => part.stop()));
  }

  async #onDue(message: BusMessage): Promise<void> {
    const { type, data, metadata } = message;
    if (type !== 'run.due') return;
    const run = dueRun.parse(data['run']);
    // The sweep may emit again what is in progress here; its result answers both.
    if (this.#inProgress.has(run.runId)) return;
    this.#inProgress.add(run.runId);
    try {
      if (await isLost(this.#deps.eventStore, run, message)) {
        const { taskId, runId } = run;
        this.#deps.logger.warn({ taskId, runId }, 'ignoring due run: source event not in the event store');
        return;
      }
      await executeRun(this.#deps, run, {
        ...metadata,
        actor: 'system:execution',
        at: toTimestamp(this.#deps.clock.now()),
      });
    } finally {
      this.#inProgress.delete(run.runId);
    }
  }
}
