/** The delivery service: sees each notification through to its receiver. */
import { Module } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE, type Service } from '#eventing/service';
import { LEASES, type Leases } from '#leases/leases';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import { createSender } from './send.js';
import { createDeliveryService, type DeliveryDeps } from './service.js';
import { createMailer } from './smtp.js';

const SENDING = Symbol('Sending');

/** The executor and the mail server behind it. */
type Sending = Pick<DeliveryDeps, 'sender' | 'mailer'>;

function createSending(config: Config, clock: Clock, sandbox: Sandbox, outbound: Outbound, vault: Vault): Sending {
  const { smtpUrl, mailFrom, evaluationCpuMs: cpuMs, evaluationMemoryMb: memoryMb } = config;
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, outbound);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const linkBase = config.publicUrl ?? `http://${host}:${config.port}`;
  const sandboxLimits = { ...defaultSandboxLimits, cpuMs, memoryMb };
  const sender = createSender({ vault, sandbox, outbound, mailer, clock, linkBase, mailFrom, sandboxLimits });
  return { sender, mailer };
}

@Module({
  providers: [
    { provide: SENDING, useFactory: createSending, inject: [CONFIG, CLOCK, SANDBOX, OUTBOUND, VAULT] },
    {
      provide: SERVICE,
      inject: [SENDING, BUS, EVENT_STORE, READ_STORE, LEASES, CLOCK, LOGGER, PUBLIC_ADDRESS],
      useFactory: (
        sending: Sending,
        bus: Bus,
        eventStore: EventStore,
        readStore: ViewStore,
        leases: Leases,
        clock: Clock,
        logger: Logger,
        address: PublicAddress,
      ): Service => createDeliveryService({ ...sending, bus, eventStore, readStore, leases, clock, logger, address }),
    },
    ServiceRunner,
  ],
})
export class DeliveryModule {}
