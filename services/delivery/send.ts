/** The executor: asks the channel what to send, sends it through the outbound door, and has the channel judge the answer. */
import {
  refusal,
  type Channel,
  type HttpChannel,
  type HttpOutgoing,
  type MailChannel,
  type MailOutgoing,
  type NothingToSend,
  type OpenNotification,
  type PartVerdict,
} from '#channels/channel';
import { channels } from '#channels/channels';
import { declarationOf, type ActionType } from '#channels/declarations';
import { httpSummary, mailSummary } from '#channels/summary';
import type { NotificationRequest, RequestSummary, SettledPart } from '#contracts/delivery';
import type { Outbound } from '#outbound/outbound';
import type { Vault } from '#vault/vault';
import { attemptResultOf } from './attempt-result.js';
import type { AttemptResult } from './domain/delivery.js';
import { createOutgoing, isFinal, type OutgoingOptions } from './outgoing.js';
import { createRedactor } from './redact.js';
import { defaultSmtpTimeouts, type Mailer } from './smtp.js';

export interface SenderOptions extends OutgoingOptions {
  readonly vault: Vault;
  readonly outbound: Outbound;
  /** null: the operator has set no mail server. */
  readonly mailer: Mailer | null;
  /** For deliveries that were requested without one. */
  readonly linkBase: string;
}

/** An attempt of one delivery, ready to be sent; holds secrets and lives in memory only. */
export interface PreparedAttempt {
  /** Origin or mail server: what fairness and breakers go by. null: nothing will be sent. */
  readonly receiver: string | null;
  readonly summary: RequestSummary;
  /** How long sending may take; by it an attempt is judged lost. */
  readonly timeoutMs: number;
  readonly redact: (text: string) => string;
  readonly parts: number;
  /** What a part is called: `recipient`, `request`. */
  readonly partName: string;
  /** Where a part goes. */
  readonly summaryOf: (part: number | null) => RequestSummary;
  /** Sends the parts that are not settled yet. */
  readonly transmit: (settled: readonly SettledPart[], signal: AbortSignal) => Promise<readonly PartVerdict[]>;
}

type Transmission = Omit<PreparedAttempt, 'redact'>;

export interface SentAttempt {
  readonly result: AttemptResult;
  /** False where the receiver gave no answer at all. */
  readonly reached: boolean;
}

export interface Sender {
  /** Opens the settings and builds what is to be sent. Rejects only where a part of Meerkat itself cannot be reached. */
  prepare(request: NotificationRequest, linkBase: string | null): Promise<PreparedAttempt>;
  /** Sends the parts that are not settled yet. Never rejects. */
  send(
    prepared: PreparedAttempt,
    request: NotificationRequest,
    settled: readonly SettledPart[],
    signal: AbortSignal,
  ): Promise<SentAttempt>;
}

/** Nothing is sent, but the attempt is still a fact with a beginning and an end. */
const nothingSentTimeoutMs = 5_000;
const readBytes = 65_536;

function isOpen(part: number, settled: readonly SettledPart[]): boolean {
  return !settled.some((one) => one.part === part);
}

function nothingSent({ request, verdict }: NothingToSend): Transmission {
  return {
    receiver: null,
    summary: request,
    timeoutMs: nothingSentTimeoutMs,
    parts: 1,
    partName: 'request',
    summaryOf: () => request,
    transmit: async () => [{ part: 0, verdict: { ...verdict, response: null, unreachable: false } }],
  };
}

function mailTransmission({ classify }: MailChannel, mailer: Mailer, mail: MailOutgoing): Transmission {
  const summary = mailSummary(mail.recipients);
  return {
    receiver: `smtp ${mailer.server}`,
    summary,
    timeoutMs: defaultSmtpTimeouts.totalMs,
    parts: mail.recipients.length,
    partName: 'recipient',
    summaryOf: () => summary,
    async transmit(settled, signal) {
      const open = mail.recipients
        .map((address, part) => ({ part, address }))
        .filter(({ part }) => isOpen(part, settled));
      if (open.length === 0) return [];
      const addresses = open.map(({ address }) => address);
      return classify(await mailer.send(mail, addresses, signal), open);
    },
  };
}

function httpTransmission(
  { classify }: HttpChannel,
  { outbound, clock }: Pick<SenderOptions, 'outbound' | 'clock'>,
  requests: readonly HttpOutgoing[],
): Transmission {
  const [first] = requests;
  if (first === undefined) throw new Error('a channel built no request');
  const summaryOf = (part: number | null): RequestSummary => {
    const { method, url } = requests[part ?? 0] ?? first;
    return httpSummary(method, url);
  };
  const exchange = async ({ method, url, headers, body, timeoutMs }: HttpOutgoing, signal: AbortSignal) => {
    const answer = await outbound.request({
      method,
      url,
      headers,
      ...(body === null ? {} : { body }),
      timeoutMs,
      maxBodyBytes: readBytes,
      onBodyLimit: 'cut',
      maxRedirects: 0,
      signal,
    });
    return classify(answer, clock.now());
  };
  return {
    receiver: new URL(first.url).origin,
    summary: summaryOf(null),
    timeoutMs: requests.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0),
    parts: requests.length,
    partName: 'request',
    summaryOf,
    async transmit(settled, signal) {
      const verdicts: PartVerdict[] = [];
      for (const [part, request] of requests.entries()) {
        if (isOpen(part, settled)) verdicts.push({ part, verdict: await exchange(request, signal) });
      }
      return verdicts;
    },
  };
}

export function createSender(options: SenderOptions): Sender {
  const { vault, mailer } = options;
  const outgoingOf = createOutgoing(options);

  const plan = async (type: ActionType, notification: OpenNotification, linkBase: string): Promise<Transmission> => {
    const channel: Channel = channels[type];
    const { method } = channel;
    if (channel.transport === 'smtp' && mailer === null) {
      const message = 'No mail server is set; the operator has to set SMTP_URL.';
      return nothingSent(refusal({ method, url: '' }, 'smtp_not_configured', message));
    }
    const outgoing = await outgoingOf(type, notification, linkBase);
    if (outgoing.kind === 'none') return nothingSent(outgoing);
    if (outgoing.kind === 'http' && channel.transport === 'http') {
      return httpTransmission(channel, options, outgoing.requests);
    }
    if (outgoing.kind === 'mail' && channel.transport === 'smtp' && mailer !== null) {
      return mailTransmission(channel, mailer, outgoing.mail);
    }
    throw new Error(`${type} built what its transport does not carry`);
  };

  return {
    async prepare(request, linkBase) {
      const { action, taskId } = request;
      let redact = (text: string): string => text;
      let transmission: Transmission;
      try {
        const config = await vault.open(taskId, `actions/${action.id}`, action.config);
        redact = createRedactor(action.config, config, declarationOf(action.type).addresses);
        transmission = await plan(action.type, { request, config }, linkBase ?? options.linkBase);
      } catch (error) {
        if (!isFinal(error)) throw error;
        transmission = nothingSent(refusal({ method: action.type, url: '' }, error.reason, error.message));
      }
      const { method, url } = transmission.summary;
      return { ...transmission, redact, summary: { method, url: redact(url) } };
    },

    async send({ transmit, parts, partName, summaryOf, redact }, _request, settled, signal) {
      const startedMs = performance.now();
      const verdicts = await transmit(settled, signal);
      const durationMs = Math.round(performance.now() - startedMs);
      const result = attemptResultOf({ verdicts, earlier: settled, parts, partName, summaryOf, durationMs, redact });
      return { result, reached: !verdicts.some(({ verdict }) => verdict.unreachable) };
    },
  };
}
