/** Custom: each request is judged by itself. A receiver that is gone refuses its request; the action stays, it may have others. */
import type { OutboundAnswer, OutboundFailure } from '#outbound/outbound';
import type { Verdict } from '../channel.js';
import { classifyHttp } from '../http-answer.js';

export function classifyCustom(answer: OutboundAnswer | OutboundFailure, nowMs: number): Verdict {
  return classifyHttp(answer, nowMs);
}
