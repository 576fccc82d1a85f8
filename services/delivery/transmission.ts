/** How one message is sent, whatever carries it: ready to go, with what the record shows of it. */
import type { NothingToSend, PartVerdict } from '#channels/channel';
import type { RequestSummary, SettledPart } from '#contracts/delivery';

export interface Transmission {
  /** Origin or server: what fairness and breakers go by. null: nothing will be sent. */
  readonly receiver: string | null;
  readonly summary: RequestSummary;
  /** How long sending may take; by it an attempt is judged lost. */
  readonly timeoutMs: number;
  readonly parts: () => number;
  /** What a part is called: `recipient`, `request`. */
  readonly partName: string;
  /** Where a part goes. */
  readonly summaryOf: (part: number | null) => RequestSummary;
  /** Sends the parts that are not settled yet. */
  readonly transmit: (settled: readonly SettledPart[], signal: AbortSignal) => Promise<readonly PartVerdict[]>;
}

/** Nothing is sent, but the attempt is still a fact with a beginning and an end. */
const nothingSentTimeoutMs = 5_000;

export function isOpen(part: number, settled: readonly SettledPart[]): boolean {
  return !settled.some((one) => one.part === part);
}

export function nothingSent({ request, verdict }: NothingToSend): Transmission {
  return {
    receiver: null,
    summary: request,
    timeoutMs: nothingSentTimeoutMs,
    parts: () => 1,
    partName: 'request',
    summaryOf: () => request,
    transmit: async () => [{ part: 0, verdict: { ...verdict, response: null, unreachable: false } }],
  };
}
