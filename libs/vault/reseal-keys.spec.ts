/** Keys of owners under another secret key, with a cut at every write on the way. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { beginIntegrity, findFaults, readIntegrityRecord, recordKeys } from '#eventing/integrity';
import { readKeyRing, rotationOf } from '#eventing/key-ring';
import { createEventChain } from '#event-store/event-chain';
import type { EventArchive } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createContentEraser } from './content-eraser.js';
import { createOwnerKeys, vaultStream } from './owner-keys.js';
import { resealOwnerKeys } from './reseal-keys.js';
import { createSealedEvents } from './sealed-events.js';

const at = '2026-11-01T00:00:00.000Z';
const [first, second, third] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)] as const;
const owners = ['ntf_1', 'ntf_2', 'ntf_3'];
const anEvent = (text: string) => ({
  id: crypto.randomUUID(),
  type: 'task.created',
  version: 1,
  data: { text },
  metadata: { organizationId: 'org_1', actor: 'key:1', requestId: 'req_1', causationId: null, at },
});

describe('keys of owners, once the secret key is another one,', () => {
  let folder: string;
  let store: EventArchive;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-reseal-'));
    await open(first);
    await beginIntegrity(store, createEventChain(first), at);
    const events = createSealedEvents(store, createOwnerKeys(store, first));
    for (const owner of owners) await events.append(`task-${owner}`, [anEvent(`of ${owner}`)], 'none');
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(key: Uint8Array): Promise<void> {
    store = createSqliteEventStore(join(folder, 'events.db'), { secretKey: key });
  }
  async function rotate(next: Uint8Array, old: Uint8Array): Promise<void> {
    await store.close();
    await open(next);
    await recordKeys(store, rotationOf(next, old), at);
  }
  const ringOf = (key: Uint8Array) => readKeyRing(store.stored, key);
  const faults = async (key: Uint8Array): Promise<string[]> => {
    const record = await readIntegrityRecord(store.stored, key);
    const search = { after: null, end: (await store.lastPosition()) ?? 0 };
    return Array.fromAsync(
      findFaults(store.stored, record, search),
      ({ what, event }) => `${what} ${event.stream}@${event.revision}`,
    );
  };
  const texts = async (key: Uint8Array): Promise<unknown[]> => {
    const events = createSealedEvents(store, createOwnerKeys(store, await ringOf(key)));
    const found = await Promise.all(owners.map((owner) => events.readLast(`task-${owner}`)));
    return found.map((event) => event?.data['text']);
  };
  /** As an engine that is gone before its n-th write. */
  const brokenAt = (writes: number): EventArchive => {
    let left = writes;
    const orBroken = <Result>(write: () => Promise<Result>): Promise<Result> => {
      left -= 1;
      return left < 0 ? Promise.reject(new Error('killed')) : write();
    };
    return {
      ...store,
      append: (...args) => orBroken(() => store.append(...args)),
      erase: (...args) => orBroken(() => store.erase(...args)),
    };
  };
  const wrappedIn = async (): Promise<string[]> => {
    const found = await Promise.all(owners.map((owner) => store.stored.at(vaultStream(owner), 0)));
    return found.map((event) => String((JSON.parse(event?.data ?? '{}') as { wrapped?: string }).wrapped));
  };

  it('open what they have sealed, at whatever write it is cut off, and every MAC holds', async () => {
    await rotate(second, first);
    for (let writes = 0, isDone = false; !isDone; writes += 1) {
      isDone = await resealOwnerKeys(brokenAt(writes), await ringOf(second)).then(
        () => true,
        () => false,
      );
      expect([writes, await texts(second), await faults(second)]).toEqual([
        writes,
        owners.map((owner) => `of ${owner}`),
        [],
      ]);
    }
    expect(await resealOwnerKeys(store, await ringOf(second))).toEqual({ resealed: 0, owners: 3 });
  });

  it('are in no file any more as the key before had sealed them', async () => {
    const old = await wrappedIn();
    await rotate(second, first);
    await resealOwnerKeys(store, await ringOf(second));
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      expect([name, old.filter((wrapped) => bytes.includes(wrapped))]).toEqual([name, []]);
    }
  });

  it('are sealed with the newest of three, and a key before it opens nothing', async () => {
    await rotate(second, first);
    await rotate(third, second);
    const ring = await ringOf(third);
    expect([ring.first, ring.former.map(({ key }) => key), ring.isSettled]).toEqual([first, [second, first], false]);
    await resealOwnerKeys(store, ring);
    await recordKeys(store, { type: 'integrity.resealed', data: { keyId: createEventChain(third).keyId } }, at);
    expect((await ringOf(third)).isSettled).toBe(true);
    expect(await texts(third)).toEqual(owners.map((owner) => `of ${owner}`));
    for (const key of [first, second, Buffer.alloc(32, 9)]) await expect(ringOf(key)).rejects.toThrow('SECRET_KEY');
    for (const key of [first, second]) {
      const events = createSealedEvents(store, createOwnerKeys(store, key));
      await expect(events.readLast('task-ntf_1')).rejects.toMatchObject({ reason: 'secret_unreadable' });
    }
  });

  it('are dropped by a purge all the same', async () => {
    await rotate(second, first);
    await resealOwnerKeys(store, await ringOf(second));
    const keys = createOwnerKeys(store, await ringOf(second));
    await createSealedEvents(store, keys).append('task-ntf_1', [{ ...anEvent(''), type: 'task.purged', data: {} }], 0);
    await createContentEraser(store, keys).erase('ntf_1');
    expect(
      await Array.fromAsync(createSealedEvents(store, createOwnerKeys(store, await ringOf(second))).read('task-ntf_1')),
    ).toMatchObject([{ type: 'task.purged' }]);
    expect(await faults(second)).toEqual([]);
  });

  it('does not let who has the key before sign what comes after', async () => {
    await rotate(second, first);
    await store.close();
    await open(first);
    await store.append('task-ntf_9', [anEvent('forged')], 'none');
    expect(await faults(second)).toEqual(['altered task-ntf_9@0']);
  });
});
