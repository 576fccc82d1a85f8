import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  deliveriesView,
  deliveryStream,
  type DeliveryDocument,
  type DeliveryEvent,
  type NotificationRequest,
} from '#contracts/delivery';
import { dayMs, hourMs, statsStream, type DeliveriesFolded, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { playedOrganizationId, playedTaskId, type PlayedStep } from '../execution/figures.kit.js';
import { acceptRequest } from '../delivery/consumers.js';
import { loadDelivery } from '../delivery/delivery-stream.js';
import { archivedLines } from '../execution/retention/archive.js';
import { foldOldDays } from '../execution/retention/folding.js';
import { Played } from './retention.kit.js';

/** A run that tells of its condition. */
const run = (afterMs: number, condition: 'true' | 'false'): PlayedStep => ({
  kind: 'run',
  afterMs,
  status: 'succeeded',
  outcome: condition === 'true',
  condition,
  isFlapping: false,
  notify: true,
  reason: condition === 'true' ? 'became_true' : 'not_true',
  isManual: false,
  value: 1,
  fetchMs: 5,
  evaluateMs: 5,
});

let played: Played;
beforeEach(() => {
  played = new Played();
});
afterEach(() => played.close());

/** In the order in which they were asked for. */
function requests(): readonly NotificationRequest[] {
  return played.events.flatMap((recorded) => {
    if (recorded.type !== 'delivery.requested') return [];
    const event = decodeEvent<DeliveryEvent>(recorded);
    return event.type === 'delivery.requested' ? [event.data.request] : [];
  });
}

const typesOf = async ({ deliveryId }: NotificationRequest): Promise<readonly string[]> =>
  (await Array.fromAsync(played.eventStore.read(deliveryStream(deliveryId)))).map(({ type }) => type);

async function deliveriesOf(): Promise<readonly DeliveryDocument[]> {
  const query = { where: [], sort: [{ field: 'createdAt', descending: false }], limit: 10, offset: 0, count: false };
  return (await played.readStore.page(deliveriesView, query)).documents;
}

const whole = ['delivery.requested', 'attempt.started', 'attempt.ended'];
const cut = ['attempt.ended'];

async function folds(): Promise<readonly DeliveriesFolded[]> {
  const recorded = await Array.fromAsync(played.eventStore.read(statsStream(playedTaskId)));
  return recorded.flatMap((one) => {
    const event = decodeEvent<FoldEvent>(one);
    return event.type === 'deliveries.folded' ? [event.data] : [];
  });
}

describe('the deliveries of a folded day', () => {
  it('keep their last event alone, and those of later days everything', async () => {
    await played.play([run(hourMs, 'false'), run(hourMs, 'false'), run(5 * dayMs, 'false')]);
    await played.fold();
    await played.drop();
    const [first, second, third] = requests();
    if (first === undefined || second === undefined || third === undefined) throw new Error('nothing was asked for');
    expect(await Promise.all([first, second, third].map(typesOf))).toEqual([cut, cut, whole]);
    expect((await folds()).map(({ deliveryIds }) => deliveryIds)).toEqual([[first.deliveryId, second.deliveryId]]);
    expect(await played.readStore.get(deliveriesView, first.deliveryId)).toBeNull();
    expect(await played.readStore.get(deliveriesView, third.deliveryId)).not.toBeNull();
    // Again, as after a crash in between.
    await played.drop();
    expect(await typesOf(first)).toEqual(cut);
  });

  it('never go out a second time, though a message asks for one', async () => {
    await played.play([run(hourMs, 'false'), run(5 * dayMs, 'false')]);
    await played.fold();
    await played.drop();
    const [request] = requests();
    if (request === undefined) throw new Error('nothing was asked for');
    const metadata = {
      organizationId: playedOrganizationId,
      actor: 'system:execution',
      requestId: 'req_1',
      causationId: null,
      at: request.createdAt,
    };
    const message = {
      id: 'evt_1',
      type: 'notification.requested',
      key: request.deliveryId,
      data: request,
      metadata,
    };
    const address = { baseUrl: async () => 'https://meerkat.example' };
    const { eventStore } = played;
    await acceptRequest(
      {
        eventStore,
        clock: { now: () => played.nowMs },
        address,
        beginAtOnce: async () => false,
        begin: () => undefined,
        offer: () => undefined,
      },
      message,
    );
    expect(await typesOf(request)).toEqual(cut);
    expect((await loadDelivery(eventStore, request.deliveryId))?.state).toEqual({ status: 'folded' });
  });

  it('that the open episode points to keep all of their events until it is over', async () => {
    const opened = [run(hourMs, 'true'), run(hourMs, 'true'), run(hourMs, 'true'), run(5 * dayMs, 'true')];
    await played.play(opened);
    await played.fold();
    await played.drop();
    const [first, second, third] = requests();
    if (first === undefined || second === undefined || third === undefined) throw new Error('nothing was asked for');
    expect((await folds()).map(({ state }) => state.deliveriesLeft)).toEqual([[first.deliveryId]]);
    expect(await Promise.all([first, second, third].map(typesOf))).toEqual([whole, cut, cut]);
    await played.play([...opened, run(dayMs, 'false')]);
    played.nowMs += 5 * dayMs;
    await played.fold();
    await played.drop();
    expect((await folds()).map(({ freedIds }) => freedIds)).toEqual([undefined, [first.deliveryId], undefined]);
    expect((await folds()).at(-1)?.state.deliveriesLeft).toBeUndefined();
    expect(await typesOf(first)).toEqual(cut);
  });

  it('wait for one that has not ended, and for the runs of the day', async () => {
    await played.play([run(hourMs, 'false'), run(5 * dayMs, 'false')]);
    await played.fold({ keepRunsDays: 0, keepDeliveriesDays: 1 });
    expect(await folds()).toEqual([]);
    const [shown] = await deliveriesOf();
    if (shown === undefined) throw new Error('there is no delivery');
    const open = { ...shown, finishedAt: null, dueAt: shown.createdAt };
    const write = { id: shown.id, revision: Number.MAX_SAFE_INTEGER, document: open };
    await played.readStore.save(deliveriesView, [write], null);
    await foldOldDays(played.deps());
    expect(await folds()).toEqual([]);
    await played.project();
    await foldOldDays(played.deps());
    expect(await folds()).toHaveLength(1);
  });

  it('stand in the archive, with every event', async () => {
    const archiveDir = mkdtempSync(join(tmpdir(), 'meerkat-archive-'));
    try {
      await played.play([run(hourMs, 'false'), run(hourMs, 'false'), run(5 * dayMs, 'false')]);
      await played.fold({ archiveDir });
      await played.drop();
      const archived = { taskId: playedTaskId, day: '2026-10-01', kind: 'deliveries' } as const;
      const lines = await Array.fromAsync(archivedLines(archiveDir, archived));
      expect(lines.map((line) => (JSON.parse(line) as RecordedEvent).type)).toEqual([...whole, ...whole]);
      expect((await folds())[0]?.events).toMatchObject({ count: 6, archived: true });
    } finally {
      rmSync(archiveDir, { recursive: true });
    }
  });
});
