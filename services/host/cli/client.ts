/** Requests of commands to the public API of a running server. */
import { z } from 'zod';
import type { ClientSettings } from '#runtime/config';
import { plain, Refused } from './terminal.js';

const timeoutMs = 120_000;

const failure = z.object({
  error: z.object({
    code: z.string(),
    reason: z.string(),
    message: z.string(),
    details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  }),
});

const withoutKey = (code: string): boolean => code === 'UNAUTHORIZED' || code === 'FORBIDDEN';

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  /** What the body is to the person who sends it, such as the name of a file. */
  readonly bodyName?: string;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The text of the answer. Rejects with `Refused` where the server is not there, is no Meerkat, or refuses. */
async function askText({ url, apiKey }: ClientSettings, path: string, asked: Asked = {}): Promise<string> {
  const { method = 'GET', json, bodyName = 'The body' } = asked;
  const address = new URL(path, url);
  const refuse = (reason: string, message: string): Refused => new Refused(reason, `${address.origin} ${message}`);
  let text: string;
  let isOk: boolean;
  try {
    const answer = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await answer.text();
    isOk = answer.ok;
  } catch {
    throw refuse('server_unreachable', 'does not answer: set MEERKAT_URL to where a Meerkat is running.');
  }
  if (isOk) return text;
  const refused = failure.safeParse(parsed(text));
  if (!refused.success) throw refuse('not_meerkat', 'does not answer like a Meerkat; see MEERKAT_URL.');
  const { code, reason, message, details = [] } = refused.data.error;
  const said = plain(message).replace(/^The body\b/, bodyName);
  const more = details.slice(1).map((detail) => `\n  ${plain(`${detail.field} ${detail.message}`)}`);
  throw refuse(reason, `refused: ${said}${withoutKey(code) ? ' See MEERKAT_API_KEY.' : ''}${more.join('')}`);
}

/** The answer as JSON. */
export async function askJson(settings: ClientSettings, path: string, asked: Asked = {}): Promise<unknown> {
  const json = parsed(await askText(settings, path, asked));
  if (json !== undefined) return json;
  throw new Refused('not_meerkat', `${new URL(settings.url).origin} does not answer like a Meerkat.`);
}
