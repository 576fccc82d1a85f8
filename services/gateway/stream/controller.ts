/** HTTP for the live stream: who may read how many, and until when. */
import { Controller, Inject } from '@nestjs/common';
import type { Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { findTask } from '../find-owned.js';
import { streamKinds } from './changes.js';
import { LiveChanges } from './live-changes.js';
import * as routes from './routes.js';
import { StreamReader } from './stream-reader.js';

const mostStreams = 20;
/** A key that has ended is noticed within this time. */
const checkEveryMs = 5_000;

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that gather answers would hold it back.
  'x-accel-buffering': 'no',
};

@Controller()
export class StreamController {
  readonly #readStore: ReadStore;
  readonly #changes: LiveChanges;
  readonly #open = new Map<string, number>();

  constructor(@Inject(READ_STORE) readStore: ReadStore, @Inject(LiveChanges) changes: LiveChanges) {
    this.#readStore = readStore;
    this.#changes = changes;
  }

  @Handles(routes.streamChanges)
  async stream(@Call() call: RouteCall<typeof routes.streamChanges>): Promise<Answer> {
    const { query, context, lastEventId, isStillAllowed } = call;
    const { organizationId, actor } = context;
    const { types: kinds = streamKinds, notificationId = null } = query;
    if (notificationId !== null) await findTask(this.#readStore, organizationId, notificationId);
    const count = this.#open.get(actor) ?? 0;
    if (count >= mostStreams) {
      const message = `${mostStreams} streams of this key are open: close one first.`;
      throw new AppError('RATE_LIMITED', 'too_many_streams', message, { retryAfterSeconds: 15 });
    }
    this.#open.set(actor, count + 1);
    const reader = new StreamReader({ organizationId, kinds, notificationId });
    const ending = call.ending();
    const checks = setInterval(() => {
      isStillAllowed().then(
        (isAllowed) => {
          if (!isAllowed) end();
        },
        // Whether it ended is not known while the store is away; the next check tells.
        () => undefined,
      );
    }, checkEveryMs).unref();
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearInterval(checks);
      this.#changes.leave(reader);
      reader.end();
      const left = (this.#open.get(actor) ?? 1) - 1;
      if (left === 0) this.#open.delete(actor);
      else this.#open.set(actor, left);
    };
    reader.body.once('close', end);
    if (ending.aborted) end();
    else ending.addEventListener('abort', end, { once: true });
    this.#changes.join(reader, lastEventId, ending).catch(end);
    return { status: 200, headers, body: reader.body };
  }
}
