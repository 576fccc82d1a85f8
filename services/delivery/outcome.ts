/** What an attempt came to: many parts, one outcome and one record. */
import type { AttemptResult, RequestSummary, SettledPart } from '#contracts/delivery';
import type { PartVerdict } from './channels/channel.js';
import { keep } from './channels/summary.js';
import type { AttemptOutcome } from './domain/delivery.js';

export interface AttemptReport {
  readonly result: AttemptResult;
  readonly settled: readonly SettledPart[];
  readonly outcome: AttemptOutcome;
}

export interface Attempted {
  /** Of each part that was tried. */
  readonly verdicts: readonly PartVerdict[];
  /** Parts settled by earlier attempts. */
  readonly earlier: readonly SettledPart[];
  readonly parts: number;
  /** What a part is called: `recipient`, `request`. */
  readonly partName: string;
  /** Where each part goes, in case it is the one that is told of. */
  readonly summaryOf: (part: number | null) => RequestSummary;
  readonly durationMs: number;
  readonly redact: (text: string) => string;
}

/**
 * As long as one part may still arrive the delivery goes on. Once all are settled it is delivered if every one arrived;
 * if one was refused it has failed, which a person sees and can act on, although others have it: the record says how many.
 */
export function reportOf(attempted: Attempted): AttemptReport {
  const { verdicts, earlier, parts, partName, summaryOf, durationMs, redact } = attempted;
  const settled: SettledPart[] = [];
  for (const { part, verdict } of verdicts) {
    if (verdict.state === 'delivered') settled.push({ part, refused: null });
    if (verdict.state === 'refused') settled.push({ part, refused: verdict.reason });
  }
  const all = [...earlier, ...settled];
  const arrived = all.filter(({ refused }) => refused === null).length;
  const refusedEarlier = earlier.find(({ refused }) => refused !== null)?.refused ?? null;
  const open = verdicts.find(({ verdict }) => verdict.state === 'retry');
  const refused = verdicts.find(({ verdict }) => verdict.state === 'refused');
  const told = open ?? refused ?? verdicts[0];
  const verdict = told?.verdict;

  const count = parts > 1 ? ` (${arrived} of ${parts} ${partName}s have it)` : '';
  const response =
    verdict?.response == null ? null : { status: verdict.response.status, body: keep(redact(verdict.response.body)) };
  const error =
    verdict !== undefined && verdict.state !== 'delivered'
      ? { reason: verdict.reason, message: keep(redact(verdict.message)) + count }
      : refusedEarlier === null
        ? null
        : { reason: refusedEarlier, message: `An earlier try was refused for a ${partName}${count}.` };
  const { method, url } = summaryOf(parts > 1 && told !== undefined ? told.part : null);
  return {
    result: { durationMs, request: { method, url: redact(url) }, response, error },
    settled,
    outcome: outcomeOf(verdicts, error?.reason ?? null),
  };
}

function outcomeOf(verdicts: readonly PartVerdict[], reason: string | null): AttemptOutcome {
  let longestMs: number | null = null;
  let waits = false;
  for (const { verdict } of verdicts) {
    if (verdict.state !== 'retry') continue;
    waits = true;
    if (verdict.retryAfterMs !== null) longestMs = Math.max(longestMs ?? 0, verdict.retryAfterMs);
  }
  if (waits) return { kind: 'retry', reason: reason ?? 'failed', retryAfterMs: longestMs };
  return reason === null ? { kind: 'delivered' } : { kind: 'refused', reason };
}
