/** Keys that secrets are sealed with: one per owner, in a stream of its own. */
import { z } from 'zod';
import { defineEvent, type EventOf } from './event.js';

/** `wrapped`: the owner's key under the instance's own. */
export const vaultKeyMade = defineEvent('vault.key_made', { version: 1, schema: z.object({ wrapped: z.string() }) });
/** It is gone for good: what was sealed with it stays sealed. The event before it was erased. */
export const vaultKeyDropped = defineEvent('vault.key_dropped', { version: 1, schema: z.object({}) });
export type VaultEvent = EventOf<typeof vaultKeyMade> | EventOf<typeof vaultKeyDropped>;
