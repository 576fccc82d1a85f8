/** What channels share: what they are given, what they hand to the executor, how they judge an answer. No I/O here. */
import type { NotificationRequest, RequestSummary } from '#contracts/delivery';
import type { JsonObject } from '#runtime/json';

/** A notification with its action's config opened: lives in memory only. */
export interface OpenNotification {
  readonly request: NotificationRequest;
  readonly config: JsonObject;
}

export interface BuildContext {
  readonly nowMs: number;
  /** Where people reach this instance; links begin with it. */
  readonly linkBase: string;
  /** `Name <name@example.com>` or a plain address. */
  readonly mailFrom: string;
}

export interface HttpOutgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
}

export interface MailOutgoing {
  /** Without angle brackets; the same on every try, so that a mailbox can tell a repeat. */
  readonly messageId: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Everybody who gets it, each once; their places are the parts of the delivery. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly sentAt: string;
}

/** What an attempt sends: several HTTP requests in order, one mail, or nothing because it cannot be made. */
export type Outgoing =
  | { readonly kind: 'http'; readonly requests: readonly HttpOutgoing[] }
  | { readonly kind: 'mail'; readonly mail: MailOutgoing }
  | { readonly kind: 'none'; readonly request: RequestSummary; readonly verdict: Refused | Retried };

export interface Refused {
  readonly state: 'refused';
  readonly reason: string;
  readonly message: string;
}

export interface Retried {
  readonly state: 'retry';
  readonly reason: string;
  readonly message: string;
  /** What the receiver asked for. */
  readonly retryAfterMs: number | null;
}

/** What became of one part. `unreachable`: the receiver did not answer at all, which is what opens its breaker. */
export type Verdict = ({ readonly state: 'delivered' } | Refused | Retried) & {
  /** As it came; secrets are taken out and it is shortened before it is kept. */
  readonly response: { readonly status: number; readonly body: string } | null;
  readonly unreachable: boolean;
};

export interface PartVerdict {
  readonly part: number;
  readonly verdict: Verdict;
}

export function refusal(request: RequestSummary, reason: string, message: string): Outgoing {
  return { kind: 'none', request, verdict: { state: 'refused', reason, message } };
}
