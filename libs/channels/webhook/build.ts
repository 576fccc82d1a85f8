/** Webhook: a notification as one signed HTTP request in the form of Standard Webhooks 1.0. */
import type { z } from 'zod';
import { unsendableHeader } from '#runtime/http-headers';
import { renderTemplate, type TemplateEscape } from '#templates/templates';
import {
  httpChannel,
  refusal,
  type BuildContext,
  type HttpBatch,
  type Notification,
  type NothingToSend,
} from '../channel.js';
import { lowerHeaders, splitCredentials } from '../http-request.js';
import { eventOf, variablesOf } from '../message.js';
import { httpSummary } from '../summary.js';
import { classifyWebhook } from './classify.js';
import { webhookDeclaration } from './declaration.js';
import { signWebhook } from './sign.js';

type WebhookConfig = z.output<typeof webhookDeclaration.config>;

const defaultTimeoutSeconds = 10;

/** Set by us alone: a user's header of that name would break the signature or the framing. */
const ownHeaders: ReadonlySet<string> = new Set([
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'content-length',
  'transfer-encoding',
  'connection',
  'host',
]);

function escapeOf(contentType: string): TemplateEscape {
  if (/\bjson\b/i.test(contentType)) return 'json';
  return /\bhtml\b/i.test(contentType) ? 'html' : 'text';
}

/** The newest first; the one before it too while a rotation overlaps. */
function signingSecrets({ secret, previousSecret, previousSecretUntil }: WebhookConfig, nowMs: number): string[] {
  const overlaps = previousSecretUntil !== undefined && nowMs < Date.parse(previousSecretUntil);
  return [secret, overlaps ? previousSecret : undefined].filter((one) => one !== undefined);
}

/** The same notification gives the same id and body on every try; only the timestamp and so the signature differ. */
function buildWebhook(
  config: WebhookConfig,
  request: Notification,
  { nowMs, linkBase }: BuildContext,
): HttpBatch | NothingToSend {
  const { url: address, method = 'POST', body: template, timeoutSeconds = defaultTimeoutSeconds } = config;
  const headers = lowerHeaders(config.headers ?? {});
  for (const name of ownHeaders) delete headers[name];
  headers['content-type'] ??= 'application/json';
  const { url, authorization } = splitCredentials(address);
  if (authorization !== null) headers['authorization'] ??= authorization;
  const unsendable = unsendableHeader(headers);
  if (unsendable !== null) {
    return refusal(
      httpSummary(method, url),
      'header_invalid',
      `The header ${unsendable} holds characters that HTTP does not allow; use ASCII.`,
    );
  }
  const body =
    template === undefined
      ? JSON.stringify(eventOf(request, linkBase))
      : renderTemplate(template, variablesOf(request, linkBase), escapeOf(headers['content-type']));
  const timestampSeconds = Math.floor(nowMs / 1_000);
  headers['webhook-id'] = request.deliveryId;
  headers['webhook-timestamp'] = String(timestampSeconds);
  const signatures = signingSecrets(config, nowMs).map((secret) =>
    signWebhook(secret, request.deliveryId, timestampSeconds, body),
  );
  if (signatures.length > 0) headers['webhook-signature'] = signatures.join(' ');
  return { kind: 'http', requests: [{ method, url, headers, body, timeoutMs: timeoutSeconds * 1_000 }] };
}

export const webhook = httpChannel(webhookDeclaration, 'POST', buildWebhook, classifyWebhook);
