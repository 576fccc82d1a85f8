/** The promises about retries, and about limits for each origin. */
import { describe, expect, it } from '@jest/globals';
import { onHead, serveHttp, serveRaw, type Loopback } from '#outbound/loopback.contract';
import { createKit, type CreateLoader } from './kit.contract.js';
import type { PageRequest } from './page-loader.js';

export function describeRetries(mode: PageRequest['mode'], create: CreateLoader): void {
  const { up, loader, ask, pageOf, failureOf } = createKit(mode, create);

  describe('a retry', () => {
    const retry = { attempts: 3, strategy: 'exponential', baseMs: 1_000 } as const;

    /** Answers with these statuses in turn, the last one for ever. */
    async function answering(...statuses: readonly number[]): Promise<{ server: Loopback; count: () => number }> {
      let count = 0;
      const server = await up(
        serveHttp((_request, response) => {
          const status = statuses[Math.min(count, statuses.length - 1)] ?? 200;
          count += 1;
          response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '3' }).end('<p>page');
        }),
      );
      return { server, count: () => count };
    }

    it('returns the page where a later attempt succeeds', async () => {
      const { server, count } = await answering(500, 502, 200);
      expect(await pageOf(loader(), server.origin, { retry })).toMatchObject({ status: 200, attempts: 3 });
      expect(count()).toBe(3);
    });

    it('stops at the last attempt, with its failure', async () => {
      const { server, count } = await answering(500);
      expect(await failureOf(loader(), server.origin, { retry })).toMatchObject({
        reason: 'http_status',
        status: 500,
        attempts: 3,
      });
      expect(count()).toBe(3);
    });

    it('waits by its backoff, exponential or fixed, and as long as the server asks', async () => {
      const waits: number[] = [];
      const from = loader({
        random: () => 0.5,
        sleep: (ms) => {
          waits.push(ms);
          return Promise.resolve();
        },
      });
      const { server } = await answering(500);
      const long = { attempts: 4, baseMs: 4_000 } as const;
      await from.load(ask(server.origin, { retry: { ...long, strategy: 'exponential' }, timeoutMs: 100_000 }));
      await from.load(ask(server.origin, { retry: { ...long, strategy: 'fixed' } }));
      await from.load(ask(server.origin, { retry: { ...long, attempts: 2, strategy: 'fixed', baseMs: 10 } }));
      expect(waits).toEqual([3_000, 6_000, 12_000, 3_000, 3_000, 3_000, 3_000]);
    });

    it('is not made where the wait would exceed the time limit', async () => {
      const { server, count } = await answering(503);
      const failure = await failureOf(loader(), server.origin, { retry, timeoutMs: 2_000 });
      expect([failure.attempts, count()]).toEqual([1, 1]);
    });

    it.each([400, 401, 403, 404, 410, 501])('is not made for %s', async (status) => {
      const { server, count } = await answering(status);
      expect((await failureOf(loader(), server.origin, { retry })).attempts).toBe(1);
      expect(count()).toBe(1);
    });

    it('is not made where it could repeat a POST', async () => {
      const broken = await answering(500);
      expect((await failureOf(loader(), broken.server.origin, { retry, method: 'POST' })).attempts).toBe(1);
      const busy = await answering(503, 200);
      expect((await pageOf(loader(), busy.server.origin, { retry, method: 'POST' })).attempts).toBe(2);
      const dropping = await up(serveRaw((socket) => onHead(socket, () => socket.destroy())));
      expect((await failureOf(loader(), dropping.origin, { retry, method: 'POST' })).attempts).toBe(1);
      expect((await failureOf(loader(), dropping.origin, { retry, method: 'PUT' })).attempts).toBe(3);
    });

    it('is made for a connection that fails, and not for a page that is too large', async () => {
      const gone = await serveHttp(() => undefined);
      await gone.close();
      expect((await failureOf(loader(), gone.origin, { retry })).attempts).toBe(3);
      const { server } = await answering(200);
      expect((await failureOf(loader(), server.origin, { retry, maxBytes: 1 })).attempts).toBe(1);
    });

    it('is not waited for once the load is aborted', async () => {
      const controller = new AbortController();
      const from = loader({
        sleep: async () => controller.abort(),
      });
      const { server, count } = await answering(500);
      expect((await failureOf(from, server.origin, { retry, signal: controller.signal })).status).toBe(500);
      expect(count()).toBe(1);
    });
  });

  describe('the origin limit', () => {
    it('loads at most four pages of one site at once, and all in the end', async () => {
      let running = 0;
      let most = 0;
      const held: (() => void)[] = [];
      const server = await up(
        serveHttp((_request, response) => {
          running += 1;
          most = Math.max(most, running);
          held.push(() => {
            running -= 1;
            response.setHeader('content-type', 'text/html').end('x');
          });
          if (held.length === 4) for (const release of held.splice(0)) setImmediate(release);
        }),
      );
      const from = loader();
      const pages = await Promise.all(Array.from({ length: 12 }, () => from.load(ask(server.origin))));
      expect(pages.every((page) => page.ok)).toBe(true);
      expect(most).toBe(4);
    });

    it('times out a load that waits too long for its site', async () => {
      const server = await up(serveHttp(() => undefined));
      const from = loader();
      const controller = new AbortController();
      const busy = [1, 2, 3, 4].map(() => from.load(ask(server.origin, { signal: controller.signal })));
      expect(await failureOf(from, server.origin, { timeoutMs: 30 })).toMatchObject({
        reason: 'timed_out',
        attempts: 0,
      });
      controller.abort();
      await Promise.all(busy);
    });

    it('stops requests to a site that keeps failing, and reports its failure', async () => {
      const server = await up(serveRaw((socket) => onHead(socket, () => socket.destroy())));
      const from = loader();
      const reasons: string[] = [];
      for (let i = 0; i < 7; i += 1) reasons.push((await failureOf(from, server.origin)).reason);
      expect(reasons).toEqual(Array.from({ length: 7 }, () => 'connect_failed'));
      expect(server.connections()).toBe(5);
      expect((await failureOf(from, server.origin)).attempts).toBe(0);
    });
  });
}
