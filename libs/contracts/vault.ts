/** Keys that secrets are sealed with: one per owner, in a stream of its own. */
import { z } from 'zod';
import { defineEvent, type EventOf } from './event.js';

/** `wrapped`: the owner's key under the instance's own. */
export const vaultKeyMade = defineEvent('vault.key_made', { version: 1, schema: z.object({ wrapped: z.string() }) });
export type VaultEvent = EventOf<typeof vaultKeyMade>;
