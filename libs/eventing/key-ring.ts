/**
 * The installation's secret keys: the one that is set, and those before it, each on record sealed with the one that followed. So
 * who has the newest opens and checks everything, and who has an older one nothing that came after it.
 */
import { createSecretKey } from 'node:crypto';
import { integrityEvents, integrityStream, type IntegrityEvent } from '#contracts/integrity';
import { createEventChain, type StoredEvent, type StoredHistory } from '#event-store/event-chain';
import { decrypt, encrypt } from '#runtime/cipher';

/** The events were signed and sealed with another key: nothing can be checked or opened with this one. */
export class OtherSecretKey extends Error {
  constructor() {
    super(
      'SECRET_KEY: is not the one that the stored events were signed with; set the one that was used before, or, where ' +
        '`meerkat secret-key rotate` has changed it, the new one (where that was cut off, run it again).',
    );
    this.name = 'OtherSecretKey';
  }
}

export interface FormerKey {
  readonly key: Uint8Array;
  /** The position of the event that a newer one signs from. */
  readonly until: number;
}

export interface KeyRing {
  /** What is new is signed and sealed with it. */
  readonly current: Uint8Array;
  /** Newest first. */
  readonly former: readonly FormerKey[];
  /** Of the installation: what must never change is derived from it. */
  readonly first: Uint8Array;
  /** Nothing is sealed with a former one. */
  readonly isSettled: boolean;
}

const [begun, , , rotated, resealed] = integrityEvents;
const boundTo = (keyId: string): string => `secret key before ${keyId}`;

export const keyIdOf = (key: Uint8Array): string => createEventChain(key).keyId;

export function rotationOf(next: Uint8Array, previous: Uint8Array): IntegrityEvent {
  const keyId = keyIdOf(next);
  const sealed = encrypt(createSecretKey(next), previous, boundTo(keyId));
  return { type: 'integrity.rotated', data: { keyId, previous: sealed } };
}

/** The record of the MACs as it is stored. */
export async function* storedRecord(history: Pick<StoredHistory, 'at'>): AsyncGenerator<StoredEvent> {
  for (let revision = 0; ; revision += 1) {
    const event = await history.at(integrityStream, revision);
    if (event === null) return;
    yield event;
  }
}

/** The key that signs now, by its id; null: none does yet. It is told without any key. */
export async function newestKeyId(history: Pick<StoredHistory, 'at'>): Promise<string | null> {
  let keyId: string | null = null;
  for await (const { type, data } of storedRecord(history)) {
    if (type === rotated.type) keyId = rotated.schema.safeParse(JSON.parse(data)).data?.keyId ?? keyId;
    else if (type === begun.type) keyId ??= begun.schema.safeParse(JSON.parse(data)).data?.keyId ?? null;
  }
  return keyId;
}

function previousOf(key: Uint8Array, { data }: StoredEvent): Uint8Array {
  const rotation = rotated.schema.safeParse(JSON.parse(data)).data;
  if (rotation?.keyId !== keyIdOf(key)) throw new OtherSecretKey();
  try {
    return decrypt(createSecretKey(key), rotation.previous, boundTo(rotation.keyId));
  } catch {
    throw new OtherSecretKey();
  }
}

/** `record`: of the MACs, oldest first. Throws `OtherSecretKey` where the key is not the newest. */
export function keyRingOf(record: readonly StoredEvent[], current: Uint8Array): KeyRing {
  const former: FormerKey[] = [];
  let key = current;
  for (const event of record.toReversed()) {
    if (event.type !== rotated.type) continue;
    key = previousOf(key, event);
    former.push({ key, until: event.position });
  }
  const beginning = record.find(({ type }) => type === begun.type);
  if (beginning !== undefined) {
    const { keyId } = begun.schema.safeParse(JSON.parse(beginning.data)).data ?? {};
    if (keyId !== keyIdOf(key)) throw new OtherSecretKey();
  }
  const settled = record.findLast(({ type }) => type === resealed.type);
  const { keyId } = resealed.schema.safeParse(settled === undefined ? null : JSON.parse(settled.data)).data ?? {};
  return { current, former, first: key, isSettled: former.length === 0 || keyId === keyIdOf(current) };
}

/** Rejects with `OtherSecretKey`. */
export async function readKeyRing(history: Pick<StoredHistory, 'at'>, current: Uint8Array): Promise<KeyRing> {
  return keyRingOf(await Array.fromAsync(storedRecord(history)), current);
}
