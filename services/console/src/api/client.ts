/** The one way to the API: typed by its OpenAPI document, with the session's cookie, refusals as `ApiProblem`. */
import createClient from 'openapi-fetch';
import { ApiProblem, problemOf } from './problem.js';
import type { paths } from './schema.js';
import { notConnectedWords } from './wording.js';

/** Called with each answer: whether the server was reached, and whether the session still holds. */
type Listener = (state: 'reached' | 'lost' | 'signed-out') => void;
const listeners = new Set<Listener>();

export function onReachability(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function report(state: 'reached' | 'lost' | 'signed-out'): void {
  for (const listener of listeners) listener(state);
}

async function reachingFetch(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    report('reached');
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    report('lost');
    throw new ApiProblem({ status: 0, reason: 'not_connected', message: notConnectedWords() });
  }
}

export const api = createClient<paths>({ baseUrl: '/', credentials: 'same-origin', fetch: reachingFetch });

interface Answered {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of an answer, or an `ApiProblem`. A session that is over is reported besides. */
export async function answerOf<A extends Answered>(asked: Promise<A>): Promise<NonNullable<A['data']>> {
  const { data, error, response } = await asked;
  if (response.ok && data !== undefined && data !== null) return data;
  if (response.status === 401 && !new URL(response.url).pathname.startsWith('/api/sessions')) report('signed-out');
  throw await problemOf(response.status, error, response.headers.get('retry-after'));
}

/** What stands in the envelope's `data`. */
export async function dataOf<D>(
  asked: Promise<{ readonly data?: { readonly data: D }; readonly error?: unknown; readonly response: Response }>,
): Promise<D> {
  return (await answerOf(asked)).data;
}
