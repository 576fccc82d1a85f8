/** The audit made of the stored events alone, beside a server or without one: entries to export, and the state at a time. */
import type { KeyObject } from 'node:crypto';
import { sleep } from '#concurrency/sleep';
import { chainStart, type ChainHead } from '#contracts/audit';
import { memberDocument } from '#contracts/member';
import { taskFold, taskStream, type Task } from '#contracts/task';
import { isAudited } from '#eventing/verify-audit';
import type { KeyRing } from '#eventing/key-ring';
import type { StoredEvent, StoredHistory } from '#event-store/event-chain';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import type { Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import type { Json, JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import { openSealed } from '#vault/open-sealed';
import { createOwnerKeyWrapper, unwrapOwnerKey, vaultStream } from '#vault/owner-keys';
import { isErased, openEventData, sealedFor } from '#vault/sealed-events';
import type { Vault } from '#vault/vault';
import { auditDocumentOf, masked, taskAfter } from '../accounts/audit/entry.js';
import { openEmail } from '../accounts/member-email.js';
import type { ExportedEntry } from './cli/product.js';
import { keyRingAt, openHistory, type OpenHistory } from './composition.js';
import { secretKeyOf } from './audit.js';
import { keptViews } from './projections.js';

const parsed = ({ mac: _mac, data, metadata, ...event }: StoredEvent): RecordedEvent => ({
  ...event,
  data: JSON.parse(data) as JsonObject,
  metadata: JSON.parse(metadata) as EventMetadata,
});

interface ReadEvent {
  readonly stored: RecordedEvent;
  /** `isPurged` where nobody can read it any more. */
  readonly opened: RecordedEvent;
}

/** Keys of owners as they are now, wherever in the log what they open stands; null: it was dropped. */
function createKeyFinder(history: StoredHistory, keyRing: KeyRing): (owner: string) => Promise<KeyObject | null> {
  const keys = new Map<string, KeyObject | null>();
  const wrapper = createOwnerKeyWrapper(keyRing);
  const find = async (owner: string): Promise<KeyObject | null> => {
    const stream = vaultStream(owner);
    let last: StoredEvent | null = null;
    for (let revision = (await history.beginning(stream))?.revision ?? 0; ; revision += 1) {
      const event = await history.at(stream, revision);
      if (event === null) break;
      last = event;
    }
    const wrapped = last === null ? undefined : (JSON.parse(last.data) as JsonObject)['wrapped'];
    return typeof wrapped === 'string' ? unwrapOwnerKey(wrapper, wrapped, owner) : null;
  };
  return async (owner) => {
    const known = keys.get(owner);
    if (known !== undefined) return known;
    const found = await find(owner);
    keys.set(owner, found);
    return found;
  };
}

interface Reading {
  /** Goes on as events come, until the signal. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

interface ReadBatch {
  readonly events: readonly ReadEvent[];
  /** Of what there is for now. */
  readonly isEnd: boolean;
}

const lookEveryMs = 500;
const once: Reading = { follow: false, signal: new AbortController().signal };

interface OpenLog extends OpenHistory {
  readonly keyOf: ReturnType<typeof createKeyFinder>;
}

async function openLog(config: Config): Promise<OpenLog> {
  const opened = await openHistory(config, silentLogger);
  try {
    const keyRing = await keyRingAt(opened.history, secretKeyOf(config));
    return { ...opened, keyOf: createKeyFinder(opened.history, keyRing) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Every event in order, opened. */
async function* eventsOf(
  { history, newest, keyOf }: OpenLog,
  { follow, signal }: Reading = once,
): AsyncGenerator<ReadBatch> {
  const opened = async (row: StoredEvent): Promise<ReadEvent> => {
    const stored = parsed(row);
    const sealed = sealedFor(stored);
    const key = sealed === null ? null : await keyOf(sealed);
    const isGone = isErased(stored) || (sealed !== null && key === null);
    if (isGone) return { stored, opened: { ...stored, data: {}, isPurged: true } };
    return { stored, opened: key === null ? stored : { ...stored, data: openEventData(key, stored) } };
  };
  for (let after: number | null = null; ;) {
    const end = await newest();
    if (end !== null && end !== after) {
      for await (const rows of history.read(after, end)) {
        const events: ReadEvent[] = [];
        for (const row of rows) events.push(await opened(row));
        yield { events, isEnd: false };
        if (signal.aborted) return;
      }
      after = end;
    }
    yield { events: [], isEnd: true };
    if (!follow) return;
    await sleep(lookEveryMs, signal);
    if (signal.aborted) return;
  }
}

/** Entries as `GET /api/audit` has them, oldest first; `isEnd` where there are no more for now. */
export async function* auditEntriesOf(
  config: Config,
  reading: Reading = once,
): AsyncGenerator<{ readonly entries: readonly ExportedEntry[]; readonly isEnd: boolean }> {
  const heads = new Map<string, ChainHead>();
  const tasks = new Map<string, Task>();
  const entryOf = ({ stored, opened }: ReadEvent): ExportedEntry => {
    const { organizationId } = stored.metadata;
    const isTask = stored.stream.startsWith(taskStream(''));
    const before = isTask ? (tasks.get(stored.stream) ?? taskFold.initial) : null;
    const document = auditDocumentOf({ stored, opened, before }, heads.get(organizationId) ?? chainStart);
    heads.set(organizationId, document);
    if (before !== null && opened.isPurged !== true) tasks.set(stored.stream, taskAfter(before, opened));
    const { stream: _stream, streamRevision: _revision, position: _position, ...entry } = document;
    return entry;
  };
  const log = await openLog(config);
  try {
    for await (const { events, isEnd } of eventsOf(log, reading)) {
      yield { entries: events.filter(({ stored }) => isAudited(stored)).map(entryOf), isEnd };
    }
  } finally {
    await log.close();
  }
}

const viewsOfIds: Readonly<Record<string, string>> = { ntf: 'tasks', key: 'keys', usr: 'members' };

type KeptView = (typeof keptViews)[number];

async function eventsUntil(log: OpenLog, view: KeptView, id: string, until: string): Promise<readonly RecordedEvent[]> {
  const isTask = id.startsWith('ntf_');
  const events: RecordedEvent[] = [];
  for await (const { events: read } of eventsOf(log)) {
    for (const { opened } of read) {
      const isAbout = view.isFedBy(opened.stream) && (!isTask || opened.stream.endsWith(id));
      if (isAbout && opened.isPurged !== true && opened.metadata.at <= until) events.push(opened);
    }
  }
  return events;
}

/** Who has the key of the installation may know who a member was: nothing else tells it once they are removed. */
async function memberShown({ keyOf }: OpenLog, state: JsonObject): Promise<Json> {
  const { id, organizationId, email } = memberDocument.parse(state);
  const open: Vault['open'] = async (owner, scope, value) => {
    const key = await keyOf(owner);
    return key === null ? { email: secretMask } : openSealed(key, owner, scope, value);
  };
  return { ...(masked(state, false) as JsonObject), email: await openEmail({ open }, organizationId, id, email) };
}

/** The state of a task, key or member at that time, from the events alone; null: it was not there. */
export async function stateAt(config: Config, id: string, until: string): Promise<Json> {
  const view = keptViews.find(({ name }) => name === viewsOfIds[id.slice(0, 3)]);
  if (view === undefined) return null;
  const log = await openLog(config);
  try {
    const documents = [...view.replay(await eventsUntil(log, view, id, until)).values()] as JsonObject[];
    const state = documents.find((document) => document['id'] === id);
    if (state === undefined) return null;
    return id.startsWith('usr_') ? await memberShown(log, state) : masked(state, id.startsWith('ntf_'));
  } finally {
    await log.close();
  }
}
