/** Signature Version 4 of AWS: a request is good for some minutes, and is signed anew at each attempt. */
import { createHash, createHmac } from 'node:crypto';

interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  readonly service: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** By the rule of AWS, which writes more signs as escapes than a browser does. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The headers to send, with those that sign the request. */
export function signedHeaders(
  { method, url, headers, body }: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken, region, service }: SigningKey,
  nowMs: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const sent = {
    ...headers,
    'x-amz-date': date,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const signed = Object.entries({ ...sent, host }).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const query = [...searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&');
  const values = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const canonical = [method, pathname, query, values, names, sha256(body)].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day));
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  const credential = `${accessKeyId}/${scope}`;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
