/**
 * Erases what the events of a task hold: its key goes, and with it all that was sealed; what older versions stored in clear goes
 * where it stands. That it is gone is on record beforehand, with a digest of what stands there afterwards, so that the MACs of
 * everything else hold and a kill in between leaves no fault.
 */
import { taskStream } from '#contracts/task';
import type { VaultEvent } from '#contracts/vault';
import { encodeEvent } from '#eventing/codec';
import { acceptFaults } from '#eventing/integrity';
import { erasedData, isErasedData, type StoredEvent } from '#event-store/event-chain';
import type { EventArchive } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { EventFault } from '#event-store/verify-events';
import { unavailable } from '#runtime/errors';
import { isJsonObject } from '#runtime/json';
import { vaultMetadata, vaultStream, type OwnerKeys } from './owner-keys.js';

export interface ContentEraser {
  /** Nobody can read any more what events of the task hold when it resolves; the same again changes nothing. */
  erase(taskId: string): Promise<void>;
}

/** Of all of a task, wherever it stands. */
export interface ContentPurger {
  /** `position`: of the event that says that the task is purged. Rejects where it is not done yet: it is asked for again. */
  purge(taskId: string, position: number): Promise<void>;
}

export const CONTENT_PURGER = Symbol('ContentPurger');

const isSealedText = (data: string): boolean => data.startsWith('{"$sealed":');
const attempts = 20;

export function createContentEraser(store: EventArchive, keys: Pick<OwnerKeys, 'notePurged'>): ContentEraser {
  /** The events at the beginning of a stream that are to be erased. */
  const beginning = async (stream: string, until: (event: StoredEvent) => boolean): Promise<StoredEvent[]> => {
    const found: StoredEvent[] = [];
    for await (const { revision } of store.read(stream)) {
      const event = await store.stored.at(stream, revision);
      if (event === null || until(event)) break;
      found.push(event);
    }
    return found;
  };

  const eraseBeginning = async (stream: string, until: (event: StoredEvent) => boolean): Promise<void> => {
    const events = await beginning(stream, until);
    const last = events.at(-1);
    const left = events.filter(({ data }) => !isErasedData(data));
    if (last === undefined || left.length === 0) return;
    // An engine that cuts them off keeps a signed beginning of what is left.
    if (store.stored.hasDensePositions) {
      const erased = left.map((event): EventFault => ({
        what: 'altered',
        event: { ...event, data: erasedData(event.data) },
      }));
      await acceptFaults(store, erased, new Date().toISOString(), 'integrity.erased');
    }
    await store.erase(stream, last.revision);
  };

  /** The key's own event is not the last of its stream: an engine may keep the last one. */
  const dropKey = async (taskId: string): Promise<void> => {
    const stream = vaultStream(taskId);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const last = await store.readLast(stream);
      if (last === null || last.type === 'vault.key_dropped') break;
      const id = crypto.randomUUID();
      const dropped: VaultEvent = { type: 'vault.key_dropped', data: {} };
      const appended = await store.append(stream, [encodeEvent(dropped, id, vaultMetadata(id))], last.revision);
      if (appended.ok) break;
      if (attempt === attempts - 1) throw unavailable('too_many_writers', `The key of ${taskId} could not be dropped.`);
    }
    await eraseBeginning(stream, ({ type }) => type === 'vault.key_dropped');
    keys.notePurged(taskId);
  };

  /** Deliveries whose requests stand in clear: of versions that sealed none. */
  const clearDeliveries = async (taskId: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { events } of readThrough(
      { subscribe: (subscription) => store.subscribe({ ...subscription, prefixes: ['dlv-'] }) },
      { end: await store.lastPosition() },
    )) {
      for (const { stream, revision, data } of events) {
        const { request } = data;
        if (revision === 0 && isJsonObject(request) && request['taskId'] === taskId) found.push(stream);
      }
    }
    return found;
  };

  return {
    async erase(taskId) {
      const isClear = (event: StoredEvent): boolean => !isSealedText(event.data) && event.type !== 'task.purged';
      const first = await store.stored.at(taskStream(taskId), 0);
      const isOld = first !== null && isClear(first);
      const deliveries = isOld ? await clearDeliveries(taskId) : [];
      await dropKey(taskId);
      for (const stream of [...deliveries, ...['run-', 'stats-', 'task-'].map((kind) => `${kind}${taskId}`)]) {
        await eraseBeginning(stream, (event) => !isClear(event));
      }
    },
  };
}
