/** What comes in for execution: runs that are due. Runs the views, the publication and the sweeper beside. */
import { randomUUID } from 'node:crypto';
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type BusMessage, type Consumer } from '#bus/bus';
import { startPublisher, type Publisher } from '#bus/publisher';
import { executionsView } from '#contracts/run';
import { dueRun } from '#contracts/schedule';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { startProjection, type Projection } from '#read-store/projection';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { SANDBOX, defaultSandboxLimits, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import * as executionView from './execution-view.js';
import { toMessages } from './publish.js';
import { executeRun, type RunParts } from './run.js';
import * as unanswered from './unanswered.js';

/** The longest a run can take: two minutes per try at most five times, and the waits between. */
const runTimeoutMs = 15 * 60_000;

export class ExecutionInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private intake: readonly Consumer[] = [];
  private followers: readonly (Projection | Publisher | unanswered.Sweeper)[] = [];
  private readonly inHand = new Set<string>();
  private readonly worker = randomUUID();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(PAGE_LOADER) private readonly pageLoader: PageLoader,
    @Inject(SANDBOX) private readonly sandbox: Sandbox,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus, eventStore, readStore, clock, logger } = this;
    const stores = { eventStore, readStore, logger };
    const { executionViewPrefixes } = executionView;
    this.followers = [
      startProjection({ ...stores, ...executionView, view: executionsView, prefixes: executionViewPrefixes }),
      startProjection({
        ...stores,
        ...unanswered,
        view: unanswered.unansweredView,
        prefixes: unanswered.unansweredPrefixes,
      }),
      startPublisher({ ...stores, bus, name: 'execution', prefixes: ['run-'], topic: 'run', toMessages }),
      unanswered.startSweeper(readStore, bus, clock, logger),
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

  private async onDue({ type, data, metadata }: BusMessage): Promise<void> {
    if (type !== 'run.due') return;
    const run = dueRun.parse(data['run']);
    // The sweeper may emit again what is in hand here; the result will answer both.
    if (this.inHand.has(run.runId)) return;
    this.inHand.add(run.runId);
    try {
      await executeRun(this.parts(), run, {
        ...metadata,
        actor: 'system:execution',
        at: toTimestamp(this.clock.now()),
      });
    } finally {
      this.inHand.delete(run.runId);
    }
  }

  private parts(): RunParts {
    const { eventStore, readStore, pageLoader, sandbox, vault, clock, logger, worker, config } = this;
    const limits = {
      ...defaultSandboxLimits,
      cpuMs: config.evaluationCpuMs,
      memoryMb: config.evaluationMemoryMb,
    };
    return { eventStore, readStore, pageLoader, sandbox, vault, clock, logger, worker, limits };
  }
}
