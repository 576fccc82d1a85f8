/** The delivery service: consumes decisions to notify, keeps the view of deliveries, and runs the worker that sends. */
import { requests } from '#contracts/catalogue';
import { contactCommand } from '#contracts/contact';
import { deliveryChange, type DeliveryDocument } from '#contracts/delivery';
import { previewQuery } from '#contracts/message-preview';
import type { BackgroundWork, Service } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import type { DocumentWrite } from '#read-store/read-store';
import type { PublicAddress } from '#runtime/config';
import type { Mailer } from '#mail/smtp';
import { ChangeDelivery } from './change-delivery.js';
import { ChangeContact } from './change-contact.js';
import { contactsProjection } from './contact-view.js';
import { deliveryConsumers } from './consumers.js';
import { deliveriesProjection } from './delivery-view.js';
import { toMessages } from './publish.js';
import type { MessageBuilder } from './message-builder.js';
import { MessageQuery } from './preview-query.js';
import type { Sender } from './send.js';
import type { Vault } from '#vault/vault';
import { DeliveryWorker } from './worker.js';

export interface DeliveryDeps extends ServicePorts {
  readonly vault: Vault;
  readonly address: PublicAddress;
  readonly sender: Sender;
  readonly mailer: Mailer | null;
  readonly builder: MessageBuilder;
}

/** Said once, beside the start: a mail server that refuses is found before the first message needs it. */
function greetMailServer({ mailer, logger }: Pick<DeliveryDeps, 'mailer' | 'logger'>): BackgroundWork {
  let isStopping = false;
  void mailer?.greet().then((fault) => {
    const { server } = mailer;
    if (fault === null) logger.info({ server }, 'the mail server answers');
    else if (!isStopping)
      logger.warn({ server, ...fault }, 'mail cannot be sent: try `meerkat test-mail`; messages wait until it can');
  });
  return {
    async stop() {
      isStopping = true;
    },
  };
}

export function createDeliveryService(deps: DeliveryDeps): Service {
  const worker = new DeliveryWorker(deps);
  return {
    name: 'delivery',
    projections: [
      contactsProjection,
      {
        ...deliveriesProjection,
        // What another process asked for or left is due here too, as soon as the view shows it.
        saved(writes: readonly DocumentWrite<DeliveryDocument>[]) {
          for (const { id, document } of writes) if (document !== null) worker.notice(id, document);
        },
      },
    ],
    publication: { prefixes: ['dlv-'], topic: 'delivery', toMessages },
    consumers: deliveryConsumers({
      ...deps,
      hasMailServer: deps.mailer !== null,
      beginAtOnce: (fresh) => worker.beginAtOnce(fresh),
      begin: (delivery, dueMs) => worker.begin(delivery, dueMs),
      offer: (id, dueMs) => worker.offer(id, dueMs),
    }),
    responders: [
      {
        request: requests.deliveryPreview,
        query: (payload) => new MessageQuery(previewQuery.parse(payload)),
      },
      {
        request: requests.contactChange,
        command: (payload, context) => new ChangeContact(contactCommand.parse(payload), context),
      },
      {
        request: requests.deliveryChange,
        command: (payload, context) => new ChangeDelivery(deliveryChange.parse(payload), context),
      },
    ],
    background: [
      () => greetMailServer(deps),
      () => {
        worker.start();
        return worker;
      },
    ],
    async closed() {
      deps.mailer?.close();
      await deps.builder.close();
    },
  };
}
