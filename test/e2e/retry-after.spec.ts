/** Receivers that say when to come again: they are left alone until then, and the record says for how long. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryAnswer } from './kit/api.js';
import { startHookSink, type HookReply, type HookSink } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

/** Longer than the second try waits on its own, with its jitter: 5 to 6 s. */
const askedSeconds = 9;
const askedMs = askedSeconds * 1_000;

let installation: Installation;
let site: PageSite;
let hooks: HookSink;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  installation = await createInstallation();
  await installation.start();
  site.serve('/shop', html('in stock'));
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

/** The id of a task whose only message goes there. */
async function triggered(path: string, more: object = {}): Promise<string> {
  const actions = [{ type: 'webhook', config: { url: hooks.address(path) }, ...more }];
  const { id } = await installation.api.create({ ...byHand(site.address('/shop')), actions });
  expect((await installation.api.execute(id)).decision?.reason).toBe('became_true');
  return id;
}
const when = (state: string, taskId: string): Promise<DeliveryAnswer> =>
  until(`the delivery is ${state}`, async () => {
    const [delivery] = await installation.api.deliveries(taskId);
    return delivery?.state === state ? delivery : null;
  });
/** When a try began, milliseconds since 1970. */
const triedMs = ({ attempts }: DeliveryAnswer, index: number): number => Date.parse(attempts[index]?.at ?? '');

describe('a receiver that says when to come again', () => {
  it.each([429, 503])('with %i, in seconds, is left alone until then, and the record says so', async (status) => {
    const path = `/seconds-${status}`;
    hooks.reply(path, { status, retryAfter: String(askedSeconds) });
    const id = await triggered(path);
    const waiting = await when('retrying', id);
    expect(waiting).toMatchObject({
      reason: 'http_status',
      attempts: [
        {
          response: { status },
          error: {
            reason: 'http_status',
            message: `The receiver answered ${status}. This message is not tried again for ${askedSeconds} s.`,
          },
        },
      ],
    });
    expect(Date.parse(waiting.nextAttemptAt ?? '')).toBeGreaterThanOrEqual(triedMs(waiting, 0) + askedMs);
    const delivery = await when('delivered', id);
    expect(delivery.attempts.map(({ response }) => response?.status)).toEqual([status, 200]);
    expect(triedMs(delivery, 1)).toBeGreaterThanOrEqual(Date.parse(waiting.nextAttemptAt ?? ''));
    expect(hooks.received(path).map(({ id: sent }) => sent)).toEqual([delivery.id, delivery.id]);
  });

  it('by a date is left alone until that date', async () => {
    // A date has no fractions of a second.
    const date = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + askedMs);
    hooks.reply('/date', { status: 503, retryAfter: date.toUTCString() });
    const id = await triggered('/date');
    const { attempts, nextAttemptAt } = await when('retrying', id);
    expect(attempts[0]?.error?.message).toMatch(
      /^The receiver answered 503\. This message is not tried again for \d+ s\.$/,
    );
    expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThanOrEqual(date.getTime());
    expect(triedMs(await when('delivered', id), 1)).toBeGreaterThanOrEqual(date.getTime());
    expect(hooks.received('/date')).toHaveLength(2);
  });

  it('in words that nobody reads is tried again as any other', async () => {
    const unreadable = ['soon', '-1', '1.5', ''];
    unreadable.forEach((retryAfter, n) => hooks.reply(`/words-${n}`, { status: 503, retryAfter }));
    const ids = await Promise.all(unreadable.map((_, n) => triggered(`/words-${n}`)));
    for (const id of ids) {
      const { attempts } = await when('delivered', id);
      expect(attempts.map(({ error }) => error?.message ?? null)).toEqual(['The receiver answered 503.', null]);
    }
  });

  it('that is later than the message may be is not asked again: it expired, and the record says both', async () => {
    hooks.reply('/later', { status: 429, retryAfter: '3600' });
    const delivery = await when('expired', await triggered('/later', { expireAfterSeconds: 60 }));
    expect(delivery).toMatchObject({ reason: 'http_status', nextAttemptAt: null });
    expect(delivery.attempts.map(({ error }) => error?.message)).toEqual([
      'The receiver answered 429. This message is not tried again for 1 h.',
    ]);
    expect(hooks.received('/later')).toHaveLength(1);
  });

  it('of several tasks delays none of the others at the same host', async () => {
    const asks: HookReply = { status: 429, retryAfter: '3600' };
    hooks.reply('/busy', asks, asks, asks, asks, asks, asks);
    for (let n = 0; n < 6; n += 1) await when('retrying', await triggered('/busy'));
    const free = await when('delivered', await triggered('/free'));
    expect(free.attempts).toHaveLength(1);
  });
});
