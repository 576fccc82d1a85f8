/** A client of the HTTP API as a stranger would write it: fetch, an API key, and the answers read through schemas. */
import { deliveryDocument } from '#contracts/delivery';
import { executionDocument } from '#contracts/run';
import { z } from 'zod';

const errorBody = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    reason: z.string(),
    requestId: z.string(),
    details: z
      .array(
        z.object({
          field: z.string(),
          rule: z.string(),
          message: z.string(),
          line: z.int().optional(),
          column: z.int().optional(),
        }),
      )
      .optional(),
  }),
});
export type ApiError = z.infer<typeof errorBody>['error'];

const action = z.looseObject({ id: z.string(), type: z.string(), config: z.record(z.string(), z.json()) });
const task = z.looseObject({
  id: z.string(),
  name: z.string(),
  revision: z.int(),
  status: z.string(),
  condition: z.string(),
  health: z.string(),
  actions: z.array(action),
});
export type Task = z.infer<typeof task>;

const execution = executionDocument.omit({ organizationId: true });
export type Execution = z.infer<typeof execution>;

const delivery = deliveryDocument.omit({ organizationId: true, dueAt: true });
export type DeliveryAnswer = z.infer<typeof delivery>;

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    pagination: z.strictObject({ page: z.int(), limit: z.int(), total: z.int(), pages: z.int() }),
  });

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. Throws where it is none. */
  readonly body: unknown;
}

export interface Send {
  readonly method?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: without a key. */
  readonly key?: string | null;
}

export interface Api {
  send(path: string, request?: Send): Promise<Reply>;
  create(settings: object, headers?: Readonly<Record<string, string>>): Promise<Task>;
  task(id: string): Promise<Task>;
  execute(id: string, waitSeconds?: number, body?: object): Promise<Execution>;
  /** Newest first, all of them. */
  executions(taskId: string): Promise<Execution[]>;
  deliveries(taskId: string): Promise<DeliveryAnswer[]>;
  /** What each list tells first, as text: two equal ones are equal to the byte. */
  listTexts(): Promise<readonly string[]>;
}

/** A request that hangs is a fault of its own, whatever the spec is about. */
const answerTimeoutMs = 90_000;

const lists = ['notifications', 'executions', 'deliveries', 'keys'];

/** The error inside an answer. Throws where the answer is not exactly the error envelope. */
export function errorOf({ body }: Reply): ApiError {
  return errorBody.parse(body).error;
}

function fail(status: number, text: string): never {
  throw new Error(`answered ${status}: ${text}`);
}

function dataOf<Schema extends z.ZodType>(schema: Schema, { status, body, text }: Reply): z.output<Schema> {
  if (status >= 300) fail(status, text);
  return schema.parse(z.strictObject({ success: z.literal(true), data: z.unknown() }).parse(body).data);
}

/** `at` is asked anew for each request: an installation may come back at another address. */
export function createApi(at: () => string, apiKey: string): Api {
  const send = async (path: string, { method, json, text, headers = {}, key = apiKey }: Send = {}): Promise<Reply> => {
    const body = json === undefined ? text : JSON.stringify(json);
    const answer = await fetch(at() + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
    const answered = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text: answered,
      get body(): unknown {
        const parsed: unknown = JSON.parse(answered);
        return parsed;
      },
    };
  };

  const all = async <Item extends z.ZodType>(item: Item, path: string): Promise<z.output<Item>[]> => {
    const found: z.output<Item>[] = [];
    for (let page = 1; ; page += 1) {
      const { data, pagination } = listOf(item).parse((await send(`${path}?limit=100&page=${page}`)).body);
      found.push(...data);
      if (page >= pagination.pages) return found;
    }
  };

  return {
    send,
    create: async (settings, headers = {}) =>
      dataOf(task, await send('/api/notifications', { json: settings, headers })),
    task: async (id) => dataOf(task, await send(`/api/notifications/${id}`)),
    execute: async (id, waitSeconds = 30, body = {}) =>
      dataOf(execution, await send(`/api/notifications/${id}/execute?wait=${waitSeconds}`, { json: body })),
    executions: (taskId) => all(execution, `/api/notifications/${taskId}/executions`),
    deliveries: (taskId) => all(delivery, `/api/notifications/${taskId}/deliveries`),
    async listTexts() {
      const replies = await Promise.all(lists.map((list) => send(`/api/${list}?limit=100`)));
      const texts = replies.map(({ status, text }) => (status === 200 ? text : fail(status, text)));
      // Asking for the lists is a use of the key.
      return texts.map((text) => text.replace(/,"lastUsedAt":(?:null|"[^"]*")/g, ''));
    },
  };
}
