import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kitTimeMs } from '#channels/notification.kit';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { documentAfter } from './delivery-view.js';
import { notificationOf } from './delivery.kit.js';
import { sweepDue } from './sweep.js';

const { signal } = new AbortController();
let readStore: ReadStore;
let found: string[];

beforeEach(() => {
  readStore = createSqliteReadStore(':memory:');
  found = [];
});

afterEach(() => readStore.close());

/** Deliveries that are due one second after another; their ids in that order. */
async function store(count: number): Promise<string[]> {
  const documents = Array.from({ length: count }, (_, index) => {
    const request = notificationOf({ name: `d${index}`, createdMs: kitTimeMs + index * 1_000 });
    return documentAfter(null, { type: 'delivery.requested', data: { request, linkBase: null } });
  }).filter((document): document is DeliveryDocument => document !== null);
  const writes = documents.map((document, index) => ({ id: document.id, revision: index + 1, document }));
  await readStore.save(deliveriesView, writes, count);
  return documents.map(({ id }) => id);
}

async function sweep(untilMs: number, isFull = (): boolean => false): Promise<void> {
  const deps = { readStore, before: () => {}, found: (id: string) => void found.push(id), isFull };
  await sweepDue(deps, new Date(untilMs).toISOString(), signal);
}

describe('a sweep for due deliveries', () => {
  it('finds what is due, page by page, in order of due time', async () => {
    const ids = await store(1_201);
    await sweep(kitTimeMs + 1_199_000);
    expect(found).toEqual(ids.slice(0, 1_200));
  });

  it('ends after the page that fills the queue', async () => {
    const ids = await store(1_001);
    await sweep(kitTimeMs + 10_000_000, () => true);
    expect(found).toEqual(ids.slice(0, 500));
  });
});
