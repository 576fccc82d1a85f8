/** Receives webhooks and checks their signatures as any receiver should: Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

export interface ReceivedWebhook {
  readonly id: string;
  readonly body: string;
  readonly isSigned: boolean;
}

const toleranceSeconds = 300;
const maxBodyBytes = 1_048_576;

/** Whether `webhook-signature` is ours, over id, timestamp and the very bytes of the body, and not an old one sent again. */
export function isSignedBy(secret: string, headers: IncomingHttpHeaders, body: string, nowMs: number): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  if (!(Math.abs(nowMs / 1_000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  return String(signatures)
    .split(' ')
    .some((entry) => {
      const actual = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
      return entry.startsWith('v1,') && actual.length === expected.length && timingSafeEqual(actual, expected);
    });
}

/** Not listening yet. `secretOf` is asked when a webhook comes in. */
export function createWebhookSink(secretOf: () => string, onWebhook: (received: ReceivedWebhook) => void): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const isSigned = isSignedBy(secretOf(), request.headers, body, Date.now());
      response.writeHead(isSigned ? 204 : 401).end();
      onWebhook({ id: String(request.headers['webhook-id']), body, isSigned });
    });
  });
}
