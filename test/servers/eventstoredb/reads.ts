/** Reads and subscriptions, paged and checkpointed as the real server does it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { isHidden, type Log, type LogPosition, type StoredEvent } from './log.ts';
import {
  caughtUpMessage,
  checkpointMessage,
  confirmationMessage,
  invalid,
  maximumCheckpointMessage,
  streamName,
  streamNotFoundMessage,
} from './messages.ts';

/** Where messages go: resolves once the receiver takes more. */
export type Send = (message: Uint8Array) => Promise<void> | void;

type Options = ReadReq.Options;
type Filter = (event: StoredEvent) => boolean;

/** The server's own page, and how many live events it holds for a slow subscriber before it goes back to catching up. */
const pageSize = 32;
const liveLimit = 32;
const fetchSize = 512;
const backwards = 1;

const isBefore = (left: LogPosition, right: LogPosition): boolean =>
  left.commit < right.commit || (left.commit === right.commit && left.prepare < right.prepare);
const placeOf = ({ position }: StoredEvent): LogPosition => ({ commit: position, prepare: position });
/** Before everything. */
const head: LogPosition = { commit: -1, prepare: -1 };

function filterOf(options: Options): Filter {
  const filter = options.getFilter();
  if (filter === undefined) return (event) => !isHidden(event);
  const byType = filter.getEventType();
  const expression = byType ?? filter.getStreamIdentifier();
  if (expression === undefined) throw invalid('a filter names neither streams nor event types');
  const text = byType === undefined ? (event: StoredEvent) => event.stream : (event: StoredEvent) => event.type;
  const regex = expression.getRegex();
  if (regex !== '') {
    const pattern = new RegExp(regex, 'u');
    return (event) => pattern.test(text(event));
  }
  const prefixes = expression.getPrefixList();
  return (event) => prefixes.some((prefix) => text(event).startsWith(prefix));
}

function windowOf(options: Options): number {
  const filter = options.getFilter();
  if (filter === undefined) return Number.MAX_SAFE_INTEGER;
  return filter.hasMax() ? filter.getMax() : pageSize;
}

/** A place of a request, checked: the real log cannot be read from the middle of a record. */
function requested(log: Log, commitText: string, prepareText: string): LogPosition {
  const commit = Number(BigInt(commitText));
  const prepare = Number(BigInt(prepareText));
  if (commit < prepare) throw invalid('The commit position must be greater than or equal to the prepare position');
  if (commit <= log.writerPosition && !log.isBoundary(commit)) {
    throw invalid('Trying to read from an invalid position.');
  }
  return { commit, prepare };
}

/** `tellsMaximum`: as versions before 24.10.5 do, a subscription that nothing matched is told a place of 2^64 - 1. */
export async function read(
  log: Log,
  options: Options,
  send: Send,
  signal: AbortSignal,
  tellsMaximum = false,
): Promise<void> {
  if (!options.hasUuidOption()) throw invalid('`uuidOption` is a required argument');
  if (options.hasSubscription()) {
    if (options.getReadDirection() === backwards) throw invalid('subscriptions are read forwards');
    if (options.hasStream()) await followStream(log, options, send, signal);
    else await followAll(log, options, send, signal, tellsMaximum);
    return;
  }
  await (options.hasStream() ? readStream(log, options, send, signal) : readAll(log, options, send, signal));
}

async function readStream(log: Log, options: Options, send: Send, signal: AbortSignal): Promise<void> {
  const stream = options.getStream();
  const name = streamName(stream?.getStreamIdentifier());
  let left = Number(options.getCount());
  const last = log.lastRevision(name);
  if (last === null) {
    await send(streamNotFoundMessage(name));
    return;
  }
  const isBackwards = options.getReadDirection() === backwards;
  let next = stream?.hasRevision() ? Number(stream.getRevision()) : stream?.hasEnd() ? last + (isBackwards ? 0 : 1) : 0;
  while (left > 0 && next >= 0 && !signal.aborted) {
    const page = isBackwards
      ? log.readBackwards(name, next, Math.min(left, fetchSize))
      : log.readForwards(name, next, Math.min(left, fetchSize));
    for (const { message } of page) await send(message);
    left -= page.length;
    const final = page.at(-1);
    if (final === undefined) return;
    next = final.revision + (isBackwards ? -1 : 1);
  }
}

async function readAll(log: Log, options: Options, send: Send, signal: AbortSignal): Promise<void> {
  const all = options.getAll();
  const allowed = filterOf(options);
  let left = Number(options.getCount());
  const position = all?.getPosition();
  if (options.getReadDirection() === backwards) {
    let before = log.writerPosition;
    if (position !== undefined)
      before = requested(log, position.getCommitPosition(), position.getPreparePosition()).commit;
    else if (all?.hasStart()) return;
    while (left > 0 && !signal.aborted) {
      const page = log.allBackwards(before, options.hasFilter() ? fetchSize : Math.min(left, fetchSize));
      for (const event of page) {
        if (left === 0 || !allowed(event)) continue;
        left -= 1;
        await send(event.message);
      }
      const final = page.at(-1);
      if (final === undefined) return;
      before = final.position;
    }
    return;
  }
  if (all?.hasEnd()) return;
  let from = 0;
  if (position !== undefined) {
    const place = requested(log, position.getCommitPosition(), position.getPreparePosition());
    from = place.prepare > place.commit ? place.commit + 1 : place.commit;
  }
  while (left > 0 && !signal.aborted) {
    const page = log.allForwards(from, fetchSize);
    for (const event of page) {
      if (left === 0 || !allowed(event)) continue;
      left -= 1;
      await send(event.message);
    }
    const final = page.at(-1);
    if (final === undefined) return;
    from = final.next;
  }
}

async function followStream(log: Log, options: Options, send: Send, signal: AbortSignal): Promise<void> {
  const stream = options.getStream();
  const name = streamName(stream?.getStreamIdentifier());
  let next = 0;
  // A subscription begins behind the revision it names.
  if (stream?.hasRevision()) next = Number(stream.getRevision()) + 1;
  else if (stream?.hasEnd()) next = (log.lastRevision(name) ?? -1) + 1;
  await send(confirmationMessage(randomUUID()));
  let caughtUp = false;
  while (!signal.aborted) {
    const page = log.readForwards(name, next, fetchSize);
    for (const event of page) {
      await send(event.message);
      next = event.revision + 1;
    }
    if (page.length > 0) continue;
    if (!caughtUp) await send(caughtUpMessage());
    caughtUp = true;
    await nextCommit(log, signal);
  }
}

async function nextCommit(log: Log, signal: AbortSignal): Promise<void> {
  await once(log.commits, 'commit', { signal }).catch(() => undefined);
}

async function followAll(
  log: Log,
  options: Options,
  send: Send,
  signal: AbortSignal,
  tellsMaximum: boolean,
): Promise<void> {
  const all = options.getAll();
  const isFiltered = options.hasFilter();
  const allowed = filterOf(options);
  const window = windowOf(options);
  const interval = window * (options.getFilter()?.getCheckpointintervalmultiplier() ?? 0);
  if (isFiltered && interval <= 0) throw invalid('the checkpoint interval must be above zero');

  const lastLive: LogPosition = { commit: log.lastPosition, prepare: log.lastPosition };
  const position = all?.getPosition();
  let checkpoint = head;
  if (position !== undefined) checkpoint = requested(log, position.getCommitPosition(), position.getPreparePosition());
  else if (all?.hasEnd()) checkpoint = lastLive;

  let lastSent = head;
  const sendCheckpoint = async (place: LogPosition): Promise<void> => {
    // Never the same one twice, and none before there is anything.
    if (!isFiltered || place.commit < 0 || !isBefore(lastSent, place)) return;
    lastSent = place;
    await send(checkpointMessage(place.commit, place.prepare));
  };

  /** Where the log ended: what is live begins there, though the checkpoint may be a page behind. */
  const catchUp = async (): Promise<number> => {
    let pageStart = checkpoint.commit < 0 ? { commit: 0, prepare: 0 } : checkpoint;
    let sinceCheckpoint = 0;
    let considered = 0;
    let matched = 0;
    let from = pageStart.commit;
    while (!signal.aborted) {
      const fetched = log.allForwards(from, fetchSize);
      for (const event of fetched) {
        if (signal.aborted) return from;
        considered += 1;
        if (allowed(event)) {
          matched += 1;
          if (isBefore(checkpoint, placeOf(event))) {
            checkpoint = placeOf(event);
            await send(event.message);
          }
        }
        if (considered < window && matched < pageSize) continue;
        sinceCheckpoint += considered;
        if (isFiltered && sinceCheckpoint >= interval) {
          sinceCheckpoint %= interval;
          // A page's place is where it began: events on it that did not match are behind the checkpoint.
          if (isBefore(checkpoint, pageStart)) checkpoint = pageStart;
          await sendCheckpoint(checkpoint);
        }
        pageStart = { commit: event.next, prepare: 0 };
        considered = 0;
        matched = 0;
      }
      const final = fetched.at(-1);
      if (final === undefined) break;
      from = final.next;
    }
    if (isBefore(checkpoint, pageStart) && pageStart.commit > 0) checkpoint = pageStart;
    await sendCheckpoint(checkpoint);
    return from;
  };

  const goLive = async (begin: number): Promise<void> => {
    if (tellsMaximum) await send(maximumCheckpointMessage());
    await send(caughtUpMessage());
    let from = begin;
    let sinceCheckpoint = 0;
    while (!signal.aborted) {
      const arrived = log.allForwards(from, liveLimit + 1);
      for (const event of arrived) {
        if (signal.aborted) return;
        from = event.next;
        if (!isBefore(checkpoint, placeOf(event))) continue;
        sinceCheckpoint += 1;
        if (allowed(event)) {
          checkpoint = placeOf(event);
          await send(event.message);
        }
        if (isFiltered && sinceCheckpoint >= interval) {
          sinceCheckpoint = 0;
          checkpoint = placeOf(event);
          await sendCheckpoint(checkpoint);
        }
      }
      if (arrived.length > liveLimit) {
        // Too slow for the live events: it gets a checkpoint only, then catches up again.
        await sendCheckpoint(checkpoint);
        return;
      }
      if (arrived.length === 0) await nextCommit(log, signal);
    }
  };

  await send(confirmationMessage(randomUUID()));
  if (!isBefore(checkpoint, lastLive)) await goLive(Math.max(checkpoint.commit, 0));
  while (!signal.aborted) await goLive(await catchUp());
}
