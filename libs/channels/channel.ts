/** What channels share: what they are given, what they hand to the executor, how they judge an answer. No I/O here. */
import type { z } from 'zod';
import type { OutboundAnswer, OutboundFailure } from '#outbound/outbound';
import type { JsonObject } from '#runtime/json';
import type { ScriptJob, ScriptResult } from '#sandbox/sandbox';
import type { BinaryBody } from './binary-body.js';
import type { ChannelDeclaration } from './declaration.js';
import type { PeerAnswer, PeerOutgoing } from './peer.js';

export type GatheredMessage = Pick<
  Notification,
  'kind' | 'executionId' | 'context' | 'createdAt' | 'episode' | 'openedBy'
>;

/** A notification as channels see it; the same on every try. */
export interface Notification {
  readonly deliveryId: string;
  readonly organizationId: string;
  readonly taskId: string;
  readonly executionId: string;
  readonly kind: 'triggered' | 'recovered' | 'error' | 'test' | 'digest';
  readonly action: { readonly id: string };
  /** What a message and the one that ends it have in common, within the task. Absent: it stands for itself. */
  readonly episode?: string;
  /** The first message of the episode by this action. Absent: this is it. */
  readonly openedBy?: string;
  /** In a signed link that acknowledges the episode. Absent: there is nothing to acknowledge. */
  readonly acknowledgeToken?: string;
  /** Of a digest: the messages that were gathered, oldest first. Its own context is that of the last one. */
  readonly items?: readonly GatheredMessage[];
  readonly context: {
    readonly task: {
      readonly id: string;
      readonly name: string;
      /** Absent: there is none. */
      readonly description?: string;
      readonly url: string;
      readonly tags: string[];
    };
    readonly execution: {
      readonly id: string;
      readonly outcome: boolean | null;
      readonly values: JsonObject;
      readonly finishedAt: string;
      readonly finalUrl: string | null;
    };
    readonly transition: { readonly kind: 'condition' | 'health'; readonly from: string; readonly to: string } | null;
    /** One plain sentence that says what happened. */
    readonly message: string;
    /** What to do about a run that failed. Absent: nothing is known that would help. */
    readonly hint?: string;
    /** What the run before reported. Absent: there was none, or the same. */
    readonly before?: JsonObject;
    /** Of the page. Absent: it has none. */
    readonly title?: string;
    /** What stands on the page around what changed. Absent: nothing is known of it. */
    readonly excerpt?: { readonly before: string; readonly after: string };
    /** The last numbers that the code reported as the value, oldest first. Absent: too few for a chart. */
    readonly points?: { readonly at: string; readonly value: number }[];
  };
  readonly createdAt: string;
}

/** A notification with its action's config opened: lives in memory only. */
export interface OpenNotification {
  readonly request: Notification;
  readonly config: JsonObject;
}

export interface BuildContext {
  readonly nowMs: number;
  /** Where people reach this instance; links begin with it. */
  readonly linkBase: string;
  /** `Name <name@example.com>` or a plain address. */
  readonly mailFrom: string;
  /** The last values as a PNG. Absent or null: there is none. */
  readonly chart?: Uint8Array | null;
  /** What the first message of this action and episode was given when it arrived. Absent or null: nothing, or it is the first. */
  readonly opened?: Receipt | null;
  /** What the parts of this message were given that have arrived already, each by its place. */
  readonly receipts?: readonly (Receipt | null)[];
}

/** What a receiver gives for a message that arrived and later ones need, such as its id. Kept in clear: never a secret. */
export type Receipt = JsonObject;

export interface HttpOutgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Sent in place of `body`, which is null then. */
  readonly binary?: BinaryBody;
  readonly timeoutMs: number;
  /** What is said does not depend on it, such as a picture: where it is not taken the message goes on without. */
  readonly optional?: true;
  /** What the request is for, where a channel tells its answers apart by it. */
  readonly step?: string;
  /** Sent in its place, once, where the receiver refuses this content, such as one with a picture. */
  readonly fallback?: HttpOutgoing;
  /** Asked first where an earlier try may have arrived. An answer with a receipt says that it has, and nothing more is sent. */
  readonly unless?: HttpOutgoing;
}

export interface MailOutgoing {
  /** Without angle brackets; the same on every try, so that a mailbox can recognize a repeat. */
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
  /** Message-ID of the first mail of the episode, by which mail programs put them together. Absent or null: this is the first. */
  readonly inReplyTo?: string | null;
  /** Shown inside the HTML as `cid:chart`. Absent or null: none. */
  readonly picture?: Uint8Array | null;
  /** Where its recipient stops such mails. Absent: nowhere. */
  readonly unsubscribeUrl?: string;
}

/** Where an attempt went, as the record shows it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
}

/** Several HTTP requests, sent one after the other. */
export interface HttpBatch {
  readonly kind: 'http';
  readonly requests: readonly HttpOutgoing[];
  /** Each is sent only once all before it have arrived. */
  readonly inOrder?: boolean;
  /** Once these have arrived the channel is asked again, with their receipts: it answers with them and with those that follow. */
  readonly more?: boolean;
  /** How often it may be asked, where a message is of many parts. Absent: as often as one of few needs. */
  readonly rounds?: number;
}

export interface Mail {
  readonly kind: 'mail';
  readonly mail: MailOutgoing;
}

/** The message cannot be made. */
export interface NothingToSend {
  readonly kind: 'none';
  readonly request: ShownRequest;
  readonly verdict: Refused | Retried;
}

/** Code of the user's own has to run first, in the sandbox; `finish` makes the requests of what it returned. */
export interface ScriptFirst {
  readonly kind: 'script';
  readonly script: Omit<ScriptJob, 'form' | 'limits'>;
  finish(result: ScriptResult): HttpBatch | NothingToSend;
}

export interface Delivered {
  readonly state: 'delivered';
  /** For later messages of the episode. */
  readonly receipt?: Receipt;
}

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

/** What became of one part. `unreachable`: the receiver did not answer at all, or takes nothing from anybody, which is what opens its breaker. */
export type Verdict = (Delivered | Refused | Retried) & {
  /** As it came; secrets are taken out and it is shortened before it is kept. */
  readonly response: { readonly status: number; readonly body: string } | null;
  readonly unreachable: boolean;
};

export interface PartVerdict {
  readonly part: number;
  readonly verdict: Verdict;
}

/** The reason of a refusal that also disables the action: its address or its credential is dead until a person looks. */
export const goneReason = 'gone';

export type HttpAnswer = OutboundAnswer | OutboundFailure;

export interface MailRefusal {
  readonly address: string;
  /** The reply code; null where the client itself would not send the address. */
  readonly code: number | null;
  readonly text: string;
}

/** What a mail server made of a message. */
export type MailAnswer =
  | {
      readonly kind: 'taken';
      readonly accepted: readonly string[];
      readonly refused: readonly MailRefusal[];
      readonly text: string;
    }
  /** Nobody got it. `code` null: no reply that says why. `about`: what the reply was about. */
  | {
      readonly kind: 'not_taken';
      readonly about: 'connection' | 'login' | 'message';
      readonly reason: string;
      readonly code: number | null;
      readonly text: string;
      readonly refused: readonly MailRefusal[];
    };

type Built<Config, Outgoing> = (
  config: Config,
  request: Notification,
  context: BuildContext,
) => Outgoing | NothingToSend;
type Build<Outgoing> = (notification: OpenNotification, context: BuildContext) => Outgoing | NothingToSend;

/** `step`: of the request that was answered. */
export type ClassifyHttp = (answer: HttpAnswer, nowMs: number, step?: string) => Verdict;
type ClassifyMail = (answer: MailAnswer, recipients: readonly { part: number; address: string }[]) => PartVerdict[];

export interface HttpChannel {
  readonly transport: 'http';
  /** What the record shows as the method where nothing could be sent. */
  readonly method: string;
  readonly build: Build<HttpBatch | ScriptFirst>;
  readonly classify: ClassifyHttp;
  /** Later messages of an episode need what the first one was given: `opened` is looked up for it. */
  readonly usesThread: boolean;
}

export interface MailChannel {
  readonly transport: 'smtp';
  readonly method: string;
  readonly build: Build<Mail>;
  readonly classify: ClassifyMail;
  readonly usesThread: false;
}

/** Of what speaks neither HTTP nor mail. */
export interface PeerChannel {
  readonly transport: 'peer';
  readonly method: string;
  readonly build: Build<PeerOutgoing>;
  readonly classify: (answer: PeerAnswer) => Verdict;
  readonly usesThread: false;
}

export type Channel = HttpChannel | MailChannel | PeerChannel;

export function refusal(request: ShownRequest, reason: string, message: string): NothingToSend {
  return { kind: 'none', request, verdict: { state: 'refused', reason, message } };
}

/** What is stored was checked when it was saved; a schema that has become stricter since refuses it here. */
function withConfig<Config extends z.ZodObject, Outgoing>(
  { config: schema }: ChannelDeclaration<string, Config>,
  method: string,
  build: Built<z.output<Config>, Outgoing>,
): Build<Outgoing> {
  return ({ request, config }, context) => {
    const parsed = schema.safeParse(config);
    return parsed.success
      ? build(parsed.data, request, context)
      : refusal({ method, url: '' }, 'config_invalid', 'The settings of the action cannot be used; save it again.');
  };
}

export function httpChannel<Config extends z.ZodObject>(
  declaration: ChannelDeclaration<string, Config>,
  method: string,
  build: Built<z.output<Config>, HttpBatch | ScriptFirst>,
  classify: ClassifyHttp,
  { usesThread = false }: Partial<Pick<HttpChannel, 'usesThread'>> = {},
): HttpChannel {
  return { transport: 'http', method, build: withConfig(declaration, method, build), classify, usesThread };
}

export function mailChannel<Config extends z.ZodObject>(
  declaration: ChannelDeclaration<string, Config>,
  build: Built<z.output<Config>, Mail>,
  classify: ClassifyMail,
): MailChannel {
  const method = 'smtp';
  return { transport: 'smtp', method, build: withConfig(declaration, method, build), classify, usesThread: false };
}

export function peerChannel<Config extends z.ZodObject>(
  declaration: ChannelDeclaration<string, Config>,
  method: string,
  build: Built<z.output<Config>, PeerOutgoing>,
  classify: PeerChannel['classify'],
): PeerChannel {
  return { transport: 'peer', method, build: withConfig(declaration, method, build), classify, usesThread: false };
}
