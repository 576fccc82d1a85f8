/** `fetch` for openid-client, through the one door to the network. */
import type { CustomFetch } from 'openid-client';
import { unavailable } from '#runtime/errors';
import type { Outbound } from '#outbound/outbound';

const timeoutMs = 10_000;
const maxBodyBytes = 1_048_576;
/** Answers of these statuses have no body. */
const bodiless: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function bodyOf(body: unknown): Uint8Array | string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('a body of a kind that is not sent to providers');
}

/** Rejects with `provider_unavailable` where the provider is out of reach. Follows no redirects. */
export function outboundFetch(outbound: Outbound): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const given = bodyOf(body);
    const answer = await outbound.request({
      method,
      url,
      headers: Object.fromEntries(new Headers(headers)),
      ...(given === undefined ? {} : { body: given }),
      ...(signal === undefined || signal === null ? {} : { signal }),
      timeoutMs,
      maxBodyBytes,
      onBodyLimit: 'fail',
      maxRedirects: 0,
    });
    if (!answer.ok) {
      const message = `The sign-in provider at ${new URL(url).host} does not answer: ${answer.message} Try again, or sign in with a password.`;
      throw unavailable('provider_unavailable', message, 5, answer.reason);
    }
    const content = bodiless.has(answer.status) ? null : Uint8Array.from(answer.body);
    return new Response(content, { status: answer.status, headers: answer.headers });
  };
}
