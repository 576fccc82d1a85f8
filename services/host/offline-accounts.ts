/** What the command line does with accounts by itself, with the stores alone. */
import { pepperOf } from '#contracts/api-key';
import { systemClock } from '#runtime/clock';
import type { Config } from '#runtime/config';
import { createIds } from '#runtime/ids';
import { createKeyCopies } from '../accounts/key-copies.js';
import type { KeyPorts } from '../accounts/ports.js';
import type { Ports } from './composition.js';

export function offlineKeyPorts(
  { keysShowOnce: keepsNone }: Config,
  { eventStore, sharedState, vault, keyRing }: Pick<Ports, 'eventStore' | 'sharedState' | 'vault' | 'keyRing'>,
): KeyPorts {
  const clock = systemClock;
  const keyCopies = createKeyCopies(sharedState, vault, clock, { keepsNone });
  return { eventStore, clock, ids: createIds(), pepper: pepperOf(keyRing.first), keyCopies };
}
