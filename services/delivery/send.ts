/** The executor: asks the channel what to send, sends it through the outbound door, and has the channel judge the answer. */
import { refusal, type Channel, type HttpBatch, type NothingToSend, type OpenNotification } from '#channels/channel';
import { channels } from '#channels/channels';
import { declarationOf, type ActionType } from '#channels/declarations';
import { mailSummary, maskMailbox } from '#channels/summary';
import { createLru } from '#concurrency/lru';
import type { StoredAction } from '#contracts/action';
import type { SettledPart } from '#contracts/delivery';
import { contactScope } from '#contracts/contact';
import type { TaskDocument } from '#contracts/task';
import type { Outbound } from '#outbound/outbound';
import type { JsonObject } from '#runtime/json';
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
import { mailTransmission, type MailSending } from './mail-transmission.js';
import type { Mailer } from '#mail/smtp';
import { nothingSent, type Transmission } from './transmission.js';

export interface SenderOptions extends OutgoingOptions {
  readonly signer: LinkSigner;
  readonly vault: Vault;
  /** The task as it is now; null: it is archived. */
  readonly tasks: (taskId: string) => Promise<TaskDocument | null>;
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
  /** Where what is built by these settings goes, as far as that is known without building it; no more than a guess. */
  expectedReceiver(action: Pick<StoredAction, 'type' | 'config'>): string | null;
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

/** Names a recipient of an action on record, where no address may stand. */
export function recipientName(
  { taskId, action }: Pick<SentRequest, 'taskId' | 'action'>,
  address: string,
  signer: LinkSigner,
): string {
  return signer.nameOf(`${taskId}|${action.id}|${address.toLowerCase()}`);
}

/** Whose key opens the settings, and what they were sealed for. */
export function sealedFor({
  organizationId,
  taskId,
  action,
}: Pick<SentRequest, 'organizationId' | 'taskId' | 'action'>): {
  readonly owner: string;
  readonly scope: string;
} {
  return action.contact === undefined
    ? { owner: taskId, scope: `actions/${action.id}` }
    : { owner: organizationId, scope: contactScope(action.contact) };
}

/** The config of the action as it was decided, with the secrets that sign now: they are rotated while messages wait. */
function withSecretsNow({ action }: SentRequest, task: TaskDocument | null): JsonObject {
  if (action.contact !== undefined) return action.config;
  const now = task?.spec.actions.find(({ id }) => id === action.id);
  const { generated } = declarationOf(action.type);
  if (now === undefined || now.type !== action.type || generated.length === 0) return action.config;
  const names = generated.flatMap(({ name, previous }) => [
    name,
    ...(previous === undefined ? [] : [previous.name, previous.until]),
  ]);
  const kept = Object.entries(action.config).filter(([name]) => !names.includes(name));
  return Object.fromEntries([...kept, ...Object.entries(now.config).filter(([name]) => names.includes(name))]);
}

/** Of actions: each has its words looked up in many texts. */
const keptRedactors = 2_000;
/** Of actions as they were decided: where their messages went. */
const keptReceivers = 10_000;

export function createSender(options: SenderOptions): Sender {
  const { vault, mailer } = options;
  const redactors = createLru<string, (text: string) => string>(keptRedactors);
  const receivers = createLru<string, string>(keptReceivers);
  const outgoingOf = createOutgoing(options);
  const settings = new WeakMap<object, string>();
  const settingsOf = (action: Pick<StoredAction, 'type' | 'config'>): string => {
    const known = settings.get(action) ?? `${action.type} ${JSON.stringify(action.config)}`;
    settings.set(action, known);
    return known;
  };

  const redactorOf = (type: ActionType, sealed: JsonObject, opened: JsonObject): ((text: string) => string) => {
    const key = settingsOf({ type, config: sealed });
    const redact = redactors.get(key) ?? createRedactor(sealed, opened, declarationOf(type));
    redactors.set(key, redact);
    return redact;
  };

  const plan = async (
    type: ActionType,
    notification: OpenNotification,
    linkBase: string,
    earlier: EarlierTries,
    recipients: Omit<MailSending, 'mailer'>,
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
      if (outgoing.mail.recipients.every(recipients.hasLeft)) {
        const message = 'Every recipient has unsubscribed.';
        return nothingSent(refusal(mailSummary(outgoing.mail.recipients), 'unsubscribed', message));
      }
      return mailTransmission(channel, { ...recipients, mailer }, outgoing.mail);
    }
    if (outgoing.kind === 'peer' && channel.transport === 'peer') {
      return peerTransmission(channel, options.peers, outgoing.message);
    }
    throw new Error(`${type} built what its transport does not carry`);
  };

  return {
    expectedReceiver: (action) => receivers.get(settingsOf(action)) ?? null,

    async prepare(request, linkBase, earlier = firstTry) {
      const { action, taskId } = request;
      let redact = (text: string): string => text;
      let transmission: Transmission;
      try {
        const task = await options.tasks(taskId);
        const sealed = withSecretsNow(request, task);
        const { owner, scope } = sealedFor(request);
        const config = await vault.open(owner, scope, sealed);
        redact = redactorOf(action.type, sealed, config);
        const linked = { ...request, ...acknowledgeTokenOf(request, options.signer) };
        const base = linkBase ?? options.linkBase;
        const nameOf = (address: string): string => recipientName(request, address, options.signer);
        const left = new Set(task?.left?.flatMap((one) => (one.actionId === action.id ? [one.recipient] : [])));
        transmission = await plan(action.type, { request: linked, config }, base, earlier, {
          hasLeft: (address) => left.has(nameOf(address)),
          unsubscribeUrlOf: (address) =>
            `${base.replace(/\/+$/, '')}/unsubscribe/${options.signer.sign('unsubscribe', [taskId, action.id, nameOf(address), maskMailbox(address)])}`,
        });
      } catch (error) {
        if (!isFinal(error)) throw error;
        transmission = nothingSent(refusal({ method: action.type, url: '' }, error.reason, error.message));
      }
      const { method, url } = transmission.summary;
      // Code of a user's own may send each message elsewhere.
      if (transmission.receiver !== null && declarationOf(action.type).code.length === 0) {
        receivers.set(settingsOf(action), transmission.receiver);
      }
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
