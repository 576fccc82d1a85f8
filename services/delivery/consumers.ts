/** Consumes requests for a notification, this service's own events that say that a receiver is gone, and what followed from them. */
import {
  attemptEnded,
  deliveryStream,
  notificationRequest,
  type DeliveryEvent,
  type NotificationRequest,
} from '#contracts/delivery';
import { requests } from '#contracts/catalogue';
import type { TaskCommand } from '#contracts/task-command';
import type { Bus, BusMessage } from '#bus/bus';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import type { MessageConsumer } from '#eventing/service';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { PublicAddress } from '#runtime/config';
import { AppError } from '#runtime/errors';
import { goneReason } from '#channels/channel';
import type { LoadedDelivery } from './delivery-stream.js';
import { disabledNotices, type NoticeOptions } from './disabled-notice.js';
import { deliveryDecider } from './domain/delivery.js';

const handlerTimeoutMs = 30_000;
const concurrency = 64;

export interface ConsumerOptions extends Pick<NoticeOptions, 'readStore' | 'vault' | 'hasMailServer' | 'logger'> {
  readonly bus: Bus;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly address: PublicAddress;
  /** Called for each that is new, with its first events; true once it has stored them. */
  readonly beginAtOnce: (fresh: LoadedDelivery) => Promise<boolean>;
  /** Called for each delivery that was begun now. */
  readonly begin: (delivery: LoadedDelivery, dueMs: number) => void;
  /** Called for each that was begun before. */
  readonly offer: (deliveryId: string, dueMs: number) => void;
}

export type AcceptOptions = Pick<
  ConsumerOptions,
  'eventStore' | 'clock' | 'address' | 'beginAtOnce' | 'begin' | 'offer'
>;

/** Makes the stream of a delivery. The same request again, however often, finds it there. */
export async function acceptRequest(options: AcceptOptions, message: BusMessage): Promise<void> {
  await beginDelivery(options, notificationRequest.parse(message.data), message);
}

async function beginDelivery(
  { eventStore, clock, address, beginAtOnce, begin, offer }: AcceptOptions,
  request: NotificationRequest,
  message: BusMessage,
): Promise<void> {
  const { deliveryId } = request;
  const linkBase = await address.baseUrl();
  const now = clock.now();
  const metadata = {
    organizationId: request.organizationId,
    actor: 'system:delivery',
    requestId: message.metadata.requestId,
    causationId: message.id,
    at: toTimestamp(now),
  };
  const { initial, decide, evolve } = deliveryDecider;
  const events = decide({ type: 'requestDelivery', request, linkBase }, initial);
  const state = events.reduce(evolve, initial);
  const unstored = encodeEvents(events, { commandId: `${deliveryId}|request`, metadata });
  const known = { id: deliveryId, state, metadata };
  if (await beginAtOnce({ ...known, revision: -1, unstored })) return;
  const appended = await eventStore.append(deliveryStream(deliveryId), unstored, 'none');
  if (!appended.ok) return offer(deliveryId, now);
  // A store answers a repeat as it did the first time: a worker sends only once it has appended behind it.
  begin({ ...known, revision: appended.revision }, now);
}

const howItEnded = attemptEnded.schema.pick({ next: true });

/** An answer 410 disables the action. The task may be gone or changed by now: then there is nothing to disable. */
export async function disableGone(
  { bus, eventStore }: Pick<ConsumerOptions, 'bus' | 'eventStore'>,
  message: BusMessage,
): Promise<void> {
  const { next } = howItEnded.parse(message.data);
  if (next.state !== 'failed' || next.reason !== goneReason) return;
  for await (const recorded of eventStore.read(deliveryStream(message.key))) {
    const event = decodeEvent<DeliveryEvent>(recorded);
    if (event.type !== 'delivery.requested') return;
    const { taskId, action, organizationId, deliveryId } = event.data.request;
    const { requestId, at } = message.metadata;
    const disabling = { taskId, actionId: action.id, reason: goneReason, deliveryId, at };
    const command: TaskCommand = { type: 'disableAction', ...disabling };
    try {
      await bus.request(requests.taskChange, command, { organizationId, actor: 'system:delivery', requestId });
    } catch (error) {
      // A part that cannot be reached is tried again; a task that does not take it never will.
      if (!(error instanceof AppError) || error.code === 'SERVER_ERROR') throw error;
    }
    return;
  }
}

/** What this service consumes. */
export function deliveryConsumers(options: ConsumerOptions): readonly MessageConsumer[] {
  const common = { group: 'delivery', concurrency, handlerTimeoutMs };
  return [
    {
      ...common,
      topic: 'run',
      types: ['notification.requested'],
      handle: (message) => acceptRequest(options, message),
    },
    {
      ...common,
      topic: 'delivery',
      types: ['attempt.ended'],
      handle: (message) => disableGone(options, message),
    },
    {
      ...common,
      topic: 'task',
      types: ['task.action_disabled'],
      async handle(message) {
        for (const notice of await disabledNotices(options, message)) await beginDelivery(options, notice, message);
      },
    },
  ];
}
