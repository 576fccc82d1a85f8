/** What a vendor's answers mean, as a table: the first line that fits an answer counts; the rest is as for any HTTP answer. */
import type { JsonObject } from '#runtime/json';
import type { ClassifyHttp, Receipt, Verdict } from './channel.js';
import { answerObject, askedWaitMs, classifyHttp, gone, notBefore, unexpectedAnswer } from './http-answer.js';

export interface VendorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body where it is one JSON object. */
  readonly body: JsonObject | null;
  readonly nowMs: number;
  /** What was asked. */
  readonly step: string | undefined;
}

export type Code = string | number;

/** Every condition that is given has to fit. */
export interface AnswerLine {
  readonly status?: readonly number[];
  /** Of the vendor's own codes, or a pattern of them. */
  readonly code?: readonly Code[] | RegExp;
  readonly when?: (answer: VendorAnswer) => boolean;
  readonly means: 'delivered' | 'retry' | 'refused' | 'gone';
  /** At least so long before it is tried again. */
  readonly afterMs?: number;
  /** What it is about and what to do; the answer itself is shown beside it. */
  readonly because?: string | ((answer: VendorAnswer) => string);
}

export interface VendorAnswers {
  readonly vendor: string;
  /** Whether the vendor itself says that it has the message. */
  readonly delivered: (answer: VendorAnswer) => boolean;
  /** The vendor's own word for what happened. */
  readonly codeOf?: (answer: VendorAnswer) => Code | null;
  readonly lines?: readonly AnswerLine[];
  /** What later messages need of a message that arrived; null: nothing. */
  readonly receiptOf?: (answer: VendorAnswer) => Receipt | null;
  /** When to try again, in milliseconds from now, where the vendor says so in its own way. */
  readonly hintMs?: (answer: VendorAnswer) => number | null;
  /** Before anything is tried again where the vendor does not say when. */
  readonly floorMs?: number;
  /** Before it is sent again where there was no answer, and it may have arrived: each repeat costs. */
  readonly unansweredMs?: number;
}

const longestWaitMs = 86_400_000;

/** A number of seconds or milliseconds that a vendor wrote, as milliseconds; null where it is none. */
export function waitMs(value: unknown, unitMs: number): number | null {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) return null;
  return Math.min(longestWaitMs, Math.ceil(amount * unitMs));
}

/** Until a moment that a vendor wrote in such units since 1970. */
export function untilMs(value: unknown, unitMs: number, nowMs: number): number | null {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return null;
  return Math.min(longestWaitMs, Math.max(0, Math.ceil(amount * unitMs) - nowMs));
}

export function textAt(value: JsonObject | null | undefined, name: string): string | null {
  const found = value?.[name];
  return typeof found === 'string' ? found : null;
}

function fits(line: AnswerLine, answer: VendorAnswer, code: Code | null): boolean {
  if (line.status !== undefined && !line.status.includes(answer.status)) return false;
  if (line.when !== undefined && !line.when(answer)) return false;
  if (line.code === undefined) return true;
  if (code === null) return false;
  return line.code instanceof RegExp ? line.code.test(String(code)) : line.code.includes(code);
}

function judged(
  line: AnswerLine,
  answer: VendorAnswer,
  verdict: Verdict,
  said: string,
  waits: (verdict: Verdict) => Verdict,
): Verdict {
  const { response } = verdict;
  const because = typeof line.because === 'function' ? line.because(answer) : line.because;
  const message = because === undefined ? `${said}.` : `${said}: ${because}.`;
  switch (line.means) {
    case 'delivered':
      return { state: 'delivered', response, unreachable: false };
    case 'gone':
      return gone(verdict, `${message} The action was disabled.`);
    case 'refused':
      return { state: 'refused', reason: 'refused_by_receiver', message, response, unreachable: false };
    case 'retry': {
      const asked = askedWaitMs(answer.headers['retry-after'], answer.nowMs);
      const retry = { state: 'retry', reason: 'receiver_deferred', message, retryAfterMs: asked, response } as const;
      return waits(notBefore({ ...retry, unreachable: false }, line.afterMs ?? 0));
    }
  }
}

export function classifyAs(rules: VendorAnswers): ClassifyHttp {
  const {
    unansweredMs = 0,
    vendor,
    delivered,
    codeOf = () => null,
    lines = [],
    receiptOf,
    hintMs,
    floorMs = 30_000,
  } = rules;
  return (answer, nowMs, step) => {
    const verdict = classifyHttp(answer, nowMs);
    if (!answer.ok) return answer.sent ? notBefore(verdict, unansweredMs) : verdict;
    const { status, headers } = answer;
    const text = verdict.response?.body ?? '';
    const seen: VendorAnswer = { status, headers, text, body: answerObject(verdict), nowMs, step };
    const code = codeOf(seen);
    const said = `${vendor} answered ${status}${code === null ? '' : ` (${code})`}`;
    const waits = (ruled: Verdict): Verdict => {
      if (ruled.state !== 'retry') return ruled;
      const hint = hintMs?.(seen) ?? null;
      if (hint !== null) return notBefore(ruled, hint);
      return ruled.retryAfterMs === null || ruled.retryAfterMs === 0 ? notBefore(ruled, floorMs) : ruled;
    };
    const line = lines.find((one) => fits(one, seen, code));
    const ruled = line === undefined ? verdict : judged(line, seen, verdict, said, waits);
    if (ruled.state === 'retry') return status < 500 || line !== undefined ? waits(ruled) : ruled;
    if (ruled.state !== 'delivered') return ruled;
    if (line === undefined && !delivered(seen)) {
      return unexpectedAnswer(verdict, `${said}, but not as ${vendor} does: check the address.`);
    }
    const receipt = receiptOf?.(seen) ?? null;
    return receipt === null ? ruled : { ...ruled, receipt };
  };
}
