/** The history of one task: each event with what it changed, newest first. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isGone, taskFold, taskStream, type Task, type TaskEvent } from '#contracts/task';
import type { HistoryEntry, HistoryQuery, TaskHistory } from '#contracts/task-history';
import { decodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { notFound } from '#runtime/errors';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { diffPaths, type Change } from '#runtime/json-diff';
import { charactersOf } from '#runtime/json-size';

/** Characters of the entries that are answered whole; of those before them long texts are cut. */
const wholeCharacters = 2_000_000;
const longestShortened = 500;
/** Events that are read before everything else has a turn. */
const eventsATurn = 8;

function settingsOf(task: Task): JsonObject {
  if (task.status === 'none') return {};
  return { ...(task.spec as unknown as JsonObject), status: task.status };
}

function entryOf(recorded: RecordedEvent, event: TaskEvent, changes: readonly Change[]): HistoryEntry {
  const { at, actor, requestId } = recorded.metadata;
  return {
    revision: recorded.revision,
    type: event.type,
    at,
    actor,
    requestId,
    data: event.data as HistoryEntry['data'],
    changes: changes.map(({ path, from = null, to = null }) => ({ path, from, to })) as HistoryEntry['changes'],
  };
}

function shortenTexts(value: Json): Json {
  if (typeof value === 'string') {
    return value.length <= longestShortened
      ? value
      : `${value.slice(0, longestShortened)}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map(shortenTexts);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortenTexts(member)]));
}

/** Entries that come oldest first; only so many characters of them stay whole, so that a page of large ones is no large page. */
class BoundedEntries {
  readonly #entries: HistoryEntry[] = [];
  readonly #sizes: number[] = [];
  #characters = 0;
  /** The first entry that is whole. */
  #whole = 0;

  add(entry: HistoryEntry): void {
    const size = charactersOf(entry);
    this.#entries.push(entry);
    this.#sizes.push(size);
    this.#characters += size;
    while (this.#characters > wholeCharacters && this.#whole < this.#entries.length - 1) this.#shortenOldest();
  }

  newestFirst(): HistoryEntry[] {
    return this.#entries.toReversed();
  }

  #shortenOldest(): void {
    const entry = this.#entries[this.#whole];
    if (entry !== undefined) {
      const texts = shortenTexts({ data: entry.data, changes: entry.changes });
      this.#entries[this.#whole] = { ...entry, ...(texts as Pick<HistoryEntry, 'data' | 'changes'>), shortened: true };
    }
    this.#characters -= this.#sizes[this.#whole] ?? 0;
    this.#whole += 1;
  }
}

export async function historyOf(
  eventStore: EventStore,
  { taskId, before, offset, limit }: HistoryQuery,
  organizationId: string,
): Promise<TaskHistory> {
  const stream = taskStream(taskId);
  const last = await eventStore.readLast(stream);
  if (last === null || last.metadata.organizationId !== organizationId) throw notFound('notification');
  if (isGone(last)) throw notFound('notification');
  const total = last.revision + 1;
  const until = Math.min(before ?? total, total) - offset;
  const from = Math.max(0, until - limit);
  const entries = new BoundedEntries();
  let task = taskFold.initial;
  if (until <= 0) return { entries: [], total };
  for await (const recorded of eventStore.read(stream)) {
    if (recorded.revision >= until) break;
    const event = decodeEvent<TaskEvent>(recorded);
    const after = taskFold.evolve(task, event);
    if (recorded.revision >= from)
      entries.add(entryOf(recorded, event, diffPaths(settingsOf(task), settingsOf(after))));
    task = after;
    if (recorded.revision % eventsATurn === 0) await nextTurn();
  }
  return { entries: entries.newestFirst(), total };
}
