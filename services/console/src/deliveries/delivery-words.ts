import type { Delivery } from '../api/types.js';

export const states = [
  'pending',
  'sending',
  'delivered',
  'retrying',
  'failed',
  'expired',
  'suppressed',
  'unknown',
] as const satisfies readonly Delivery['state'][];

/** How a delivery ended that may be sent again, by the operation that sends many. */
export const recoverable = ['failed', 'expired', 'unknown', 'suppressed'] as const;

export const kindOf = ({ type }: Pick<Delivery, 'type'>): string => type.replace('notification.', '');

/** Nothing is under way: it can be sent again. */
export const hasEnded = ({ state }: Pick<Delivery, 'state'>): boolean =>
  state !== 'pending' && state !== 'sending' && state !== 'retrying';
