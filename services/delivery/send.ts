/** The executor: asks the channel what to send, sends it through the outbound door, and has the channel judge the answer. */
import {
  refusal,
  type Channel,
  type HttpBatch,
  type MailChannel,
  type MailOutgoing,
  type NothingToSend,
  type OpenNotification,
} from '#channels/channel';
import { channels } from '#channels/channels';
import { declarationOf, type ActionType } from '#channels/declarations';
import { mailSummary } from '#channels/summary';
import type { SettledPart } from '#contracts/delivery';
import type { Outbound } from '#outbound/outbound';
import type { LinkSigner } from '#vault/link-signer';
import type { Vault } from '#vault/vault';
import { attemptResultOf } from './attempt-result.js';
import type { SentRequest } from './digest.js';
import type { AttemptResult } from './domain/delivery.js';
import { httpTransmission } from './http-transmission.js';
import { createOutgoing, isFinal, nothingEarlier, type Earlier, type OutgoingOptions } from './outgoing.js';
import type { Peers } from './peers/peers.js';
import { peerTransmission } from './peers/transmission.js';
import { createRedactor } from './redact.js';
import { defaultSmtpTimeouts, type Mailer } from '#mail/smtp';
import { isOpen, nothingSent, type Transmission } from './transmission.js';

export interface SenderOptions extends OutgoingOptions {
  readonly signer: LinkSigner;
  readonly vault: Vault;
  readonly outbound: Outbound;
  /** null: the operator has set no mail server. */
  readonly mailer: Mailer | null;
  readonly peers: Peers;
  /** For deliveries that were requested without one. */
  readonly linkBase: string;
}

/** An attempt of one delivery, ready to be sent; holds secrets and lives in memory only. */
export interface PreparedAttempt extends Transmission {
  readonly redact: (text: string) => string;
}

export interface SentAttempt {
  readonly result: AttemptResult;
  /** False where the receiver gave no answer at all. */
  readonly reached: boolean;
}

/** `isRepeat`: an earlier try may have arrived. */
export type EarlierTries = Earlier & { readonly isRepeat: boolean };
const firstTry: EarlierTries = { ...nothingEarlier, isRepeat: false };

export interface Sender {
  /** Opens the settings and builds what is to be sent. Rejects only where a part of Meerkat itself cannot be reached. */
  prepare(request: SentRequest, linkBase: string | null, earlier?: EarlierTries): Promise<PreparedAttempt>;
  /** Sends the parts that are not settled yet. Never rejects. */
  send(prepared: PreparedAttempt, settled: readonly SettledPart[], signal: AbortSignal): Promise<SentAttempt>;
}

/** Only what is open can be taken on; the same on every try. */
export function acknowledgeTokenOf(
  { kind, episode = '', taskId, action }: SentRequest,
  signer: LinkSigner,
): { readonly acknowledgeToken?: string } {
  if (!/^(condition|health):/.test(episode) || kind === 'recovered' || kind === 'test') return {};
  return { acknowledgeToken: signer.sign('acknowledge', [taskId, action.id, episode]) };
}

function mailTransmission({ classify }: MailChannel, mailer: Mailer, mail: MailOutgoing): Transmission {
  const summary = mailSummary(mail.recipients);
  return {
    receiver: `smtp ${mailer.server}`,
    summary,
    timeoutMs: defaultSmtpTimeouts.totalMs,
    parts: () => mail.recipients.length,
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

export function createSender(options: SenderOptions): Sender {
  const { vault, mailer } = options;
  const outgoingOf = createOutgoing(options);

  const plan = async (
    type: ActionType,
    notification: OpenNotification,
    linkBase: string,
    earlier: EarlierTries,
  ): Promise<Transmission> => {
    const channel: Channel = channels[type];
    const { method } = channel;
    if (channel.transport === 'smtp' && mailer === null) {
      const message = 'No mail server is set; the operator has to set SMTP_URL.';
      return nothingSent(refusal({ method, url: '' }, 'smtp_not_configured', message));
    }
    const outgoing = await outgoingOf(type, notification, linkBase, earlier);
    if (outgoing.kind === 'none') return nothingSent(outgoing);
    if (outgoing.kind === 'http' && channel.transport === 'http') {
      const rebuild = async (receipts: Earlier['receipts']): Promise<HttpBatch | NothingToSend> => {
        const next = await outgoingOf(type, notification, linkBase, { ...earlier, receipts });
        if (next.kind === 'mail' || next.kind === 'peer') throw new Error(`${type} went on with another transport`);
        return next;
      };
      return httpTransmission(channel, { ...options, isRepeat: earlier.isRepeat, rebuild }, outgoing);
    }
    if (outgoing.kind === 'mail' && channel.transport === 'smtp' && mailer !== null) {
      return mailTransmission(channel, mailer, outgoing.mail);
    }
    if (outgoing.kind === 'peer' && channel.transport === 'peer') {
      return peerTransmission(channel, options.peers, outgoing.message);
    }
    throw new Error(`${type} built what its transport does not carry`);
  };

  return {
    async prepare(request, linkBase, earlier = firstTry) {
      const { action, taskId } = request;
      let redact = (text: string): string => text;
      let transmission: Transmission;
      try {
        const config = await vault.open(taskId, `actions/${action.id}`, action.config);
        redact = createRedactor(action.config, config, declarationOf(action.type).addresses);
        const linked = { ...request, ...acknowledgeTokenOf(request, options.signer) };
        transmission = await plan(action.type, { request: linked, config }, linkBase ?? options.linkBase, earlier);
      } catch (error) {
        if (!isFinal(error)) throw error;
        transmission = nothingSent(refusal({ method: action.type, url: '' }, error.reason, error.message));
      }
      const { method, url } = transmission.summary;
      return { ...transmission, redact, summary: { method, url: redact(url) } };
    },

    async send({ transmit, parts, partName, summaryOf, redact }, settled, signal) {
      const startedMs = performance.now();
      const verdicts = await transmit(settled, signal);
      const durationMs = Math.round(performance.now() - startedMs);
      const result = attemptResultOf({
        verdicts,
        earlier: settled,
        parts: parts(),
        partName,
        summaryOf,
        durationMs,
        redact,
      });
      return { result, reached: !verdicts.some(({ verdict }) => verdict.unreachable) };
    },
  };
}
