/**
 * Issues of a tracker, one for each episode: opened by what is told first, commented by what follows, closed by what ends it.
 * Where somebody deleted the issue meanwhile, what is told goes to the one that the search finds, else to a new one.
 */
import {
  refusal,
  type HttpBatch,
  type HttpOutgoing,
  type NothingToSend,
  type Notification,
  type Receipt,
} from './channel.js';

/** What a comment on an issue that is there no more is given. */
export const deletedIssue = { deleted: true } as const satisfies Receipt;

export interface IssueTracker<Key> {
  readonly search: HttpOutgoing;
  readonly create: HttpOutgoing;
  comment(key: Key): HttpOutgoing;
  close(key: Key): Requests;
  /** null: the receipt names no issue. */
  keyIn(receipt: Receipt | null): Key | null;
  /** Why nothing can be closed. */
  readonly noIssue: string;
}

/** One after the other, each chosen by what those before it were given. What it returns, if anything, cannot be sent. */
export type Requests = Generator<HttpOutgoing, NothingToSend | undefined, Receipt | null>;

const isDeleted = (receipt: Receipt | null): boolean => receipt?.['deleted'] === true;

function* told<Key>(tracker: IssueTracker<Key>, known: Key | null): Requests {
  if (known !== null && !isDeleted(yield tracker.comment(known))) return undefined;
  const found = tracker.keyIn(yield tracker.search);
  if (found !== null && !isDeleted(yield tracker.comment(found))) return undefined;
  yield tracker.create;
  return undefined;
}

function* ended<Key>(tracker: IssueTracker<Key>, known: Key | null): Requests {
  if (known !== null && !isDeleted(yield tracker.comment(known))) return yield* tracker.close(known);
  // Also what was told without an answer, or by an earlier version: its mark says whether there is one.
  const found = tracker.keyIn(yield tracker.search);
  if (found !== null && !isDeleted(yield tracker.comment(found))) return yield* tracker.close(found);
  return refusal({ method: 'POST', url: '' }, 'nothing_to_close', tracker.noIssue);
}

/** A test leaves nothing open. */
function* tested<Key>(tracker: IssueTracker<Key>): Requests {
  const made = tracker.keyIn(yield tracker.create);
  return made === null ? undefined : yield* tracker.close(made);
}

function requestsFor<Key>(tracker: IssueTracker<Key>, { kind }: Notification, known: Key | null): Requests {
  if (kind === 'test') return tested(tracker);
  return kind === 'recovered' ? ended(tracker, known) : told(tracker, known);
}

/** Of one message: a comment on an issue that is gone, the search, a comment on what it found, and what closes that. */
const mostRequests = 5;

/** As far as what was answered so far says. */
function asFarAsKnown(requests: Requests, receipts: readonly (Receipt | null)[]): HttpBatch | NothingToSend {
  const known: HttpOutgoing[] = [];
  let next = requests.next();
  while (next.done !== true) {
    known.push(next.value);
    const receipt = receipts[known.length - 1];
    if (receipt === undefined)
      return { kind: 'http', requests: known, inOrder: true, more: true, rounds: mostRequests };
    next = requests.next(receipt);
  }
  return next.value ?? { kind: 'http', requests: known, inOrder: true };
}

/** `opened`: what the first message of the episode was given; `receipts`: what the parts of this one were given so far. */
export function issueRequests<Key>(
  tracker: IssueTracker<Key>,
  request: Notification,
  opened: Receipt | null | undefined,
  receipts: readonly (Receipt | null)[],
): HttpBatch | NothingToSend {
  const known = tracker.keyIn(opened ?? null);
  const isFirst = request.kind !== 'test' && request.kind !== 'recovered' && known === null;
  // What began the episode may have gone with a digest, and nobody knows whether it arrived: then it is looked for.
  if (isFirst && request.openedBy === undefined) return { kind: 'http', requests: [tracker.create] };
  return asFarAsKnown(requestsFor(tracker, request, known), receipts);
}
