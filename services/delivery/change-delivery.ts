/** Has deliveries sent again that a person wants: one, or all that failed in a time. Each by its action as it is now. */
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import { createSemaphore } from '#concurrency/semaphore';
import {
  deliveriesView,
  deliveryStream,
  type DeliveriesChanged,
  type DeliveryChange,
  type NotificationRequest,
} from '#contracts/delivery';
import { contactId, contactsView } from '#contracts/contact';
import { tasksView } from '#contracts/task';
import { runCommand } from '#eventing/run-command';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { loadDelivery, type LoadedDelivery } from './delivery-stream.js';
import { deliveryDecider, known } from './domain/delivery.js';

export class ChangeDelivery {
  constructor(
    readonly change: DeliveryChange,
    readonly context: RequestContext,
  ) {}
}

/** One request changes no more: the caller asks again while some are left. */
const mostRecovered = 1_000;
const writersAtOnce = 32;

@CommandHandler(ChangeDelivery)
export class ChangeDeliveryHandler implements ICommandHandler<ChangeDelivery, DeliveriesChanged> {
  readonly #eventStore: EventStore;
  readonly #readStore: ReadStore;
  readonly #clock: Clock;

  constructor(
    @Inject(EVENT_STORE) eventStore: EventStore,
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#eventStore = eventStore;
    this.#readStore = readStore;
    this.#clock = clock;
  }

  async execute({ change, context }: ChangeDelivery): Promise<DeliveriesChanged> {
    if (change.type === 'resend') {
      const position = await this.#resend(change.deliveryId, context);
      return { position, resent: position === null ? 0 : 1, left: false };
    }
    return this.#recover(change, context);
  }

  async #recover(
    { from, to, states, actionType }: Extract<DeliveryChange, { readonly type: 'recover' }>,
    context: RequestContext,
  ): Promise<DeliveriesChanged> {
    const where: readonly FieldFilter[] = [
      { field: 'organizationId', equals: context.organizationId },
      { field: 'createdAt', from, ...(to === null ? {} : { to }) },
      { field: 'state', oneOf: states },
      ...(actionType === null ? [] : [{ field: 'actionType', equals: actionType }]),
    ];
    const { documents } = await this.#readStore.page(deliveriesView, {
      where,
      sort: [{ field: 'createdAt', descending: false }],
      limit: mostRecovered + 1,
      offset: 0,
      count: false,
    });
    const slots = createSemaphore(writersAtOnce);
    const positions = await Promise.all(
      documents.slice(0, mostRecovered).map(({ id }) => slots.run(() => this.#resend(id, context))),
    );
    const written = positions.filter((position) => position !== null);
    return {
      position: written.length === 0 ? null : Math.max(...written),
      resent: written.length,
      left: documents.length > mostRecovered,
    };
  }

  /** The position of what was written; null: it is on its way already. */
  async #resend(id: string, context: RequestContext): Promise<number | null> {
    const found = await loadDelivery(this.#eventStore, id);
    const state = found === null ? null : known(found.state);
    if (found === null || state === null || found.metadata.organizationId !== context.organizationId) {
      throw notFound('delivery');
    }
    const { request } = state;
    const now = this.#clock.now();
    const at = toTimestamp(now);
    const action = await this.#actionNow(request);
    const expiresAt = toTimestamp(now + action.expireAfterSeconds * 1_000);
    const { position } = await runCommand(this.#eventStore, deliveryDecider, {
      stream: deliveryStream(id),
      command: { type: 'resendDelivery', at, expiresAt, action },
      commandId: `${id}|resend|${this.#nameOf(found, context)}`,
      metadata: { ...context, causationId: null, at },
      from: 'all',
    });
    return position;
  }

  #nameOf({ revision }: LoadedDelivery, { requestId }: RequestContext): string {
    return `${revision}|${requestId}`;
  }

  /** A person who has it sent again after mending an address means the new one. */
  async #actionNow({ taskId, action, organizationId }: NotificationRequest): Promise<NotificationRequest['action']> {
    const task = await this.#readStore.get(tasksView, taskId);
    const now = task?.spec.actions.find(({ id }) => id === action.id);
    if (now?.contact !== undefined) return (await this.#ofContact(now, organizationId)) ?? action;
    return now === undefined || now.type !== action.type ? action : now;
  }

  async #ofContact(
    action: NotificationRequest['action'],
    organizationId: string,
  ): Promise<NotificationRequest['action'] | null> {
    const contact = await this.#readStore.get(contactsView, contactId(organizationId, action.contact ?? ''));
    return contact === null ? null : { ...action, type: contact.type, config: contact.config };
  }
}
