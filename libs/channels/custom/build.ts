/** Custom: the user's code turns an event into one or several HTTP requests. It has no network itself. */
import { z } from 'zod';
import { separatorFault } from '#runtime/address-credentials';
import { httpHeaders, unsendableHeader } from '#runtime/http-headers';
import type { ScriptResult } from '#sandbox/sandbox';
import {
  httpChannel,
  refusal,
  type BuildContext,
  type HttpBatch,
  type HttpOutgoing,
  type NothingToSend,
  type Notification,
  type ScriptFirst,
} from '../channel.js';
import { classifyHttp } from '../http-answer.js';
import { lowerHeaders, splitCredentials } from '../http-request.js';
import { eventOf } from '../message.js';
import { customDeclaration } from './declaration.js';

const timeoutMs = 10_000;
const mostRequests = 10;
const longestBody = 262_144;

const request = z.strictObject({
  url: z
    .string()
    .max(2_048)
    .refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), {
      error: ({ input }) => separatorFault(String(input), 'page') ?? 'must be an absolute http(s) address',
    }),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: httpHeaders.default({}),
  body: z.json().optional(),
});

const requests = z.union([request.transform((one) => [one]), z.array(request).min(1).max(mostRequests)]);

const method = 'custom';
const summary = { method, url: '' };

function outgoing(parsed: z.infer<typeof request>, id: string): HttpOutgoing {
  const headers = lowerHeaders(parsed.headers);
  headers['idempotency-key'] ??= id;
  const { method, body } = parsed;
  const { url, authorization } = splitCredentials(parsed.url);
  if (authorization !== null) headers['authorization'] ??= authorization;
  if (body === undefined || method === 'GET' || method === 'HEAD')
    return { method, url, headers, body: null, timeoutMs };
  headers['content-type'] ??= typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  return { method, url, headers, body: typeof body === 'string' ? body : JSON.stringify(body), timeoutMs };
}

/** The same notification runs the same way on every try: seed and clock come from it. */
function buildCustom(
  { code, secrets = {} }: z.output<typeof customDeclaration.config>,
  notification: Notification,
  { linkBase }: BuildContext,
): ScriptFirst {
  const { deliveryId, createdAt } = notification;
  const globals = { event: eventOf(notification, linkBase), secrets };
  return {
    kind: 'script',
    script: { code, globals, seed: deliveryId, nowMs: Date.parse(createdAt) },
    finish: (result) => requestsOf(deliveryId, result),
  };
}

/** What the code made; each request carries an id of its own that is the same on every try. */
function requestsOf(deliveryId: string, result: ScriptResult): HttpBatch | NothingToSend {
  if (!result.ok) {
    const { reason, message, line } = result.failure;
    const place = line === undefined ? '' : `Line ${line}: `;
    return reason === 'sandbox_unavailable'
      ? { kind: 'none', request: summary, verdict: { state: 'retry', reason, message, retryAfterMs: null } }
      : refusal(summary, reason, `${place}${message}`);
  }
  const parsed = requests.safeParse(result.value);
  if (!parsed.success) {
    return refusal(
      summary,
      'custom_result_invalid',
      `The code has to return { url, method, headers, body }, or a list of 1 to ${mostRequests}: ${faultOf(result.value)}.`,
    );
  }
  const made = parsed.data.map((one, index) => outgoing(one, index === 0 ? deliveryId : `${deliveryId}-${index}`));
  if (made.some(({ body }) => body !== null && Buffer.byteLength(body) > longestBody)) {
    return refusal(summary, 'custom_result_invalid', `A body the code returned is longer than ${longestBody} bytes.`);
  }
  const unsendable = made.map(({ headers }) => unsendableHeader(headers)).find((name) => name !== null);
  if (unsendable !== undefined) {
    const message = `The header ${unsendable} the code returned holds characters that HTTP does not allow; use ASCII.`;
    return refusal(summary, 'header_invalid', message);
  }
  return { kind: 'http', requests: made };
}

/** The first fault with its place; never a value, which may be a secret. */
function faultOf(value: unknown): string {
  const parsed = Array.isArray(value)
    ? z.array(request).min(1).max(mostRequests).safeParse(value)
    : request.safeParse(value);
  const issue = parsed.success ? undefined : parsed.error.issues[0];
  if (issue === undefined) return 'it returned something else';
  const path = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return `${path.replace(/^\./, '') || 'it'} ${issue.message.replace(/^Invalid input: /, 'is not valid: ')}`;
}

/** Each request is judged by itself. A receiver that is gone refuses its request; the action stays, it may have others. */
export const custom = httpChannel(customDeclaration, method, buildCustom, classifyHttp);
