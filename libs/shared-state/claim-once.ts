/** What may be had once, by whichever process asks first: a code that was used, a message that was taken. */
import { randomBytes } from 'node:crypto';
import type { Expiring, SharedState, StateCollection } from './shared-state.js';

export interface Claim extends Expiring {
  readonly write: string;
}

/** Whether nobody had it before. Forgotten after `expiresAtMs`, when it must be of no use any more. */
export async function claimOnce(
  sharedState: SharedState,
  collection: StateCollection<Claim>,
  key: string,
  expiresAtMs: number,
): Promise<boolean> {
  const write = randomBytes(9).toString('base64url');
  // Of two writes at one version the first stays.
  await sharedState.save(collection, [{ key, version: 1, value: { id: key, write, expiresAtMs } }]);
  return (await sharedState.load(collection, [key])).get(key)?.value?.write === write;
}
