/** From the verdicts of the parts to the one result of an attempt. */
import type { PartVerdict } from '#channels/channel';
import type { RequestSummary, SettledPart } from '#contracts/delivery';
import type { AttemptResult, AttemptResultKind } from './domain/delivery.js';
import { keep } from './redact.js';

export interface SendOutcome {
  /** Of each part that was tried. */
  readonly verdicts: readonly PartVerdict[];
  /** Parts settled by earlier attempts. */
  readonly earlier: readonly SettledPart[];
  readonly parts: number;
  /** What a part is called: `recipient`, `request`. */
  readonly partName: string;
  /** Where each part goes, in case it is the one that the record shows. */
  readonly summaryOf: (part: number | null) => RequestSummary;
  readonly durationMs: number;
  readonly redact: (text: string) => string;
}

/**
 * As long as one part may still arrive the delivery goes on. Once all are settled it is delivered if every one arrived;
 * if one was refused it has failed, which a person sees and can act on, although others have it: the record says how many.
 */
export function attemptResultOf(tried: SendOutcome): AttemptResult {
  const { verdicts, earlier, parts, partName, summaryOf, durationMs, redact } = tried;
  const settled: SettledPart[] = [];
  for (const { part, verdict } of verdicts) {
    if (verdict.state === 'delivered') {
      settled.push({ part, refused: null, ...(verdict.receipt === undefined ? {} : { receipt: verdict.receipt }) });
    }
    if (verdict.state === 'refused') settled.push({ part, refused: verdict.reason });
  }
  const all = [...earlier, ...settled];
  const arrived = all.filter(({ refused }) => refused === null).length;
  const refusedEarlier = earlier.find(({ refused }) => refused !== null)?.refused ?? null;
  const open = verdicts.find(({ verdict }) => verdict.state === 'retry');
  const refused = verdicts.find(({ verdict }) => verdict.state === 'refused');
  const shown = open ?? refused ?? verdicts[0];
  const verdict = shown?.verdict;

  const count = parts > 1 ? ` (${arrived} of ${parts} ${partName}s have it)` : '';
  const response =
    verdict?.response == null ? null : { status: verdict.response.status, body: keep(redact(verdict.response.body)) };
  const error =
    verdict !== undefined && verdict.state !== 'delivered'
      ? { reason: verdict.reason, message: keep(redact(verdict.message)) + count }
      : refusedEarlier === null
        ? null
        : { reason: refusedEarlier, message: `An earlier try was refused for a ${partName}${count}.` };
  const { method, url } = summaryOf(parts > 1 && shown !== undefined ? shown.part : null);
  const record = { durationMs, request: { method, url: redact(url) }, response, error };
  return { record, settled, ...kindOf(verdicts, error?.reason ?? null) };
}

function kindOf(verdicts: readonly PartVerdict[], reason: string | null): AttemptResultKind {
  const retries = verdicts.flatMap(({ verdict }) => (verdict.state === 'retry' ? [verdict.retryAfterMs] : []));
  if (retries.length > 0) {
    const asked = retries.filter((retryAfterMs) => retryAfterMs !== null);
    return { kind: 'retry', reason: reason ?? 'failed', retryAfterMs: asked.length === 0 ? null : Math.max(...asked) };
  }
  return reason === null ? { kind: 'delivered' } : { kind: 'refused', reason };
}
