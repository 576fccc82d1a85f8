/** For specs: notifications as the execution service asks for them. */
import type { NotificationRequest } from '#contracts/delivery';
import { derivedId } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';

export const kitTimeMs = Date.parse('2026-01-02T03:04:05.678Z');

export interface KitRequest {
  readonly name?: string;
  readonly type?: NotificationRequest['action']['type'];
  readonly config?: JsonObject;
  readonly kind?: NotificationRequest['kind'];
  readonly createdMs?: number;
  readonly expireAfterSeconds?: number;
  readonly context?: Partial<NotificationRequest['context']>;
}

export function notificationOf(options: KitRequest = {}): NotificationRequest {
  const { name = 'one', type = 'webhook', config = {}, kind = 'triggered', createdMs = kitTimeMs } = options;
  const { expireAfterSeconds = 86_400 } = options;
  const taskId = derivedId('ntf', kitTimeMs, 'task');
  const executionId = derivedId('exe', kitTimeMs, 'run');
  return {
    deliveryId: derivedId('dlv', kitTimeMs, name),
    organizationId: derivedId('org', kitTimeMs, 'organization'),
    taskId,
    executionId,
    action: {
      id: derivedId('act', kitTimeMs, 'action'),
      type,
      config,
      enabled: true,
      expireAfterSeconds,
      on: ['triggered'],
    },
    kind,
    context: {
      task: { id: taskId, name: 'Price watch', url: 'https://shop.example/item', tags: ['shop'] },
      execution: {
        id: executionId,
        outcome: true,
        values: { value: 12.5, note: 'only "two" left' },
        finishedAt: new Date(kitTimeMs).toISOString(),
        finalUrl: 'https://shop.example/item?x=1',
      },
      transition: { kind: 'condition', from: 'false', to: 'true' },
      message: 'The condition of “Price watch” became true.',
      ...options.context,
    },
    createdAt: new Date(createdMs).toISOString(),
    expiresAt: new Date(createdMs + expireAfterSeconds * 1_000).toISOString(),
  };
}
