/** What a message and the one that ends it have in common at the receiver. */
import { createHash } from 'node:crypto';
import type { Notification } from './channel.js';

/** One of an action's episodes; a message that stands for itself, such as a test, has one of its own. Below 128 characters. */
export function episodeKey({ taskId, action, kind, episode, deliveryId }: Notification): string {
  return `meerkat/${taskId}/${action.id}/${kind === 'test' || episode === undefined ? deliveryId : episode}`;
}

/** The same as a word of letters and digits, where a receiver takes no other. */
export function episodeWord(request: Notification): string {
  return `meerkat-${createHash('sha256').update(episodeKey(request)).digest('hex').slice(0, 24)}`;
}

/** An UUID that is the same on every try of a message. */
export function deliveryUuid({ deliveryId }: Pick<Notification, 'deliveryId'>): string {
  const hex = createHash('sha256').update(deliveryId).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16).padStart(2, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
