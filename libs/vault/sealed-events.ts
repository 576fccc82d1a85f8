/**
 * The event store that services see: what the events of a task hold is sealed with the task's key before it is stored, and
 * opened when it is read. Type, revision, time and who did it stay in clear, so that MACs, the audit and operators need no key.
 * Once the key is dropped the events are still there, in their order, and nobody can read them.
 */
import type { KeyObject } from 'node:crypto';
import { createLru } from '#concurrency/lru';
import { taskStream } from '#contracts/task';
import { isDropped } from '#event-store/dropped-events';
import type { EventStore, NewEvent, RecordedEvent } from '#event-store/event-store';
import { AppError } from '#runtime/errors';
import { isJsonObject, type JsonObject } from '#runtime/json';
import { packJson, unpackJson } from '#runtime/packed-json';
import { decrypt, encrypt } from '#runtime/cipher';
import type { OwnerKeys } from './owner-keys.js';

/** Streams named after the task, with what its users wrote and what its pages said. Its slots hold neither. */
const taskKinds = ['task-', 'run-', 'stats-'] as const;
const deliveryKind = 'dlv-';
/** It says that the key is gone, to readers who have none. */
const clearTypes: ReadonlySet<string> = new Set(['task.purged']);
const ownersKept = 20_000;

/** Of an event that is sealed: who it is opened for, where the stream's name does not tell. */
interface SealedData extends JsonObject {
  readonly $sealed: string;
  readonly owner?: string;
}

const isSealedData = (data: JsonObject): data is SealedData => typeof data['$sealed'] === 'string';

function ownerByName(stream: string): string | null {
  const kind = taskKinds.find((prefix) => stream.startsWith(prefix));
  return kind === undefined ? null : stream.slice(kind.length);
}

/** The task that a delivery belongs to, by its first event. */
function ownerOfRequest(data: JsonObject): string | null {
  if (typeof data['owner'] === 'string') return data['owner'];
  const { request } = data;
  return isJsonObject(request) && typeof request['taskId'] === 'string' ? request['taskId'] : null;
}

const boundTo = ({ id }: Pick<NewEvent, 'id'>, stream: string): string => `event|${stream}|${id.toLowerCase()}`;

/** What is packed says by its place what the stream is about. */
const knownIn = (stream: string): readonly string[] => [stream.slice(stream.indexOf('-') + 1)];

export function unreadable(event: Pick<RecordedEvent, 'stream' | 'revision'>, cause?: unknown): AppError {
  return new AppError(
    'SERVER_ERROR',
    'secret_unreadable',
    `${event.stream}@${event.revision} cannot be opened: its key is gone or it was changed.`,
    { cause },
  );
}

export function openEventData(
  key: KeyObject,
  event: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'data'>,
): JsonObject {
  try {
    const { $sealed } = event.data as SealedData;
    return unpackJson(decrypt(key, $sealed, boundTo(event, event.stream)), knownIn(event.stream)) as JsonObject;
  } catch (error) {
    throw unreadable(event, error);
  }
}

/** Who has the key of an event as it is stored; null: it is in clear. */
export function sealedFor({ stream, data }: Pick<RecordedEvent, 'stream' | 'data'>): string | null {
  if (!isSealedData(data)) return null;
  return ownerByName(stream) ?? data.owner ?? null;
}

/** Its data was erased where it stands. */
export const isErased = ({ data }: Pick<RecordedEvent, 'data'>): boolean => typeof data['$erased'] === 'string';

/** What is still known of an event whose contents are gone: that the task was archived, so that what derives from it goes too. */
export function afterPurge({ type }: Pick<RecordedEvent, 'type'>): JsonObject | null {
  return type === 'task.archived' ? { externalKey: null } : null;
}

export interface EventOpener {
  /** Those that are gone for good are left out, or come without data. */
  open(events: readonly RecordedEvent[], includesPurged?: boolean): Promise<RecordedEvent[]>;
  /** What was sealed is known without being opened, for as long as a store keeps the event in memory. */
  remember(sealed: JsonObject, data: JsonObject): void;
}

export const EVENT_OPENER = Symbol('EventOpener');

export function createEventOpener(keys: Pick<OwnerKeys, 'known' | 'find' | 'isPurged' | 'notePurged'>): EventOpener {
  const opened = new WeakMap<JsonObject, JsonObject>();

  const openWith = (key: KeyObject, event: RecordedEvent): RecordedEvent => {
    const known = opened.get(event.data);
    const data = known ?? openEventData(key, event);
    if (known === undefined) opened.set(event.data, data);
    return { ...event, data };
  };

  const openOne = async (event: RecordedEvent, owner: string): Promise<RecordedEvent | null> => {
    const key = await keys.find(owner);
    if (key !== null) return openWith(key, event);
    if (await keys.isPurged(owner)) return null;
    throw unreadable(event);
  };

  const tryOpen = (event: RecordedEvent): RecordedEvent | null | Promise<RecordedEvent | null> => {
    if (isErased(event)) return null;
    const owner = sealedFor(event);
    if (owner === null) {
      if (event.type === 'task.purged') keys.notePurged(event.stream.slice(taskStream('').length));
      return event;
    }
    // Nearly always without waiting, which would cost more than the cipher.
    const key = keys.known(owner);
    return key === undefined ? openOne(event, owner) : openWith(key, event);
  };

  return {
    async open(events, includesPurged = false) {
      const found: RecordedEvent[] = [];
      for (const event of events) {
        if (isDropped(event)) continue;
        const tried = tryOpen(event);
        const one = tried instanceof Promise ? await tried : tried;
        const left = one === null && !includesPurged ? afterPurge(event) : null;
        if (one !== null) found.push(one);
        else if (includesPurged) found.push({ ...event, data: {}, isPurged: true });
        else if (left !== null) found.push({ ...event, data: left });
      }
      return found;
    },
    remember: (sealed, data) => void opened.set(sealed, data),
  };
}

export function createSealedEvents(
  stored: EventStore,
  keys: OwnerKeys,
  opener: EventOpener = createEventOpener(keys),
): EventStore {
  const owners = createLru<string, string>(ownersKept);

  const ownerOfDelivery = async (stream: string, [first]: readonly NewEvent[]): Promise<string | null> => {
    const known = owners.get(stream) ?? (first === undefined ? null : ownerOfRequest(first.data));
    if (known !== null) {
      owners.set(stream, known);
      return known;
    }
    for await (const event of stored.read(stream)) {
      const found = ownerOfRequest(event.data);
      if (found !== null) owners.set(stream, found);
      return found;
    }
    return null;
  };

  const seal = (events: readonly NewEvent[], stream: string, owner: string, key: KeyObject): NewEvent[] =>
    events.map((event) => {
      if (clearTypes.has(event.type)) return event;
      // What is sealed cannot be made smaller any more.
      const $sealed = encrypt(key, packJson(event.data, knownIn(stream)), boundTo(event, stream));
      const data: JsonObject = stream.startsWith(deliveryKind) ? { $sealed, owner } : { $sealed };
      opener.remember(data, event.data);
      return { ...event, data };
    });

  return {
    ...stored,

    async append(stream, events, expected) {
      const owner = stream.startsWith(deliveryKind) ? await ownerOfDelivery(stream, events) : ownerByName(stream);
      const needsKey = owner !== null && events.some(({ type }) => !clearTypes.has(type));
      if (!needsKey) return stored.append(stream, events, expected);
      const key = keys.known(owner) ?? (await keys.make(owner));
      return stored.append(stream, seal(events, stream, owner, key), expected);
    },

    async *read(stream, fromRevision, { includesPurged = false } = {}) {
      for await (const event of stored.read(stream, fromRevision)) yield* await opener.open([event], includesPurged);
    },

    async readLast(stream) {
      const last = await stored.readLast(stream);
      const [event] = last === null ? [] : await opener.open([last]);
      return event ?? null;
    },

    async *subscribe(subscription) {
      for await (const { events, position } of stored.subscribe(subscription)) {
        yield { events: await opener.open(events, subscription.includesPurged), position };
      }
    },
  };
}
