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
] as const;

export type IntegrityEvent = EventOf<(typeof integrityEvents)[number]>;
