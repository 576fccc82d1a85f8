/** Fingerprints of events as they are stored: of one, of each stream, of all of them in their order. The same in every engine. */
import { createHash, hash } from 'node:crypto';
import { asJson, type Json } from '#runtime/json';
import type { RecordedEvent } from './event-store.js';

/** The same value, the members of its objects in the order of their names. */
function inOrder(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const members = value as { readonly [name: string]: Json };
  const ordered: Record<string, Json> = {};
  for (const name of Object.keys(members).toSorted()) {
    const member = inOrder(members[name] ?? null);
    // Assigned, this one would not become a member.
    if (name === '__proto__') Object.defineProperty(ordered, name, { value: member, enumerable: true });
    else if (members[name] !== undefined) ordered[name] = member;
  }
  return ordered;
}

/** JSON that is the same whatever order an engine gives the members of objects back in. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(inOrder(value));
}

export interface EventFingerprint {
  readonly hash: string;
  /** About as many bytes as the event takes. */
  readonly size: number;
}

/** Over everything that was stored but the position, which is the engine's own. */
export function fingerprintOf(event: RecordedEvent): EventFingerprint {
  const { stream, revision, id, type, version, data } = event;
  const metadata = asJson(event.metadata);
  const text = canonicalJson([stream, revision, id.toLowerCase(), type, version, data, metadata]);
  return { hash: hash('sha256', text, 'hex'), size: text.length };
}

interface StreamDigest {
  readonly first: number;
  readonly revision: number;
  readonly hash: string;
}

export interface HistorySummary {
  readonly events: number;
  readonly streams: number;
  /** SHA-256 over the events' fingerprints, in the order of their positions. */
  readonly hash: string;
}

export interface HistoryDigest {
  /** Throws `HistoryBroken` where the event does not follow the one before it in its stream, which begins with `first`. */
  add(event: RecordedEvent, first?: number): EventFingerprint;
  /** Where the stream begins; 0 where it is not known. */
  firstOf(stream: string): number;
  summary(): HistorySummary;
  /** Streams that are not the same in both, by name. */
  differingStreams(other: HistoryDigest): readonly string[];
  readonly streams: ReadonlyMap<string, StreamDigest>;
}

/** A store whose events cannot be as they were written. */
export class HistoryBroken extends Error {
  constructor(event: RecordedEvent, why: string) {
    super(`${event.stream}@${event.revision} (${event.type}, event ${event.id}): ${why}`);
    this.name = 'HistoryBroken';
  }
}

export function createHistoryDigest(): HistoryDigest {
  const streams = new Map<string, StreamDigest>();
  const whole = createHash('sha256');
  let events = 0;
  return {
    streams,
    firstOf: (stream) => streams.get(stream)?.first ?? 0,
    add(event, first = 0) {
      const before = streams.get(event.stream);
      const expected = (before?.revision ?? first - 1) + 1;
      if (event.revision !== expected) throw new HistoryBroken(event, `revision ${expected} should stand there`);
      const fingerprint = fingerprintOf(event);
      streams.set(event.stream, {
        first: before?.first ?? first,
        revision: event.revision,
        hash: hash('sha256', `${before?.hash ?? ''}${fingerprint.hash}`, 'hex'),
      });
      whole.update(fingerprint.hash);
      events += 1;
      return fingerprint;
    },
    summary: () => ({ events, streams: streams.size, hash: whole.copy().digest('hex') }),
    differingStreams(other) {
      const names = new Set([...streams.keys(), ...other.streams.keys()]);
      return [...names].filter((name) => streams.get(name)?.hash !== other.streams.get(name)?.hash).toSorted();
    },
  };
}
