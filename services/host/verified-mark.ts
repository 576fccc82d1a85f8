/** How far the events of a data folder were found whole, and what their file looked like when the product ended. Signed. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createEventChain, isSameMac, type EventChain } from '#event-store/event-chain';
import type { EventStore } from '#event-store/event-store';
import type { Config } from '#runtime/config';
import { replaceFile } from './data-folder.js';
import type { StartCheck } from './integrity.js';

/** null for events that are in no file here. */
const fileState = z.object({ size: z.number(), modifiedMs: z.number() }).nullable();
const markSchema = z.object({ position: z.int(), file: fileState, mac: z.string() });

type FileState = z.output<typeof fileState>;

interface VerifiedMark {
  /** Every event up to here was checked, or written by a process that ended in order. */
  readonly position: number;
  /** As it was left; null: it was not left in order. */
  readonly file: FileState;
}

const markFile = (dataDir: string): string => join(dataDir, 'verified');

const textOf = ({ position, file }: VerifiedMark): string =>
  `verified ${position} ${file === null ? '-' : `${file.size} ${file.modifiedMs}`}`;

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
    // Without it more is checked, that is all.
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

/** The operator goes on with the events as they are. */
export function forgetVerified({ dataDir }: Pick<Config, 'dataDir'>): void {
  rmSync(markFile(dataDir), { force: true });
}

/** So many events are checked in a second or two; of more, only what came since the mark. */
const checkedWhole = 200_000;

export interface VerifiedTrack {
  /** What a start has to look at. */
  readonly extent: StartCheck['extent'];
  /** How far the events have to go. */
  readonly left: StartCheck['left'];
  /** What there is was found to be whole. */
  checked(eventStore: Pick<EventStore, 'lastPosition'>): Promise<void>;
  /** The process ended in order, and the events are closed. null: how far they go is not known. */
  ended(lastPosition: number | null): void;
}

/** To be called before the event store is opened, which may change its file. */
export function trackVerified(
  { dataDir, eventStoreUrl }: Pick<Config, 'dataDir' | 'eventStoreUrl'>,
  wasUnclean: boolean,
  secretKey: Uint8Array,
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
  // What is not found whole now must not be taken as whole by the next start.
  if (extent === 'all') forgetVerified({ dataDir });
  return {
    extent,
    left,
    async checked(eventStore) {
      const position = await eventStore.lastPosition();
      if (position !== null) writeVerifiedMark(dataDir, chain, { position, file: null });
    },
    ended(position) {
      if (position !== null) writeVerifiedMark(dataDir, chain, { position, file: fileState() });
    },
  };
}
