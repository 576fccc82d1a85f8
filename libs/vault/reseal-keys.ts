/** Seals the keys of owners with the secret key that is set, and takes out what those before it had sealed of them. */
import type { VaultEvent } from '#contracts/vault';
import { decodeEvent, encodeEvent } from '#eventing/codec';
import { acceptFaults } from '#eventing/integrity';
import type { KeyRing } from '#eventing/key-ring';
import { erasedData, isErasedData } from '#event-store/event-chain';
import type { EventArchive, RecordedEvent } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { EventFault } from '#event-store/verify-events';
import { unavailable } from '#runtime/errors';
import { createOwnerKeyWrapper, vaultMetadata, vaultStreamPrefix, type OwnerKeyWrapper } from './owner-keys.js';

/** Put on record and erased together. */
const ownersAtOnce = 200;

export interface ResealedKeys {
  /** Keys that were sealed with a former one. */
  readonly resealed: number;
  readonly owners: number;
}

/** Streams in which something is sealed with a former key. */
async function* formerlySealed(
  store: EventArchive,
  wrapper: OwnerKeyWrapper,
  progress: (share: number) => void,
): AsyncGenerator<{ readonly stream: string; readonly isFormer: boolean }> {
  const end = await store.lastPosition();
  const vaults = {
    subscribe: (subscription: Parameters<EventArchive['subscribe']>[0]) =>
      store.subscribe({ ...subscription, prefixes: [vaultStreamPrefix] }),
  };
  for await (const { events, position } of readThrough(vaults, { end })) {
    for (const { stream, data } of events) {
      const { wrapped } = data;
      if (typeof wrapped !== 'string') continue;
      yield { stream, isFormer: !wrapper.unwrap(wrapped, stream.slice(vaultStreamPrefix.length)).isCurrent };
    }
    progress(end === null || end === 0 ? 1 : position / end);
  }
}

/** What is sealed with the current key stands last; null: the owner's key was dropped. */
async function resealOne(store: EventArchive, wrapper: OwnerKeyWrapper, stream: string): Promise<number | null> {
  const owner = stream.slice(vaultStreamPrefix.length);
  const last: RecordedEvent | null = await store.readLast(stream);
  if (last === null) return null;
  const event = decodeEvent<VaultEvent>(last);
  if (event.type === 'vault.key_dropped') return null;
  const { bytes, isCurrent } = wrapper.unwrap(event.data.wrapped, owner);
  if (isCurrent) return last.revision;
  const made: VaultEvent = { type: 'vault.key_made', data: { wrapped: wrapper.wrap(bytes, owner) } };
  const id = crypto.randomUUID();
  const appended = await store.append(stream, [encodeEvent(made, id, vaultMetadata(id))], last.revision);
  if (appended.ok) return appended.revision;
  throw unavailable('too_many_writers', `Another process writes ${stream}; stop all of them, and run it again.`);
}

/** As of a purge: that it is gone is on record first, so that a kill in between leaves no fault. */
async function takeOut(store: EventArchive, until: ReadonlyMap<string, number>): Promise<void> {
  const erased: EventFault[] = [];
  for (const [stream, end] of until) {
    for (let revision = (await store.stored.beginning(stream))?.revision ?? 0; revision < end; revision += 1) {
      const event = await store.stored.at(stream, revision);
      if (event === null || isErasedData(event.data)) continue;
      erased.push({ what: 'altered', event: { ...event, data: erasedData(event.data) } });
    }
  }
  if (store.stored.hasDensePositions && erased.length > 0) {
    await acceptFaults(store, erased, new Date().toISOString(), 'integrity.erased');
  }
  for (const [stream, end] of until) if (end > 0) await store.erase(stream, end - 1);
}

/** The same again goes on where it was cut off. The events that owners' keys open stay as they are. */
export async function resealOwnerKeys(
  store: EventArchive,
  keyRing: KeyRing,
  progress: (share: number) => void = () => undefined,
): Promise<ResealedKeys> {
  const wrapper = createOwnerKeyWrapper(keyRing);
  let waiting = new Map<string, number>();
  const owners = new Set<string>();
  let resealed = 0;
  const settle = async (): Promise<void> => {
    const some = waiting;
    waiting = new Map();
    await takeOut(store, some);
  };
  for await (const { stream, isFormer } of formerlySealed(store, wrapper, progress)) {
    owners.add(stream);
    if (!isFormer || waiting.has(stream)) continue;
    const revision = await resealOne(store, wrapper, stream);
    if (revision === null) continue;
    resealed += 1;
    waiting.set(stream, revision);
    if (waiting.size >= ownersAtOnce) await settle();
  }
  await settle();
  return { resealed, owners: owners.size };
}
