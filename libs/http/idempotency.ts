/**
 * Idempotency keys: the same request sent again gets the first one's answer. Before anything is done a record says when
 * the key was first seen, and who works on it. A repeat waits for a worker that lives. Ids of what is made under the key
 * are derived from when it was first seen, so a repeat after a crash finds what is already there instead of making it twice.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { sleep } from '#concurrency/sleep';
import type { Leases } from '#leases/leases';
import type { Clock } from '#runtime/clock';
import { AppError, notFound, reject } from '#runtime/errors';
import { isId } from '#runtime/ids';
import type { Json } from '#runtime/json';
import type { SharedState, StateCollection } from '#shared-state/shared-state';
import type { Vault } from '#vault/vault';
import { createAnswerBudget, type AnswerBudget } from './idempotency-budget.js';
import type { Answer } from './envelope.js';
import type { IdempotentAttempt } from './route.js';

const keptMs = 24 * 3_600_000;

interface IdempotencyRecord {
  readonly id: string;
  readonly requestHash: string;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
  /** The process that works on it; null where it gave up, and the next request may begin. */
  readonly worker: string | null;
  /** Whose key the answer is sealed with; absent: the organisation's. */
  readonly ownerId?: string;
  /** The version at which the worker took the key; its one write after that has the version that follows. */
  readonly sequence: number;
  /** null: being worked on, or cut off by a crash. The body is sealed. */
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Json;
  } | null;
}

export const idempotencyCollection: StateCollection<IdempotencyRecord> = {
  name: 'idempotency',
  indexedBy: 'expiresAtMs',
};

/** An answer as it went out, to be sent again as it was. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotentRequest {
  readonly organizationId: string;
  readonly key: string;
  /** Method, path and body as text: what must be the same for a repeat to be one. */
  readonly content: string;
}

export interface IdempotencyRecords {
  /**
   * Runs `execute`, or answers what it answered before. What `execute` rejects with is no answer: the next one begins
   * again. Rejects with `idempotency_conflict` where the request differs, `idempotency_storage_full` where too much is kept.
   */
  once(
    request: IdempotentRequest,
    execute: (attempt: IdempotentAttempt) => Promise<StoredAnswer & Pick<Answer, 'taskId'>>,
  ): Promise<{ readonly answer: StoredAnswer; readonly replayed: boolean }>;
}

/** The header's value, or null where there is none. Throws `idempotency_key_invalid`. */
export function idempotencyKey(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw reject('idempotency_key_invalid', 'Idempotency-Key must be 1 to 255 printable ASCII characters.', [
    { field: 'Idempotency-Key', rule: 'invalid', message: 'must be 1 to 255 printable ASCII characters' },
  ]);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A cookie is of the answer that went out, and of no other: nobody else is signed in by what is stored. */
function keptHeaders(headers: StoredAnswer['headers']): StoredAnswer['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'set-cookie'));
}

/** Answers hold addresses and new secrets: they are sealed before they are stored. */
const sealedPaths = ['body'];
const sealScope = 'idempotency';

const taskInPath = /\/api\/notifications\/(ntf_[0-7][0-9a-hjkmnp-tv-z]{25})/;
const toldTask = z.object({ data: z.object({ id: z.string().optional(), notificationId: z.string().nullish() }) });

/** What an answer says of a task goes with the task: it is sealed with that key, any other with the organisation's. */
function ownerOf(
  organizationId: string,
  content: string,
  { status, body, taskId }: StoredAnswer & Pick<Answer, 'taskId'>,
): string {
  if (status >= 300) return organizationId;
  const named = taskId ?? taskInPath.exec(content)?.[1];
  if (named !== undefined) return named;
  try {
    const { id, notificationId } = toldTask.parse(JSON.parse(body)).data;
    return [notificationId, id].find((one) => typeof one === 'string' && isId(one, 'ntf')) ?? organizationId;
  } catch {
    // It tells of no task.
    return organizationId;
  }
}

/** Longer than any request takes: after this a living worker has lost its answer. */
const patienceMs = 90_000;
const lookAgainMs = 25;
/** Between two attempts to release a key. */
const firstWaitMs = 100;
const longestWaitMs = 2_000;

export function createIdempotencyRecords(
  sharedState: SharedState,
  vault: Vault,
  clock: Clock,
  { memberId, isLiving }: Pick<Leases, 'memberId' | 'isLiving'>,
  budget: AnswerBudget = createAnswerBudget(sharedState, clock),
): IdempotencyRecords {
  /** Keys this process works on; a concurrent repeat waits. */
  const running = new Map<string, Promise<void>>();

  /** One load for value and version: between two loads another process could create the record, which would look removed. */
  const look = async (id: string): Promise<{ readonly live: IdempotencyRecord | null; readonly version: number }> => {
    const found = (await sharedState.load(idempotencyCollection, [id])).get(id);
    const record = found?.value ?? null;
    const live = record !== null && record.expiresAtMs > clock.now() ? record : null;
    // A store may remember the version of a removed record, and accepts only later ones.
    return { live, version: found?.version ?? -1 };
  };

  const sameRequest = (known: IdempotencyRecord, requestHash: string): IdempotencyRecord => {
    if (known.requestHash === requestHash) return known;
    throw reject('idempotency_conflict', 'This Idempotency-Key was used for another request in the last 24 hours.');
  };

  /** The record once it has an answer, or once this process holds the key. */
  const takenUp = async (id: string, requestHash: string): Promise<IdempotencyRecord> => {
    const giveUpMs = performance.now() + patienceMs;
    for (;;) {
      const { live, version } = await look(id);
      const known = live === null ? null : sameRequest(live, requestHash);
      if (known !== null && known.answer !== null) return known;
      const { worker = null, startedAtMs = clock.now() } = known ?? {};
      const isWorkedOn = worker !== null && worker !== memberId && isLiving(worker);
      if (isWorkedOn && performance.now() < giveUpMs) {
        await sleep(lookAgainMs);
        continue;
      }
      const times = { startedAtMs, expiresAtMs: startedAtMs + keptMs };
      const mine = { id, requestHash, ...times, worker: memberId, sequence: version + 2, answer: null };
      await sharedState.save(idempotencyCollection, [{ key: id, version: mine.sequence, value: mine }]);
      const { live: stored } = await look(id);
      // Of two concurrent writes the first stays; the other process waits for its answer.
      if (stored?.worker === memberId && stored.sequence === mine.sequence) return mine;
    }
  };

  const replay = async (organizationId: string, known: IdempotencyRecord): Promise<StoredAnswer | null> => {
    if (known.answer === null) return null;
    const { status, headers, body } = known.answer;
    const { ownerId = organizationId } = known;
    // A purge goes by another process, whose word would come too late.
    if (ownerId !== organizationId) vault.forgetKey(ownerId);
    const opened = await vault.open(ownerId, sealScope, { body }).catch((error: unknown) => {
      // The key went with the task; what there was to tell is gone.
      if (ownerId !== organizationId && error instanceof AppError && error.reason === 'secret_unreadable') {
        throw notFound('notification');
      }
      throw error;
    });
    return typeof opened['body'] === 'string' ? { status, headers, body: opened['body'] } : null;
  };

  /** The worker's one write: it changes nothing where an answer is stored, or another process took the key. */
  const settle = (
    known: IdempotencyRecord,
    settled: Pick<IdempotencyRecord, 'worker' | 'answer' | 'ownerId'>,
  ): Promise<void> => {
    const value = { ...known, ...settled };
    return sharedState.save(idempotencyCollection, [{ key: known.id, version: known.sequence + 1, value }]);
  };

  /** Releases the key after a failure. Until the store accepts that, other processes wait for this one, which is alive and idle. */
  const giveBack = async (known: IdempotencyRecord): Promise<void> => {
    const giveUpMs = performance.now() + patienceMs;
    for (let waitMs = firstWaitMs; performance.now() < giveUpMs; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        await settle(known, { worker: null, answer: null });
        return;
      } catch {
        await sleep(waitMs, undefined, { ref: false });
      }
    }
  };

  return {
    async once({ organizationId, key, content }, execute) {
      const id = sha256(`${organizationId}|${key}`);
      const requestHash = sha256(content);
      for (let busy = running.get(id); busy !== undefined; busy = running.get(id)) await busy;
      let done = (): void => {};
      running.set(id, new Promise((resolve) => (done = resolve)));
      try {
        const known = await takenUp(id, requestHash);
        const earlier = await replay(organizationId, known);
        if (earlier !== null) return { answer: earlier, replayed: true };
        try {
          await budget.admit(organizationId);
          const { taskId, ...answer } = await execute({ key, startedAtMs: known.startedAtMs });
          const ownerId = ownerOf(organizationId, content, { ...answer, ...(taskId !== undefined && { taskId }) });
          const { body } = await vault.seal(ownerId, sealScope, { body: answer.body }, sealedPaths);
          const { status } = answer;
          const headers = keptHeaders(answer.headers);
          budget.spend(organizationId, JSON.stringify([headers, body ?? '']).length);
          await settle(known, { worker: memberId, ownerId, answer: { status, headers, body: body ?? '' } });
          // A worker that was presumed dead answers as the process that took over did.
          const { live } = await look(id);
          const kept = live === null ? null : await replay(organizationId, live);
          if (kept !== null && !isDeepStrictEqual(kept, { ...answer, headers }))
            return { answer: kept, replayed: true };
          return { answer, replayed: false };
        } catch (error) {
          void giveBack(known);
          throw error;
        }
      } finally {
        running.delete(id);
        done();
      }
    },
  };
}
