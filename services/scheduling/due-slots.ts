/** The slots of schedules whose shards are held here: found ahead of their time, fired at it, and never twice. */
import { turns } from '#concurrency/turns';
import { backsOff as backsOffBy, isRemembered, runStream, type RunEvent } from '#contracts/run';
import { schedulesView, type ScheduleDocument } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { shardCount, type Shards } from '#leases/leases';
import type { FieldFilter, ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { createCountedLines, type CountedLines } from '#runtime/counted-lines';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { runScheduleCommand } from './change-schedule.js';

export interface DueSlotsDeps {
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the schedules: those of other shards are another process's. */
  readonly shards: Shards;
}

/** How many schedules one look finds at most. */
export const foundAtOnce = 500;
/** A slot that is still found after so long is looked up in the stream again: the view may have been rebuilt. */
const settledForMs = 2_000;

function metadataOf(document: ScheduleDocument, requestId: string, nowMs: number): EventMetadata {
  return {
    organizationId: document.organizationId,
    actor: 'system:scheduling',
    requestId,
    causationId: null,
    at: toTimestamp(nowMs),
  };
}

/** None where all are held; `oneOf` nothing matches nothing. */
export function ofShards(shards: Shards): readonly FieldFilter[] {
  const held = shards.held();
  return held.length === shardCount ? [] : [{ field: 'shard', oneOf: held }];
}

/**
 * What is due by then of the shards held here. Their number is no part of an index, and costs a server more than the documents
 * of others do; only where there are many of those are they left out by the server.
 */
async function findDue({ readStore, shards }: DueSlotsDeps, untilMs: number): Promise<readonly ScheduleDocument[]> {
  const due = async (filters: readonly FieldFilter[]): Promise<readonly ScheduleDocument[]> => {
    const { documents } = await readStore.page(schedulesView, {
      where: [{ field: 'nextDueAt', from: '', to: toTimestamp(untilMs) }, ...filters],
      sort: [{ field: 'nextDueAt', descending: false }],
      limit: foundAtOnce,
      offset: 0,
      count: false,
    });
    return documents;
  };
  const documents = await due([]);
  const held = new Set(shards.held());
  const own = documents.filter(({ shard }) => held.has(shard));
  return own.length < documents.length && documents.length === foundAtOnce ? due(ofShards(shards)) : own;
}

/**
 * Whether the run of an earlier slot is still going. The view may not have its result yet; the stream has. `unclear` where
 * the view has to reach that result first, since it changes the pace.
 */
async function isBusy(
  { eventStore }: DueSlotsDeps,
  { taskId, pending }: ScheduleDocument,
): Promise<boolean | 'unclear'> {
  const open = pending.filter(({ trigger }) => trigger === 'schedule');
  if (open.length === 0) return false;
  const last = await eventStore.readLast(runStream(taskId));
  const event = last === null ? null : decodeEvent<RunEvent>(last);
  if (event?.type !== 'run.recorded') return true;
  if (!open.every(({ runId }) => isRemembered(event.data.alert, runId))) return true;
  return backsOffBy(event.data.alert) ? 'unclear' : false;
}

/** Apart from the timer's clockwork, so that one look serves all firings until the next and specs need not wait for either. */
export class DueSlots {
  readonly #deps: DueSlotsDeps;
  /** What the last look found and is not fired yet, the first one due first. */
  #upcoming: readonly ScheduleDocument[] = [];
  /** Slots that were fired or passed over a moment ago, by task, in that order: until the view reaches them they are found again. */
  readonly #settled = new Map<string, { readonly commandId: string; readonly atMs: number }>();

  readonly #failures: CountedLines;

  constructor(deps: DueSlotsDeps) {
    this.#deps = deps;
    this.#failures = createCountedLines(deps.logger);
  }

  /** When the first one of those found is due. */
  get nextDueAt(): string | null {
    return this.#upcoming[0]?.nextDueAt ?? null;
  }

  /** Finds what is due by `aheadMs` from now. Returns how many, `foundAtOnce` where there may be more. */
  async look(aheadMs: number): Promise<number> {
    this.#upcoming = await findDue(this.#deps, this.#deps.clock.now() + aheadMs);
    return this.#upcoming.length;
  }

  /** Fires the slots whose time has come of those found. Returns how many. */
  async fire(): Promise<number> {
    const { clock, shards } = this.#deps;
    const nowMs = clock.now();
    const later = this.#upcoming.findIndex(({ nextDueAt }) => nextDueAt === null || Date.parse(nextDueAt) > nowMs);
    const due = later === -1 ? this.#upcoming : this.#upcoming.slice(0, later);
    this.#upcoming = this.#upcoming.slice(due.length);
    for (const [taskId, { atMs }] of this.#settled) {
      if (nowMs - atMs < settledForMs) break;
      this.#settled.delete(taskId);
    }
    // A shard may have gone to another process since the look.
    const own = due.filter(({ taskId }) => shards.holds(taskId));
    const fireInTurn = async (document: ScheduleDocument): Promise<void> => {
      await turns.next();
      await this.#fireNext(document, nowMs);
    };
    await Promise.all(own.map(fireInTurn));
    return own.length;
  }

  async #fireNext(document: ScheduleDocument, nowMs: number): Promise<void> {
    const { eventStore } = this.#deps;
    const { taskId, backsOff = false } = document;
    const { plan } = document;
    // The view says when a slot that waits may be fired: its run before has ended.
    const isQueued = plan.queuedSlotAt !== undefined && document.nextDueAt === plan.queuedSlotAt;
    const nextDueAt = isQueued ? document.nextDueAt : plan.nextDueAt;
    if (nextDueAt === null) return;
    // A slot that was queued and one that is fired are two commands, at the same time.
    const commandId = `slot.${taskId}.${Date.parse(nextDueAt)}${isQueued ? '.queued' : ''}`;
    if (this.#settled.get(taskId)?.commandId === commandId) return;
    try {
      const busy = await isBusy(this.#deps, document);
      if (busy === 'unclear') return;
      const command = { type: 'fireSlot', dueAt: nextDueAt, busy, late: backsOff, nowMs } as const;
      await runScheduleCommand(eventStore, taskId, command, commandId, metadataOf(document, commandId, nowMs));
      this.#settled.delete(taskId);
      this.#settled.set(taskId, { commandId, atMs: nowMs });
    } catch (error) {
      // A cause that keeps one slot from being fired keeps all of them, several times a second.
      const kind = error instanceof AppError ? error.reason : 'other';
      this.#failures.warn(kind, { taskId, error: String(error) }, 'a slot could not be fired; trying again');
    }
  }
}
