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
  const waits = waitOf(verdicts);
  const response =
    verdict?.response == null ? null : { status: verdict.response.status, body: keep(redact(verdict.response.body)) };
  const error =
    verdict !== undefined && verdict.state !== 'delivered'
      ? { reason: verdict.reason, message: keep(redact(verdict.message)) + count + saidWait(waits) }
      : refusedEarlier === null
        ? null
        : { reason: refusedEarlier, message: `An earlier try was refused for a ${partName}${count}.` };
  const { method, url } = summaryOf(parts > 1 && shown !== undefined ? shown.part : null);
  const record = { durationMs, request: { method, url: redact(url) }, response, error };
  return { record, settled, ...kindOf(verdicts, waits, error?.reason ?? null) };
}

/** The longest that one of the parts has to wait, by the receiver's word or the vendor's rule; null: none says so. */
function waitOf(verdicts: readonly PartVerdict[]): number | null {
  const asked = verdicts.flatMap(({ verdict }) => (verdict.state === 'retry' ? [verdict.retryAfterMs ?? 0] : []));
  const longest = Math.max(0, ...asked);
  return longest === 0 ? null : longest;
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Why the next try is later than the schedule of retries has it, or why there is none before the message expires. */
function saidWait(waitMs: number | null): string {
  if (waitMs === null) return '';
  const seconds = Math.ceil(waitMs / 1_000);
  // In the largest unit that says it exactly.
  const [unit, length] = units.find(([, each]) => seconds % each === 0) ?? ['s', 1];
  return ` This message is not tried again for ${seconds / length} ${unit}.`;
}

function kindOf(verdicts: readonly PartVerdict[], waitMs: number | null, reason: string | null): AttemptResultKind {
  if (verdicts.some(({ verdict }) => verdict.state === 'retry')) {
    return { kind: 'retry', reason: reason ?? 'failed', retryAfterMs: waitMs };
  }
  return reason === null ? { kind: 'delivered' } : { kind: 'refused', reason };
}
