/** Opens the sealed events of a history that is read in one go, as when views are built: without waiting for a key. */
import type { KeyObject } from 'node:crypto';
import { createLru } from '#concurrency/lru';
import { taskStream } from '#contracts/task';
import type { FindLast, HistoricData, OpenHistoric } from '#event-store/historic-event';
import { createOwnerKeyWrapper, unwrapOwnerKey, vaultStream, type MasterKeys } from './owner-keys.js';
import { afterPurge, isErased, openEventData, sealedFor, unreadable } from './sealed-events.js';

const cachedKeys = 10_000;

/** null: nothing can be opened, and a sealed event is a fault. */
export function createHistoryOpener(masterKeys: MasterKeys | null): OpenHistoric {
  const wrapper = masterKeys === null ? null : createOwnerKeyWrapper(masterKeys);
  /** null: dropped. */
  const keys = createLru<string, { readonly key: KeyObject | null }>(cachedKeys);

  const findKey = (owner: string, event: HistoricData, findLast: FindLast): KeyObject | null => {
    if (findLast(taskStream(owner))?.type === 'task.purged') return null;
    const wrapped = findLast(vaultStream(owner))?.data['wrapped'];
    if (wrapper === null || typeof wrapped !== 'string') throw unreadable(event);
    return unwrapOwnerKey(wrapper, wrapped, owner);
  };

  return (event, findLast) => {
    if (isErased(event)) return afterPurge(event);
    const owner = sealedFor(event);
    if (owner === null) return event.data;
    const known = keys.get(owner) ?? { key: findKey(owner, event, findLast) };
    keys.set(owner, known);
    return known.key === null ? afterPurge(event) : openEventData(known.key, event);
  };
}
