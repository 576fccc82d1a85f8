import { describe, expect, it } from '@jest/globals';
import type { EventBatch, RecordedEvent } from '#event-store/event-store';
import { coalesced, type BatchDelay } from './coalesce.js';

const eventAt = (position: number): RecordedEvent => ({
  stream: 'a-1',
  revision: position,
  position,
  id: String(position),
  type: 'happened',
  version: 1,
  data: {},
  metadata: { organizationId: '', actor: 'system:spec', requestId: '', causationId: null, at: '' },
});
const batchOf = (...positions: readonly number[]): EventBatch => ({
  events: positions.map(eventAt),
  position: positions.at(-1) ?? 0,
});

/** A subscription that hands over the given batches when the test says so. */
function handedOver() {
  const batches: EventBatch[] = [];
  let wake = (): void => undefined;
  return {
    give(batch: EventBatch): void {
      batches.push(batch);
      wake();
    },
    async *subscribe(): AsyncGenerator<EventBatch> {
      for (;;) {
        const next = batches.shift();
        if (next !== undefined) yield next;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

async function nextOf(read: ReturnType<typeof coalesced>): Promise<EventBatch> {
  const { done, value } = await read.next();
  if (done === true) throw new Error('the subscription ended');
  return value;
}

const positionsOf = ({ events }: EventBatch): readonly number[] => events.map(({ position }) => position);
const subscription = () => ({ prefixes: ['a-'], after: null, signal: new AbortController().signal });

describe('a coalesced subscription', () => {
  it('hands over single batches to a reader without a delay', async () => {
    const source = handedOver();
    for (const position of [1, 2, 3]) source.give(batchOf(position));
    const read = coalesced(source, subscription());
    const seen = [await nextOf(read), await nextOf(read), await nextOf(read)];
    expect(seen.map(positionsOf)).toEqual([[1], [2], [3]]);
    source.give(batchOf(4));
    await read.return();
  });

  it('hands over the first batch at once, and then as one batch what arrived during the delay', async () => {
    const source = handedOver();
    const restOnce = [50];
    const rest: BatchDelay = { ms: () => restOnce.pop() ?? 0 };
    const read = coalesced(source, subscription(), rest);
    source.give(batchOf(1));
    expect(positionsOf(await nextOf(read))).toEqual([1]);
    for (const position of [2, 3, 4]) source.give(batchOf(position));
    const together = await nextOf(read);
    expect([positionsOf(together), together.position]).toEqual([[2, 3, 4], 4]);
    for (const position of [5, 6]) source.give(batchOf(position));
    expect(positionsOf(await nextOf(read))).toEqual([5]);
    expect(positionsOf(await nextOf(read))).toEqual([6]);
    source.give(batchOf(7));
    await read.return();
  });

  it('asks for one more batch during the delay and for the others behind it', async () => {
    let pulled = 0;
    const source = {
      async *subscribe(): AsyncGenerator<EventBatch> {
        for (; pulled < 4;) {
          pulled += 1;
          yield batchOf(pulled);
        }
        await new Promise(() => undefined);
      },
    };
    let endDelay = (): void => undefined;
    const restOnce = [2_000_000];
    const rest: BatchDelay = {
      ms: () => restOnce.pop() ?? 0,
      onCut: (end) => {
        endDelay = end;
        return () => undefined;
      },
    };
    const read = coalesced(source, subscription(), rest);
    expect(positionsOf(await nextOf(read))).toEqual([1]);
    const together = nextOf(read);
    await new Promise((resolve) => setImmediate(resolve));
    expect(pulled).toBe(2);
    endDelay();
    expect(positionsOf(await together)).toEqual([2, 3, 4]);
  });

  it('tells the delay how many events the batch had', async () => {
    const source = handedOver();
    const counts: number[] = [];
    const noted: BatchDelay = { ms: (_tookMs, _position, count) => (counts.push(count), 0) };
    const read = coalesced(source, subscription(), noted);
    source.give(batchOf(1, 2, 3));
    source.give(batchOf(4));
    for (let batch = 0; batch < 2; batch += 1) await nextOf(read);
    source.give(batchOf(5));
    await nextOf(read);
    expect(counts).toEqual([3, 1]);
    source.give(batchOf(6));
    await read.return();
  });

  it('hands over a large batch before the delay is over', async () => {
    const source = handedOver();
    const forEver: BatchDelay = { ms: () => 2_000_000 };
    const read = coalesced(source, subscription(), forEver);
    source.give(batchOf(0));
    await nextOf(read);
    for (let batch = 0; batch < 9; batch += 1)
      source.give(batchOf(...Array.from({ length: 100 }, (_, event) => 1 + batch * 100 + event)));
    const many = await nextOf(read);
    expect(many.events.length).toBe(800);
    source.give(batchOf(1_000));
    await read.return();
  });

  it('whose delay says how many events end it collects so many, in however many batches they come', async () => {
    const source = handedOver();
    const patient: BatchDelay = { ms: () => 2_000_000, mostEvents: 1_000 };
    const read = coalesced(source, subscription(), patient);
    source.give(batchOf(0));
    await nextOf(read);
    for (let batch = 0; batch < 11; batch += 1)
      source.give(batchOf(...Array.from({ length: 100 }, (_, event) => 1 + batch * 100 + event)));
    const many = await nextOf(read);
    expect(many.events.length).toBe(1_000);
    source.give(batchOf(2_000));
    await read.return();
  });

  it('hands over what it has as soon as the delay is cut short', async () => {
    const source = handedOver();
    let cut = (): void => undefined;
    const untilCut: BatchDelay = {
      ms: () => 2_000_000,
      onCut(end) {
        cut = end;
        return () => (cut = () => undefined);
      },
    };
    const read = coalesced(source, subscription(), untilCut);
    source.give(batchOf(1));
    await nextOf(read);
    source.give(batchOf(2));
    source.give(batchOf(3));
    const together = nextOf(read);
    await new Promise((resolve) => setImmediate(resolve));
    cut();
    expect(positionsOf(await together)).toEqual([2, 3]);
    source.give(batchOf(4));
    await read.return();
  });
});
