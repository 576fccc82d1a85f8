/** What is on record about the MACs of events: where they begin, and which faults an operator has accepted. */
import { z } from 'zod';
import { defineEvent, type EventOf } from './event.js';

export const integrityStream = 'integrity-events';

const knownFault = z.object({
  what: z.string(),
  stream: z.string(),
  revision: z.int(),
  type: z.string(),
  digest: z.string(),
});

export const integrityEvents = [
  /** Every event behind this one has a MAC. `keyId` tells which key, without telling it. */
  defineEvent('integrity.begun', { version: 1, schema: z.object({ keyId: z.string() }) }),
  /** What was purged: as a fault each, by its place and a digest of what stands there since. */
  defineEvent('integrity.erased', { version: 1, schema: z.object({ faults: z.array(knownFault) }) }),
  /** Faults that are known: each by its place and a digest of what stands there, so that a later change is a new fault. */
  defineEvent('integrity.accepted', {
    version: 1,
    schema: z.object({ faults: z.array(knownFault) }),
  }),
  /**
   * From this event on what is written is signed with another SECRET_KEY. `previous`: the one before it, sealed with the new one, by
   * which what was signed and sealed until then stays readable; older ones are found from there.
   */
  defineEvent('integrity.rotated', { version: 1, schema: z.object({ keyId: z.string(), previous: z.string() }) }),
  /** Nothing is sealed with a key before this one any more. */
  defineEvent('integrity.resealed', { version: 1, schema: z.object({ keyId: z.string() }) }),
] as const;

export type IntegrityEvent = EventOf<(typeof integrityEvents)[number]>;
