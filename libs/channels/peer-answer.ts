/** What it means where something that speaks no HTTP did not answer. */
import type { Verdict } from './channel.js';
import type { PeerAnswer } from './peer.js';

/** The address will not get better by waiting, or is one that this instance never connects to. */
const finalReasons: ReadonlySet<string> = new Set(['address_denied', 'invalid_url', 'too_large']);
/** Of our own doing: it says nothing of the other side. */
const ownReasons: ReadonlySet<string> = new Set(['aborted', ...finalReasons]);

export function unanswered({ reason, message }: Extract<PeerAnswer, { ok: false }>): Verdict {
  const common = { reason, message, response: null } as const;
  return finalReasons.has(reason)
    ? { state: 'refused', ...common, unreachable: false }
    : { state: 'retry', ...common, retryAfterMs: null, unreachable: !ownReasons.has(reason) };
}
