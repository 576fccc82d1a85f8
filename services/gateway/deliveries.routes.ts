/** The operations on deliveries, as the contract has them. */
import { z } from 'zod';
import { actionType } from '#contracts/action';
import { timestamp } from '#contracts/common';
import { deliveryDocument, deliveryState } from '#contracts/delivery';
import { afterParameter, pageParameters, timeParameter } from '#http/parameters';
import { route } from '#http/route';

const task = { id: { prefix: 'ntf', of: 'notification' } } as const;
const delivery = { id: { prefix: 'dlv', of: 'delivery' } } as const;

export const deliveryAnswer = deliveryDocument
  .omit({ organizationId: true, dueAt: true, thread: true })
  .meta({ id: 'Delivery' });

const deliveryFilters = z.strictObject({
  ...pageParameters,
  after: afterParameter,
  state: deliveryState.optional(),
  actionType: actionType.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
});
export type DeliveryFilters = z.output<typeof deliveryFilters>;

const deliveries = [
  { status: 200, description: 'Deliveries, newest first.', envelope: 'list', schema: deliveryAnswer, cursor: true },
] as const;

export const listTaskDeliveries = route({
  method: 'GET',
  path: '/api/notifications/{id}/deliveries',
  operationId: 'listNotificationDeliveries',
  summary: 'List deliveries of a notification task',
  tag: 'Deliveries',
  access: 'read',
  ids: task,
  query: deliveryFilters,
  answers: deliveries,
});

export const listDeliveries = route({
  method: 'GET',
  path: '/api/deliveries',
  operationId: 'listDeliveries',
  summary: 'List deliveries of all notification tasks',
  tag: 'Deliveries',
  access: 'read',
  query: deliveryFilters,
  answers: deliveries,
});

export const getDelivery = route({
  method: 'GET',
  path: '/api/deliveries/{id}',
  operationId: 'getDelivery',
  summary: 'Get a delivery with every attempt',
  tag: 'Deliveries',
  access: 'read',
  ids: delivery,
  answers: [{ status: 200, description: 'The delivery.', envelope: 'data', schema: deliveryAnswer }],
});

export const resendDelivery = route({
  method: 'POST',
  path: '/api/deliveries/{id}/resend',
  operationId: 'resendDelivery',
  summary: 'Send a delivery again, under its id',
  description:
    'What it tells stays as it was decided; where it goes, and its templates, are those of the action as it is now, so that a mended address counts. It has the time of a new one until it expires. Of one that some had received already, the others get it; one that had arrived is sent whole again. While a try is under way, nothing happens.',
  tag: 'Deliveries',
  access: 'write',
  ids: delivery,
  answers: [{ status: 200, description: 'The delivery as it is now.', envelope: 'data', schema: deliveryAnswer }],
});

export const recoverDeliveries = route({
  method: 'POST',
  path: '/api/deliveries/recover',
  operationId: 'recoverDeliveries',
  summary: 'Send all deliveries of a time again that did not arrive',
  description:
    'Each as `resend` does, under its id. Without a status those that failed or expired. At most 1,000 at once, the oldest first: while `left` is true, ask again.',
  tag: 'Deliveries',
  access: 'write',
  body: z.strictObject({
    from: timestamp.describe('Of deliveries that were decided from then on.'),
    to: timestamp.optional().describe('Up to then; now where it is left out.'),
    status: z
      .enum(['failed', 'expired', 'unknown', 'suppressed'])
      .optional()
      .describe('How they ended; failed and expired where it is left out.'),
    actionType: actionType.optional().describe('Of this channel alone.'),
  }),
  bodyExample: { from: '2026-11-24T00:00:00Z', status: 'failed' },
  answers: [
    {
      status: 200,
      description: 'They are on their way.',
      envelope: 'data',
      schema: z.object({
        resent: z.int().describe('So many are sent again.'),
        left: z.boolean().describe('Whether there are more.'),
      }),
    },
  ],
});
