/** HTTP for deliveries. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import {
  deliveriesChanged,
  deliveriesView,
  deliveryState,
  type DeliveriesChanged,
  type DeliveryChange,
  type DeliveryDocument,
} from '#contracts/delivery';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse } from '#http/validation';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { toTimestamp } from '#runtime/clock';
import { findDelivery, findTask } from './find-owned.js';
import { Activities } from './activities.js';
import { toJsonObject, without } from './json-casts.js';
import * as routes from './deliveries.routes.js';
import { alongIndex, listOfViews, withinBounds } from './paging.js';

export function toDeliveryAnswer(delivery: DeliveryDocument): object {
  return without(delivery, 'organizationId', 'dueAt', 'thread');
}

/** In the order of the index of all deliveries. */
const steps = [
  { field: 'state', values: deliveryState.options },
  { field: 'actionType', values: [] },
];

/** As times are stored: compared as texts. */
const stored = (time: string): string => toTimestamp(Date.parse(time));

function filtersOf({ state, actionType, ...bounds }: routes.DeliveryFilters): FieldFilter[] {
  const where: FieldFilter[] = [];
  if (state !== undefined) where.push({ field: 'state', equals: state });
  if (actionType !== undefined) where.push({ field: 'actionType', equals: actionType });
  return [...where, ...withinBounds('createdAt', bounds)];
}

/** One of a thousand deliveries is an append each. */
const changeDeadlineMs = 45_000;
/** What was written stands, whether or not the view shows it by then. */
const viewWaitMs = 5_000;

@Controller()
export class DeliveriesController {
  readonly #waiter: PositionWaiter;

  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(Activities) private readonly activities: Activities,
  ) {
    this.#waiter = createPositionWaiter(readStore, deliveriesView);
  }

  @Handles(routes.listTaskDeliveries)
  async listOfTask(@Call() { ids, query, context }: RouteCall<typeof routes.listTaskDeliveries>): Promise<Answer> {
    const { id } = await findTask(this.readStore, context.organizationId, ids.id);
    return this.#list([{ field: 'notificationId', equals: id }, ...filtersOf(query)], query);
  }

  @Handles(routes.listDeliveries)
  async listAll(@Call() { query, context }: RouteCall<typeof routes.listDeliveries>): Promise<Answer> {
    const owner = { field: 'organizationId', equals: context.organizationId };
    return this.#list([owner, ...alongIndex(steps, filtersOf(query))], query);
  }

  @Handles(routes.getDelivery)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getDelivery>): Promise<Answer> {
    return data(toDeliveryAnswer(await findDelivery(this.readStore, context.organizationId, ids.id)));
  }

  @Handles(routes.resendDelivery)
  async resend(@Call() { ids, context }: RouteCall<typeof routes.resendDelivery>): Promise<Answer> {
    const { id } = await findDelivery(this.readStore, context.organizationId, ids.id);
    await this.#change({ type: 'resend', deliveryId: id }, context);
    await this.activities.record({ type: 'activity.delivery_resent', data: { resource: id } }, context);
    return data(toDeliveryAnswer(await findDelivery(this.readStore, context.organizationId, id)));
  }

  @Handles(routes.recoverDeliveries)
  async recover(@Call() { body, context }: RouteCall<typeof routes.recoverDeliveries>): Promise<Answer> {
    const [from, to] = [stored(body.from), body.to === undefined ? null : stored(body.to)];
    if (to !== null && to < from) throw refuse(['to'], 'too_early', 'must not be before from');
    const states: Extract<DeliveryChange, { type: 'recover' }>['states'] =
      body.status === undefined ? ['failed', 'expired'] : [body.status];
    const change = { type: 'recover', from, to, states, actionType: body.actionType ?? null } as const;
    const { resent, left } = await this.#change(change, context);
    const recovered = { resource: context.organizationId, from, to, resent };
    await this.activities.record({ type: 'activity.deliveries_recovered', data: recovered }, context);
    return data({ resent, left });
  }

  async #change(change: DeliveryChange, context: RequestContext): Promise<DeliveriesChanged> {
    const answer = await this.bus.request(requests.deliveryChange, toJsonObject(change), context, changeDeadlineMs);
    const changed = deliveriesChanged.parse(answer);
    if (changed.position !== null) await this.#waiter.reached(changed.position, viewWaitMs);
    return changed;
  }

  #list(where: readonly FieldFilter[], query: routes.DeliveryFilters): Promise<Answer> {
    return listOfViews(this.readStore, [deliveriesView], 'createdAt', where, query, toDeliveryAnswer);
  }
}
