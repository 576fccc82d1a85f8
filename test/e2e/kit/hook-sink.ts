/** A webhook receiver on loopback: keeps requests to the byte, checks signatures, and answers, stalls or disconnects as scripted. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

export interface ReceivedHook {
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status it was answered with; null: hung or dropped. */
  readonly answer: number | null;
}

/** A status that says when to come again: seconds or an HTTP date. */
export interface Deferral {
  readonly status: number;
  readonly retryAfter: string;
}

/** `hang`: never answers. `drop`: breaks the connection in the middle of an answer. */
export type HookReply = number | Deferral | 'hang' | 'drop';

export interface HookSink {
  address(path: string): string;
  /** Every request to a path that came in whole, answered or not, oldest first. */
  received(path: string): readonly ReceivedHook[];
  /** What the next requests to a path are answered, one each; afterwards 200. */
  reply(path: string, ...replies: readonly HookReply[]): void;
  /** Answers 200 from now on, whatever was to come. */
  recover(path: string): void;
  /** Answers the requests to a path that hang. */
  release(path: string, status: number): void;
  close(): Promise<void>;
}

const eventBody = z.object({ type: z.string(), timestamp: z.string(), data: z.record(z.string(), z.json()) });
export type HookEvent = z.infer<typeof eventBody>;

/** The event inside, once its signature was found good by the reference implementation. Throws where it is not. */
export function verified({ body, headers }: ReceivedHook, secret: string): HookEvent {
  return eventBody.parse(new Webhook(secret).verify(body, { ...headers }));
}

/** At `port`, where a spec has to know it before; else at a free one. */
export async function startHookSink(port = 0): Promise<HookSink> {
  const received: ReceivedHook[] = [];
  const replies = new Map<string, HookReply[]>();
  const hanging = new Map<string, ServerResponse[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const reply = replies.get(path)?.shift() ?? 200;
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
      );
      received.push({
        id: headers['webhook-id'] ?? '',
        path,
        headers,
        body: Buffer.concat(chunks).toString('utf8'),
        answer: typeof reply === 'number' ? reply : typeof reply === 'object' ? reply.status : null,
      });
      if (typeof reply === 'number') {
        response.writeHead(reply, { 'content-type': 'text/plain' }).end('as told');
      } else if (typeof reply === 'object') {
        response.writeHead(reply.status, { 'retry-after': reply.retryAfter }).end('as told');
      } else if (reply === 'hang') {
        hanging.set(path, [...(hanging.get(path) ?? []), response]);
      } else {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('half of it', () => response.destroy());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    address: (path) => `http://127.0.0.1:${boundPort}${path}`,
    received: (path) => received.filter((hook) => hook.path === path),
    reply: (path, ...next) => void replies.set(path, [...(replies.get(path) ?? []), ...next]),
    recover: (path) => void replies.delete(path),
    release(path, status) {
      for (const response of hanging.get(path) ?? []) if (!response.destroyed) response.writeHead(status).end('late');
      hanging.delete(path);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
