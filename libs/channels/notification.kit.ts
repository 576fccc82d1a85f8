/** For specs: a notification whose every text is fixed, so that what a channel makes of it is too. */
import { derivedId } from '#runtime/ids';
import type { Notification } from './channel.js';

export const kitTimeMs = Date.parse('2026-01-02T03:04:05.678Z');

export interface KitNotification {
  readonly name?: string;
  readonly organizationId?: string;
  readonly taskId?: string;
  readonly kind?: Notification['kind'];
  readonly episode?: string;
  readonly actionId?: string;
  readonly createdMs?: number;
  readonly context?: Partial<Notification['context']>;
}

export function aNotification({
  name = 'one',
  kind = 'triggered',
  createdMs = kitTimeMs,
  context,
  episode = 'condition:1',
  actionId = derivedId('act', kitTimeMs, 'action'),
  organizationId = derivedId('org', kitTimeMs, 'organization'),
  taskId = derivedId('ntf', kitTimeMs, 'task'),
}: KitNotification = {}) {
  const executionId = derivedId('exe', kitTimeMs, 'run');
  return {
    deliveryId: derivedId('dlv', kitTimeMs, name),
    organizationId,
    taskId,
    executionId,
    kind,
    action: { id: actionId },
    episode,
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
      ...context,
    },
    createdAt: new Date(createdMs).toISOString(),
  } satisfies Notification;
}

/** A digest that says it of each message that it gathered: of one episode that is over, and of one that is not. */
export function aDigest(options: Omit<KitNotification, 'kind'> = {}): Notification {
  const { episode: _episode, ...digest } = aNotification({ ...options, kind: 'digest' });
  const item = (kind: Notification['kind'], episode: string) => {
    const { executionId, context, createdAt } = digest;
    return { kind, episode, executionId, context, createdAt };
  };
  const items = [item('triggered', 'condition:1'), item('recovered', 'condition:1'), item('error', 'health:1')];
  return { ...digest, episode: 'condition:1', items };
}
