/** The executor: asks the channel what to send, sends it through the outbound door, and has the channel judge the answer. */
import type { RequestSummary, SettledPart, NotificationRequest } from '#contracts/delivery';
import type { Outbound } from '#outbound/outbound';
import type { Clock } from '#runtime/clock';
import { AppError, unreachable } from '#runtime/errors';
import { defaultSandboxLimits, type Sandbox, type SandboxLimits } from '#sandbox/sandbox';
import type { Vault } from '#vault/vault';
import {
  refusal,
  type BuildContext,
  type HttpOutgoing,
  type MailOutgoing,
  type OpenNotification,
  type Outgoing,
  type PartVerdict,
  type Verdict,
} from './channels/channel.js';
import { buildCustom, customJob, readCustomConfig } from './channels/custom/build.js';
import { classifyCustom } from './channels/custom/classify.js';
import { buildMail } from './channels/email/build.js';
import { classifyMail } from './channels/email/classify.js';
import { defaultSmtpTimeouts, type Mailer } from './channels/email/smtp.js';
import { createRedactor, httpSummary, mailSummary } from './channels/summary.js';
import { buildWebhook } from './channels/webhook/build.js';
import { classifyWebhook } from './channels/webhook/classify.js';
import { attemptResultOf } from './attempt-result.js';
import type { AttemptResult } from './domain/delivery.js';

export interface SenderOptions {
  readonly vault: Vault;
  readonly sandbox: Sandbox;
  readonly outbound: Outbound;
  /** null: the operator has set no mail server. */
  readonly mailer: Mailer | null;
  readonly clock: Clock;
  /** For deliveries that were requested without one. */
  readonly linkBase: string;
  readonly mailFrom: string;
  readonly sandboxLimits?: SandboxLimits;
}

/** One try, ready to be sent; holds secrets and lives in memory only. */
export interface PreparedAttempt {
  readonly outgoing: Outgoing;
  /** Origin or mail server: what fairness and breakers go by. null: nothing will be sent. */
  readonly receiver: string | null;
  readonly summary: RequestSummary;
  /** How long sending may take; what a lost attempt is told by. */
  readonly timeoutMs: number;
  readonly redact: (text: string) => string;
}

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

export function createSender(options: SenderOptions): Sender {
  const { vault, sandbox, outbound, mailer, clock, mailFrom } = options;
  const limits = options.sandboxLimits ?? defaultSandboxLimits;

  const build = async (notification: OpenNotification, linkBase: string): Promise<Outgoing> => {
    const context: BuildContext = { nowMs: clock.now(), linkBase, mailFrom };
    const { type } = notification.request.action;
    switch (type) {
      case 'webhook':
        return buildWebhook(notification, context);
      case 'email':
        return mailer === null
          ? refusal(
              { method: 'smtp', url: '' },
              'smtp_not_configured',
              'No mail server is set; the operator has to set SMTP_URL.',
            )
          : buildMail(notification, context);
      case 'custom': {
        const config = readCustomConfig(notification.config);
        const summary = { method: 'custom', url: '' };
        if (config === null)
          return refusal(summary, 'config_invalid', 'The settings of the action cannot be used; save it again.');
        const checked = await sandbox.check(config.code);
        if (!checked.ok)
          return refusal(summary, 'syntax_error', `Line ${checked.line}, column ${checked.column}: ${checked.message}`);
        return buildCustom(
          notification,
          await sandbox.runScript(customJob(config, checked, notification, context, limits)),
        );
      }
      default:
        return unreachable(type);
    }
  };

  const exchange = async (type: 'webhook' | 'custom', http: HttpOutgoing, signal: AbortSignal): Promise<Verdict> => {
    const { method, url, headers, body, timeoutMs } = http;
    const answer = await outbound.request({
      method,
      url,
      headers,
      ...(body === null ? {} : { body }),
      timeoutMs,
      // A receiver may work before it answers: the whole time that its action gives is for that.
      firstByteMs: timeoutMs,
      maxBodyBytes: readBytes,
      onBodyLimit: 'cut',
      maxRedirects: 0,
      signal,
    });
    return type === 'webhook' ? classifyWebhook(answer, clock.now()) : classifyCustom(answer, clock.now());
  };

  const post = async (
    mail: MailOutgoing,
    settled: readonly SettledPart[],
    signal: AbortSignal,
  ): Promise<PartVerdict[]> => {
    const open = mail.recipients
      .map((address, part) => ({ part, address }))
      .filter(({ part }) => !settled.some((one) => one.part === part));
    if (mailer === null || open.length === 0) return [];
    const answer = await mailer.send(
      mail,
      open.map(({ address }) => address),
      signal,
    );
    return classifyMail(answer, open);
  };

  return {
    async prepare(request, linkBase) {
      const { action, taskId } = request;
      let redact = (text: string): string => text;
      let outgoing: Outgoing;
      try {
        const config = await vault.open(taskId, `actions/${action.id}`, action.config);
        redact = createRedactor(action.config, config);
        outgoing = await build({ request, config }, linkBase ?? options.linkBase);
      } catch (error) {
        // A template that cannot be rendered, a key that was dropped: the same on every try.
        const final = error instanceof AppError && ['template_failed', 'secret_unreadable'].includes(error.reason);
        if (!final) throw error;
        outgoing = refusal({ method: action.type, url: '' }, error.reason, error.message);
      }
      return { outgoing, redact, ...planOf(outgoing, mailer, redact) };
    },

    async send({ outgoing, summary, redact }, request, settled, signal) {
      const begunMs = performance.now();
      const verdicts: PartVerdict[] = [];
      let parts = 1;
      switch (outgoing.kind) {
        case 'none':
          verdicts.push({ part: 0, verdict: { ...outgoing.verdict, response: null, unreachable: false } });
          break;
        case 'mail':
          parts = outgoing.mail.recipients.length;
          verdicts.push(...(await post(outgoing.mail, settled, signal)));
          break;
        case 'http':
          parts = outgoing.requests.length;
          for (const [part, http] of outgoing.requests.entries()) {
            if (settled.some((one) => one.part === part)) continue;
            const type = request.action.type === 'webhook' ? 'webhook' : 'custom';
            verdicts.push({ part, verdict: await exchange(type, http, signal) });
          }
          break;
        default:
          return unreachable(outgoing);
      }
      const result = attemptResultOf({
        verdicts,
        earlier: settled,
        parts,
        partName: outgoing.kind === 'mail' ? 'recipient' : 'request',
        summaryOf: (part) => {
          const http = outgoing.kind === 'http' && part !== null ? outgoing.requests[part] : undefined;
          return http === undefined ? summary : httpSummary(http.method, http.url);
        },
        durationMs: Math.round(performance.now() - begunMs),
        redact,
      });
      return { result, reached: !verdicts.some(({ verdict }) => verdict.unreachable) };
    },
  };
}

/** Where it goes and how long that may take. */
function planOf(
  outgoing: Outgoing,
  mailer: Mailer | null,
  redact: (text: string) => string,
): Pick<PreparedAttempt, 'receiver' | 'summary' | 'timeoutMs'> {
  switch (outgoing.kind) {
    case 'none':
      return { receiver: null, summary: outgoing.request, timeoutMs: nothingSentTimeoutMs };
    case 'mail': {
      const summary = mailSummary(outgoing.mail.recipients);
      return { receiver: `smtp ${mailer?.server ?? ''}`, summary, timeoutMs: defaultSmtpTimeouts.totalMs };
    }
    case 'http': {
      const [first] = outgoing.requests;
      if (first === undefined) throw new Error('a channel built no request');
      const { method, url } = httpSummary(first.method, first.url);
      const timeoutMs = outgoing.requests.reduce((sum, { timeoutMs: one }) => sum + one, 0);
      return { receiver: new URL(first.url).origin, summary: { method, url: redact(url) }, timeoutMs };
    }
    default:
      return unreachable(outgoing);
  }
}
