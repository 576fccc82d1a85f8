/**
 * How far the events of a data folder were found whole, and what their file looked like when the product ended. Signed. A note that
 * is gone, or that tells of more events than there are, is a warning until an operator accepts it.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createEventChain, isSameMac, type EventChain } from '#event-store/event-chain';
import { integrityStream } from '#contracts/integrity';
import type { EventStore } from '#event-store/event-store';
import type { Config } from '#runtime/config';
import type { KeyRing } from '#eventing/key-ring';
import type { Logger } from '#runtime/logger';
import { replaceFile } from './data-folder.js';
import type { StartCheck } from './integrity.js';

/** null for events that are in no file here. */
const fileState = z.object({ size: z.number(), modifiedMs: z.number() }).nullable();
/** A start found fewer events than there had been (`left`), or nothing that told how many there had been (null). */
const doubtfulEnd = z.object({ end: z.int(), left: z.int().nullable() }).nullable();
const markSchema = z.object({ position: z.int(), file: fileState, doubt: doubtfulEnd.default(null), mac: z.string() });

type DoubtfulEnd = z.output<typeof doubtfulEnd>;

type FileState = z.output<typeof fileState>;

interface VerifiedMark {
  /** Every event up to here was checked, or written by a process that ended in order. */
  readonly position: number;
  /** As it was left; null: it was not left in order. */
  readonly file: FileState;
  /** Kept until an operator accepts it. */
  readonly doubt: DoubtfulEnd;
}

const markFile = (dataDir: string): string => join(dataDir, 'verified');

const textOf = ({ position, file, doubt }: VerifiedMark): string =>
  `verified ${position} ${file === null ? '-' : `${file.size} ${file.modifiedMs}`}` +
  (doubt === null ? '' : ` after ${doubt.end} of ${doubt.left ?? '-'}`);

function eventFileState(dataDir: string): FileState {
  const stat = statSync(join(dataDir, 'events.db'), { throwIfNoEntry: false });
  return stat === undefined ? null : { size: stat.size, modifiedMs: stat.mtimeMs };
}

/** null where there is none that this key has signed. */
function readVerifiedMark(dataDir: string, chain: EventChain): VerifiedMark | null {
  try {
    const { mac, ...mark } = markSchema.parse(JSON.parse(readFileSync(markFile(dataDir), 'utf8')));
    return isSameMac(mac, chain.macOfText(textOf(mark))) ? mark : null;
  } catch {
    return null;
  }
}

function writeVerifiedMark(dataDir: string, chain: EventChain, mark: VerifiedMark): void {
  const text = JSON.stringify({ ...mark, mac: chain.macOfText(textOf(mark)) });
  try {
    replaceFile(markFile(dataDir), `${text}\n`);
  } catch {
    // As where it cannot be read: an older one is of a file that has changed since, or of fewer events.
  }
}

/**
 * How far the events went when a process that kept them in a file here ended in order. null where that is not known: what
 * was written after the start of one that did not end in order is in no mark.
 */
export function positionLeft(
  { dataDir, eventStoreUrl }: Pick<Config, 'dataDir' | 'eventStoreUrl'>,
  secretKey: Uint8Array,
): number | null {
  const mark = eventStoreUrl === 'sqlite' ? readVerifiedMark(dataDir, createEventChain(secretKey)) : null;
  return mark === null || mark.file === null ? null : mark.position;
}

type Embedded = Pick<Config, 'dataDir' | 'eventStoreUrl'>;

/** Everything is looked at by the next start: the operator goes on with the events as they are, or they come from elsewhere. */
export function checkWholeNext({ dataDir, eventStoreUrl }: Embedded, secretKey: Uint8Array): void {
  if (eventStoreUrl !== 'sqlite') return;
  writeVerifiedMark(dataDir, createEventChain(secretKey), { position: 0, file: null, doubt: null });
}

const sayDoubt = (doubt: DoubtfulEnd): readonly string[] => {
  if (doubt === null) return [];
  const accepted = '`meerkat audit accept` puts on record that you know how it came about';
  if (doubt.left === null) {
    return [
      `Nothing told how far the events went when Meerkat started with ${doubt.end} of them: whether the newest had been cut off nobody knows; ${accepted}.`,
    ];
  }
  return [
    `The events ended at position ${doubt.end} when Meerkat started, and had gone to ${doubt.left}: it went on without those in between; ${accepted}.`,
  ];
};

/** What is not known of the end of the events; empty: nothing. `keys`: the newest first. */
export function endDoubts(
  { dataDir, eventStoreUrl }: Embedded,
  keys: readonly Uint8Array[],
  lastPosition: number | null,
): readonly string[] {
  if (eventStoreUrl !== 'sqlite' || lastPosition === null) return [];
  const mark = readMarkOf(dataDir, keys);
  if (mark !== null) return sayDoubt(mark.doubt);
  return [
    `${markFile(dataDir)}, which tells how far the events went, is not there or not this installation's: whether the newest were cut off nobody knows.`,
  ];
}

/** One that any of these keys has signed: `secret-key rotate` leaves the one of before. */
function readMarkOf(dataDir: string, keys: readonly Uint8Array[]): VerifiedMark | null {
  for (const key of keys) {
    const mark = readVerifiedMark(dataDir, createEventChain(key));
    if (mark !== null) return mark;
  }
  return null;
}

/** So many events are checked in a second or two; of more, only what came since the mark. */
const checkedWhole = 200_000;

export interface VerifiedTrack {
  /** What a start has to look at. */
  readonly extent: StartCheck['extent'];
  /** How far the events have to go. */
  readonly left: StartCheck['left'];
  /** What there is was found to be whole. The note may be signed by a former key. Resolves, and logs, with what is not known of its end. */
  checked(
    eventStore: Pick<EventStore, 'lastPosition' | 'readLast'>,
    keyRing: Pick<KeyRing, 'former'>,
    logger: Logger,
  ): Promise<readonly string[]>;
  /** The process ended in order, and the events are closed. null: how far they go is not known. */
  ended(lastPosition: number | null): void;
}

/** To be called before the event store is opened, which may change its file. */
export function trackVerified(
  { dataDir, eventStoreUrl }: Embedded,
  secretKey: Uint8Array,
  { wasUnclean, isRestore }: { readonly wasUnclean: boolean; readonly isRestore: boolean },
): VerifiedTrack {
  const chain = createEventChain(secretKey);
  const mark = readVerifiedMark(dataDir, chain);
  const fileState = (): FileState => (eventStoreUrl === 'sqlite' ? eventFileState(dataDir) : null);
  const now = fileState();
  const extentOf = (): StartCheck['extent'] => {
    if (wasUnclean) return mark === null || mark.position <= checkedWhole ? 'all' : { after: mark.position };
    // Changed while no process of ours ran: put back from a backup, or edited, and that anywhere.
    const isAsLeft = mark !== null && mark.file?.size === now?.size && mark.file?.modifiedMs === now?.modifiedMs;
    return isAsLeft ? 'none' : 'all';
  };
  const extent = extentOf();
  const left = positionLeft({ dataDir, eventStoreUrl }, secretKey);
  let doubt = mark?.doubt ?? null;
  // What is not found whole now must not be taken as whole by the next start.
  if (extent === 'all' && mark !== null) writeVerifiedMark(dataDir, chain, { position: 0, file: null, doubt });

  /** A backup has no note, and neither has a store that is new or of a version that made none. */
  const findDoubt = async (
    end: number,
    eventStore: Pick<EventStore, 'readLast'>,
    formerKeys: readonly Uint8Array[],
  ): Promise<DoubtfulEnd> => {
    if (left !== null && left > end) return { end, left };
    if (mark !== null || now === null || isRestore) return doubt;
    const former = readMarkOf(dataDir, formerKeys);
    if (former !== null) return former.doubt;
    const isBegunNow = (await eventStore.readLast(integrityStream))?.position === end;
    return isBegunNow ? null : { end, left: null };
  };
  return {
    extent,
    left,
    async checked(eventStore, { former }, logger) {
      const position = await eventStore.lastPosition();
      if (position === null) return sayDoubt(doubt);
      doubt = await findDoubt(
        position,
        eventStore,
        former.map(({ key }) => key),
      );
      writeVerifiedMark(dataDir, chain, { position, file: null, doubt });
      const said = sayDoubt(doubt);
      for (const text of said) logger.warn({}, text);
      return said;
    },
    ended(position) {
      if (position !== null) writeVerifiedMark(dataDir, chain, { position, file: fileState(), doubt });
    },
  };
}
