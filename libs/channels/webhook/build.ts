/** Webhook: a notification as one signed HTTP request in the form of Standard Webhooks 1.0. */
import type { z } from 'zod';
import { unsendableHeader } from '#runtime/http-headers';
import { renderTemplate, type TemplateEscape, type TemplateVariables } from '#templates/templates';
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

/** A template that is nothing but JSON made by a filter, such as `{{ values | json }}`. */
const isMadeJson = /^\s*\{\{-?[^}]*\|\s*json(?:ify)?\s*-?\}\}\s*$/;

function parses(text: string): boolean {
  try {
    return !['number', 'boolean'].includes(typeof JSON.parse(text));
  } catch {
    return false;
  }
}

/**
 * Of a template that does not say itself what it is. One brace begins JSON; what begins with a variable, a bracket or a
 * quotation mark may be a sentence too, so it is JSON where it is some with a plain value in each place.
 */
function isJsonTemplate(template: string | undefined, variables: TemplateVariables): boolean {
  if (template === undefined || /^\s*\{(?![{%])/.test(template) || isMadeJson.test(template)) return true;
  return /^\s*[[{"]/.test(template) && parses(renderTemplate(template, variables, () => '0'));
}

/** The address with its variables in it, which must not lead to another host; null: they do. */
function renderedAddress(address: string, variables: TemplateVariables): string | null {
  if (!address.includes('{')) return address;
  const rendered = renderTemplate(address, variables, 'address');
  return URL.canParse(rendered) && new URL(rendered).origin === new URL(address).origin ? rendered : null;
}

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
  const variables = variablesOf(request, linkBase);
  const given = Object.entries(lowerHeaders(config.headers ?? {}));
  const headers = Object.fromEntries(
    given.map(([name, value]) => [name, renderTemplate(value, variables, 'header')] as const),
  );
  for (const name of ownHeaders) delete headers[name];
  headers['content-type'] ??= isJsonTemplate(template, variables) ? 'application/json' : 'text/plain; charset=utf-8';
  const rendered = renderedAddress(address, variables);
  if (rendered === null) {
    return refusal(
      httpSummary(method, splitCredentials(address).url),
      'address_invalid',
      'The values in the address lead to another host.',
    );
  }
  const { url, authorization } = splitCredentials(rendered);
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
      : renderTemplate(template, variables, escapeOf(headers['content-type']));
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
