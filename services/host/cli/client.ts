/** Requests of commands to the public API of a running server. */
import { z } from 'zod';
import type { ClientSettings } from '#runtime/config';
import { plain, Refused } from './terminal.js';

const timeoutMs = 120_000;

const failure = z.object({
  error: z.object({
    reason: z.string(),
    message: z.string(),
    details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  }),
});

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly accept?: string;
  readonly json?: unknown;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The text of the answer. Rejects with `Refused` where the server is not there, is no Meerkat, or refuses. */
export async function askText({ url, apiKey }: ClientSettings, path: string, asked: Asked = {}): Promise<string> {
  const { method = 'GET', accept = 'application/json', json } = asked;
  const address = new URL(path, url);
  const refuse = (reason: string, message: string): Refused =>
    new Refused(reason, `${address.origin} ${message} (MEERKAT_URL, MEERKAT_API_KEY)`);
  let text: string;
  let isOk: boolean;
  try {
    const answer = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await answer.text();
    isOk = answer.ok;
  } catch {
    throw refuse('server_unreachable', 'does not answer.');
  }
  if (isOk) return text;
  const refused = failure.safeParse(parsed(text));
  if (!refused.success) throw refuse('not_meerkat', 'does not answer like a Meerkat.');
  throw refuse(refused.data.error.reason, `refused: ${plain(refused.data.error.message)}`);
}

/** The answer as JSON. */
export async function askJson(settings: ClientSettings, path: string, asked: Asked = {}): Promise<unknown> {
  const json = parsed(await askText(settings, path, asked));
  if (json !== undefined) return json;
  throw new Refused('not_meerkat', `${new URL(settings.url).origin} does not answer like a Meerkat.`);
}
