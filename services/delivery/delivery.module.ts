/** The delivery service: its inbox, view, publication and worker, started and drained with the process. */
import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { startPublisher } from '#bus/publisher';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { startProjection } from '#read-store/projection';
import { READ_STORE, type DocumentWrite, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import { createMailer, type Mailer } from './channels/email/smtp.js';
import { deliveriesProjection } from './delivery-view.js';
import { startInbox } from './inbox.js';
import { toMessages } from './publish.js';
import { createSender, type Sender } from './send.js';
import { DeliveryWorker } from './worker.js';

/** Where the events are and what is made of them. */
class Stores {
  constructor(
    readonly eventStore: EventStore,
    readonly readStore: ViewStore,
  ) {}
}

/** The executor and the mail server behind it. */
class Sending {
  constructor(
    readonly sender: Sender,
    readonly mailer: Mailer | null,
  ) {}
}

function createSending(config: Config, clock: Clock, sandbox: Sandbox, outbound: Outbound, vault: Vault): Sending {
  const { smtpUrl, mailFrom, evaluationCpuMs: cpuMs, evaluationMemoryMb: memoryMb } = config;
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, outbound);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const linkBase = config.publicUrl ?? `http://${host}:${config.port}`;
  const sandboxLimits = { ...defaultSandboxLimits, cpuMs, memoryMb };
  return new Sending(
    createSender({ vault, sandbox, outbound, mailer, clock, linkBase, mailFrom, sandboxLimits }),
    mailer,
  );
}

function createWorker(
  eventStore: EventStore,
  readStore: ViewStore,
  { sender }: Sending,
  clock: Clock,
  logger: Logger,
  leases: Leases,
): DeliveryWorker {
  return new DeliveryWorker({ eventStore, readStore, sender, clock, logger, leases });
}

@Injectable()
export class DeliveryService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #inbox: Consumer | null = null;
  #projection: LeasedWork | null = null;
  #publisher: LeasedWork | null = null;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Stores) private readonly stores: Stores,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(Sending) private readonly sending: Sending,
    @Inject(DeliveryWorker) private readonly worker: DeliveryWorker,
    @Inject(PUBLIC_ADDRESS) private readonly address: PublicAddress,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus, leases, logger, clock, address } = this;
    const { eventStore, readStore } = this.stores;
    this.#projection = startProjection({
      ...deliveriesProjection,
      eventStore,
      readStore,
      leases,
      logger,
      saved: (writes) => this.#look(writes),
    });
    this.#publisher = startPublisher({
      name: 'delivery',
      prefixes: deliveriesProjection.prefixes,
      topic: 'delivery',
      eventStore,
      readStore,
      bus,
      leases,
      logger,
      toMessages,
    });
    this.worker.start();
    const offer = (id: string, dueMs: number): void => this.worker.offer(id, dueMs);
    this.#inbox = await startInbox({ bus, eventStore, clock, address, offer });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.#inbox?.stop(), this.worker.stop()]);
    await Promise.all([this.#projection?.stop(), this.#publisher?.stop()]);
    this.sending.mailer?.close();
  }

  /** What another process asked for or left is due here too, as soon as the view knows of it. */
  #look(writes: readonly DocumentWrite[]): void {
    for (const { id, document } of writes) {
      if (document !== null) this.worker.notice(id, document);
    }
  }
}

@Module({
  providers: [
    DeliveryService,
    {
      provide: Stores,
      useFactory: (eventStore: EventStore, readStore: ViewStore) => new Stores(eventStore, readStore),
      inject: [EVENT_STORE, READ_STORE],
    },
    { provide: Sending, useFactory: createSending, inject: [CONFIG, CLOCK, SANDBOX, OUTBOUND, VAULT] },
    {
      provide: DeliveryWorker,
      useFactory: createWorker,
      inject: [EVENT_STORE, READ_STORE, Sending, CLOCK, LOGGER, LEASES],
    },
  ],
})
export class DeliveryModule {}
