/** HTTP for deliveries. */
import { Controller, Inject } from '@nestjs/common';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { findDelivery, findTask } from './find-owned.js';
import { without } from './json-casts.js';
import * as routes from './executions.routes.js';
import { listOfViews } from './paging.js';

export function toDeliveryAnswer(delivery: DeliveryDocument): object {
  return without(delivery, 'organizationId', 'dueAt', 'thread');
}

function filtersOf({ state, actionType, from, to }: routes.DeliveryFilters): FieldFilter[] {
  const where: FieldFilter[] = [];
  if (state !== undefined) where.push({ field: 'state', equals: state });
  if (actionType !== undefined) where.push({ field: 'actionType', equals: actionType });
  if (from !== undefined) where.push({ field: 'createdAt', from });
  if (to !== undefined) where.push({ field: 'createdAt', to });
  return where;
}

@Controller()
export class DeliveriesController {
  constructor(@Inject(READ_STORE) private readonly readStore: ReadStore) {}

  @Handles(routes.listTaskDeliveries)
  async listOfTask(@Call() { ids, query, context }: RouteCall<typeof routes.listTaskDeliveries>): Promise<Answer> {
    const { id } = await findTask(this.readStore, context.organizationId, ids.id);
    return this.list([{ field: 'notificationId', equals: id }], query);
  }

  @Handles(routes.listDeliveries)
  async listAll(@Call() { query, context }: RouteCall<typeof routes.listDeliveries>): Promise<Answer> {
    return this.list([{ field: 'organizationId', equals: context.organizationId }], query);
  }

  @Handles(routes.getDelivery)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getDelivery>): Promise<Answer> {
    return data(toDeliveryAnswer(await findDelivery(this.readStore, context.organizationId, ids.id)));
  }

  private list(owner: readonly FieldFilter[], query: routes.DeliveryFilters): Promise<Answer> {
    const where = [...owner, ...filtersOf(query)];
    return listOfViews(this.readStore, [deliveriesView], 'createdAt', where, query, toDeliveryAnswer);
  }
}
