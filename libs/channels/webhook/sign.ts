/** Signatures of Standard Webhooks 1.0: HMAC-SHA-256 over `id.timestamp.body`. */
import { createHmac, createSecretKey } from 'node:crypto';

const prefix = 'whsec_';

/** The value of `webhook-signature` for the bytes of `body`; `timestampSeconds` is the value of `webhook-timestamp`. */
export function signWebhook(secret: string, id: string, timestampSeconds: number, body: string): string {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64');
  // Bytes take Node four times as long as a key made of them.
  const signature = createHmac('sha256', createSecretKey(key))
    .update(`${id}.${timestampSeconds}.${body}`)
    .digest('base64');
  return `v1,${signature}`;
}
