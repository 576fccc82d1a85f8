/** The delivery service: its consumers, projection, publisher and worker, started and drained with the process. */
import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { startPublisher } from '#eventing/publisher';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { startProjection } from '#eventing/projection';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { VAULT, type Vault } from '#vault/vault';
import { createMailer, type Mailer } from './channels/email/smtp.js';
import { deliveriesProjection } from './delivery-view.js';
import { startInbox } from './inbox.js';
import { toMessages } from './publish.js';
import { createSender, type Sender } from './send.js';
import { DeliveryWorker } from './worker.js';

/** The sender, the mail server behind it, and the address that links lead to. */
class Sending {
  constructor(
    readonly sender: Sender,
    readonly mailer: Mailer | null,
    readonly address: PublicAddress,
  ) {}
}

function createSending(
  config: Config,
  address: PublicAddress,
  clock: Clock,
  sandbox: Sandbox,
  outbound: Outbound,
  vault: Vault,
): Sending {
  const { smtpUrl, mailFrom, evaluationCpuMs: cpuMs, evaluationMemoryMb: memoryMb } = config;
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, outbound);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const linkBase = config.publicUrl ?? `http://${host}:${config.port}`;
  const sandboxLimits = { ...defaultSandboxLimits, cpuMs, memoryMb };
  return new Sending(
    createSender({ vault, sandbox, outbound, mailer, clock, linkBase, mailFrom, sandboxLimits }),
    mailer,
    address,
  );
}

@Injectable()
export class DeliveryService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #deps;
  #inbox: Consumer | null = null;
  #projection: LeasedWork | null = null;
  #publisher: LeasedWork | null = null;

  constructor(
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    @Inject(EVENT_STORE) eventStore: EventStore,
    @Inject(READ_STORE) readStore: ViewStore,
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(BUS) bus: Bus,
    @Inject(LEASES) leases: Leases,
    @Inject(Sending) { sender, mailer, address }: Sending,
  ) {
    const worker = new DeliveryWorker({ eventStore, readStore, sender, clock, logger, leases });
    this.#deps = { clock, logger, eventStore, readStore, sharedState, bus, leases, mailer, worker, address };
  }

  async onApplicationBootstrap(): Promise<void> {
    const { bus, leases, logger, clock, address, eventStore, readStore, sharedState, worker } = this.#deps;
    const stores = { eventStore, readStore, leases, logger };
    this.#projection = startProjection({
      ...stores,
      sharedState,
      ...deliveriesProjection,
      // What another process asked for or left is due here too, as soon as the view shows it.
      saved(writes) {
        for (const { id, document } of writes) if (document !== null) worker.notice(id, document);
      },
    });
    this.#publisher = startPublisher({
      ...stores,
      name: 'delivery',
      prefixes: deliveriesProjection.prefixes,
      topic: 'delivery',
      bus,
      toMessages,
    });
    worker.start();
    const offer = (id: string, dueMs: number): void => worker.offer(id, dueMs);
    this.#inbox = await startInbox({ bus, eventStore, clock, address, offer });
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { worker, mailer } = this.#deps;
    await Promise.all([this.#inbox?.stop(), worker.stop()]);
    await Promise.all([this.#projection?.stop(), this.#publisher?.stop()]);
    mailer?.close();
  }
}

@Module({
  providers: [
    DeliveryService,
    { provide: Sending, useFactory: createSending, inject: [CONFIG, PUBLIC_ADDRESS, CLOCK, SANDBOX, OUTBOUND, VAULT] },
  ],
})
export class DeliveryModule {}
