/** HTTP requests of one message: sent one after the other through the outbound door, each answer judged by its channel. */
import {
  goneReason,
  type HttpBatch,
  type HttpChannel,
  type HttpOutgoing,
  type NothingToSend,
  type PartVerdict,
  type Receipt,
  type Verdict,
} from '#channels/channel';
import { encodeBody } from '#channels/binary-body';
import { httpSummary } from '#channels/summary';
import type { RequestSummary, SettledPart } from '#contracts/delivery';
import type { Outbound, OutboundRequest } from '#outbound/outbound';
import type { Clock } from '#runtime/clock';
import { isOpen, type Transmission } from './transmission.js';

export interface HttpSending {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly clock: Clock;
  /** An earlier try may have arrived. */
  readonly isRepeat: boolean;
  /** Builds the message again, with what its parts were given so far. */
  readonly rebuild: (receipts: readonly (Receipt | null)[]) => Promise<HttpBatch | NothingToSend>;
}

const readBytes = 65_536;
/** How often a message may go on with what it was given, where its channel does not say so. */
const usualRounds = 4;

/** What the parts that have arrived were given, each at its place. */
export function receiptsOf(settled: readonly SettledPart[]): readonly (Receipt | null)[] {
  const receipts: (Receipt | null)[] = [];
  for (const { part, receipt } of settled) receipts[part] = receipt ?? null;
  return Array.from(receipts, (receipt) => receipt ?? null);
}

function contentOf({ headers, body, binary }: HttpOutgoing): Pick<OutboundRequest, 'headers' | 'body'> {
  if (binary === undefined) return body === null ? { headers } : { headers, body };
  const { bytes, contentType } = encodeBody(binary);
  return { headers: contentType === null ? headers : { ...headers, 'content-type': contentType }, body: bytes };
}

function longestMs({ timeoutMs, fallback, unless }: HttpOutgoing): number {
  return timeoutMs + (fallback?.timeoutMs ?? 0) + (unless?.timeoutMs ?? 0);
}

function settledBy({ part, verdict }: PartVerdict): SettledPart[] {
  if (verdict.state === 'retry') return [];
  if (verdict.state === 'refused') return [{ part, refused: verdict.reason }];
  return [{ part, refused: null, ...(verdict.receipt === undefined ? {} : { receipt: verdict.receipt }) }];
}

export function httpTransmission(channel: HttpChannel, sending: HttpSending, built: HttpBatch): Transmission {
  const { classify } = channel;
  const { outbound, clock, isRepeat } = sending;
  let batch = built;
  const [first] = built.requests;
  if (first === undefined) throw new Error('a channel built no request');
  const summaryOf = (part: number | null): RequestSummary => {
    const { method, url } = batch.requests[part ?? 0] ?? first;
    return httpSummary(method, url);
  };

  const exchange = async (request: HttpOutgoing, signal: AbortSignal): Promise<Verdict> => {
    const { method, url, timeoutMs, step } = request;
    const answer = await outbound.request({
      method,
      url,
      ...contentOf(request),
      timeoutMs,
      maxBodyBytes: readBytes,
      onBodyLimit: 'cut',
      maxRedirects: 0,
      signal,
    });
    return classify(answer, clock.now(), step);
  };

  const sendPart = async (request: HttpOutgoing, signal: AbortSignal): Promise<Verdict> => {
    const { unless, fallback } = request;
    if (isRepeat && unless !== undefined) {
      const found = await exchange(unless, signal);
      if (found.state === 'retry' || (found.state === 'delivered' && found.receipt !== undefined)) return found;
    }
    const verdict = await exchange(request, signal);
    // A picture that nobody took: the message goes on, and says nothing of it.
    if (request.optional === true && verdict.state !== 'delivered') {
      return { state: 'delivered', response: verdict.response, unreachable: false };
    }
    const isContent = verdict.state === 'refused' && verdict.reason !== goneReason;
    return isContent && fallback !== undefined ? exchange(fallback, signal) : verdict;
  };

  const sendAll = async (settled: SettledPart[], signal: AbortSignal): Promise<PartVerdict[]> => {
    const verdicts: PartVerdict[] = [];
    for (const [part, request] of batch.requests.entries()) {
      if (!isOpen(part, settled)) continue;
      const tried = { part, verdict: await sendPart(request, signal) };
      verdicts.push(tried);
      settled.push(...settledBy(tried));
      if (batch.inOrder === true && tried.verdict.state !== 'delivered') break;
    }
    return verdicts;
  };

  const mostRounds = built.rounds ?? usualRounds;
  const sum = built.requests.reduce((ms, request) => ms + longestMs(request), 0);
  return {
    receiver: new URL(first.url).origin,
    summary: summaryOf(null),
    timeoutMs: built.more === true ? sum * mostRounds : sum,
    parts: () => batch.requests.length,
    partName: 'request',
    summaryOf,
    async transmit(earlier, signal) {
      const settled = [...earlier];
      const verdicts: PartVerdict[] = [];
      for (let round = 1; ; round += 1) {
        verdicts.push(...(await sendAll(settled, signal)));
        const hasArrived = settled.length === batch.requests.length && settled.every(({ refused }) => refused === null);
        if (batch.more !== true || !hasArrived || round === mostRounds) return verdicts;
        const next = await sending.rebuild(receiptsOf(settled));
        if (next.kind === 'none') {
          const part = batch.requests.length;
          return [...verdicts, { part, verdict: { ...next.verdict, response: null, unreachable: false } }];
        }
        batch = next;
      }
    },
  };
}
