/** The delivery service: sees each notification through to its receiver. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule, type ServicePorts } from '#eventing/service-ports';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { tasksView } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { defaultSandboxLimits, SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { LOGGER, type Logger } from '#runtime/logger';
import { ownAddress } from '#runtime/own-address';
import { LINK_SIGNER, type LinkSigner } from '#vault/link-signer';
import { VAULT, type Vault } from '#vault/vault';
import { ChangeContactHandler } from './change-contact.js';
import { ChangeDeliveryHandler } from './change-delivery.js';
import { createMessageBuilder } from './message-builder.js';
import { createPeers } from './peers/peers.js';
import { createPreview, type Preview } from './preview.js';
import { MessageQueryHandler, PREVIEW } from './preview-query.js';
import { createSender } from './send.js';
import { createDeliveryService, type DeliveryDeps } from './service.js';
import { createMailer } from '#mail/smtp';

const SENDING = Symbol('Sending');

/** The executor and the mail server behind it. */
type Sending = Pick<DeliveryDeps, 'sender' | 'mailer' | 'builder'> & { readonly preview: Preview };

function createSending(
  config: Config,
  clock: Clock,
  sandbox: Sandbox,
  outbound: Outbound,
  vault: Vault,
  signer: LinkSigner,
  readStore: ReadStore,
  logger: Logger,
): Sending {
  const {
    smtpUrl,
    insecureOk,
    egressAuthorities: authorities,
    dkim,
    mailFrom,
    evaluationCpuMs: cpuMs,
    evaluationMemoryMb: memoryMb,
  } = config;
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, outbound, { insecureOk, authorities, dkim });
  const linkBase = ownAddress(config, config.port);
  const sandboxLimits = { ...defaultSandboxLimits, cpuMs, memoryMb };
  const builder = createMessageBuilder(logger);
  const tasks = (taskId: string) => readStore.get(tasksView, taskId);
  const making = { vault, signer, sandbox, builder, clock, linkBase, mailFrom, sandboxLimits };
  return {
    sender: createSender({
      ...making,
      tasks,
      outbound,
      mailer,
      peers: createPeers({ outbound, commands: config.commands }),
    }),
    mailer,
    builder,
    preview: createPreview(making),
  };
}

@Module({
  imports: [ServicePortsModule],
  providers: [
    {
      provide: SENDING,
      useFactory: createSending,
      inject: [CONFIG, CLOCK, SANDBOX, OUTBOUND, VAULT, LINK_SIGNER, READ_STORE, LOGGER],
    },
    {
      provide: SERVICE,
      inject: [SERVICE_PORTS, SENDING, PUBLIC_ADDRESS, VAULT],
      useFactory: (ports: ServicePorts, sending: Sending, address: PublicAddress, vault: Vault) =>
        createDeliveryService({ ...ports, ...sending, address, vault }),
    },
    { provide: PREVIEW, useFactory: ({ preview }: Sending) => preview, inject: [SENDING] },
    MessageQueryHandler,
    ChangeDeliveryHandler,
    ChangeContactHandler,
    ServiceRunner,
  ],
})
export class DeliveryModule {}
