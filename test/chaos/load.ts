/** The load during faults: pages that change, tasks that watch them, users who write. A seed decides all of it. */
import type { Api } from '../e2e/kit/api.js';
import { byHand, whenInStock } from '../e2e/kit/settings.js';
import { html } from '../e2e/kit/page-site.js';
import { until } from '../e2e/kit/until.js';
import type { World } from '../e2e/kit/watch.js';

export interface Load {
  /** Paths and mailboxes begin with it. */
  readonly name: string;
  /** Ids of the tasks that watch. */
  readonly watched: readonly string[];
  /** By Idempotency-Key, what was answered. */
  readonly created: ReadonlyMap<string, string>;
  /** Keys that were sent, answered or not. */
  readonly asked: ReadonlySet<string>;
  /** Stops page changes and writes; resolves when those in flight have ended. */
  stop(): Promise<void>;
}

const pageCount = 8;
/** Every second page notifies a mailbox as well. */
const mailEvery = 2;
const writeEveryMs = 400;
const flipAfterMs = { from: 2_500, to: 7_000 } as const;

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Begins with every task made and run once. */
export async function startLoad(api: Api, world: World, random: () => number, name: string): Promise<Load> {
  const watched: string[] = [];
  const created = new Map<string, string>();
  const asked = new Set<string>();
  const ending = new AbortController();
  const { signal } = ending;

  for (let page = 0; page < pageCount; page += 1) {
    const path = `/${name}-${page}`;
    world.site.serve(path, html('sold out'));
    const webhook = { type: 'webhook', config: { url: world.hooks.address(path), timeoutSeconds: 5 } };
    const mail = { type: 'email', config: { to: `${name}-${page}@example.com`, subject: 'In stock' } };
    const { id } = await api.create({
      ...whenInStock(world.site.address(path)),
      name: `Watch ${page}`,
      actions: page % mailEvery === 0 ? [webhook, mail] : [webhook],
    });
    watched.push(id);
  }
  for (const id of watched) {
    await until('a first run is recorded', async () => (await api.executions(id)).some(({ finishedAt }) => finishedAt));
  }

  const flip = async (page: number): Promise<void> => {
    for (let inStock = true; !signal.aborted; inStock = !inStock) {
      world.site.serve(`/${name}-${page}`, html(inStock ? 'in stock' : 'sold out'));
      await pause(flipAfterMs.from + random() * (flipAfterMs.to - flipAfterMs.from), signal);
    }
  };

  /** Asks for the same under the same key until it is answered. */
  const write = async (): Promise<void> => {
    for (let count = 0; !signal.aborted; count += 1) {
      const key = `${name}-${count}`;
      asked.add(key);
      while (!signal.aborted && !created.has(key)) {
        try {
          const { id } = await api.create(
            { ...byHand(world.site.address('/written')), name: key, status: 'paused' },
            { 'idempotency-key': key },
          );
          created.set(key, id);
        } catch {
          // Not answered, or refused while a part is away: it is asked again.
          await pause(writeEveryMs, signal);
        }
      }
      await pause(writeEveryMs, signal);
    }
  };

  const running = Promise.all([write(), ...watched.map((_, page) => flip(page))]);
  return {
    name,
    watched,
    created,
    asked,
    async stop() {
      ending.abort();
      await running;
    },
  };
}
