/**
 * Idempotency keys: the same request sent again gets the first one's answer. Before anything is done a record says when
 * the key was first seen, and who works on it. A repeat waits for a worker that lives. Ids of what is made under the key
 * are derived from when it was first seen, so a repeat after a crash finds what is already there instead of making it twice.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { sleep } from '#concurrency/sleep';
import type { Leases } from '#leases/leases';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';
import { reject } from '#runtime/errors';
import type { Json } from '#runtime/json';
import type { Vault } from '#vault/vault';
import type { IdempotentAttempt } from './route.js';

const keptMs = 24 * 3_600_000;

interface IdempotencyRecord {
  readonly id: string;
  readonly requestHash: string;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
  /** The process that works on it; null where it gave up, and whoever comes next may begin. */
  readonly worker: string | null;
  /** The revision at which the worker took the key; what it writes then, once, is behind that by one. */
  readonly sequence: number;
  /** null: being worked on, or cut off by a crash. The body is sealed. */
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Json;
  } | null;
}

/** Not derived from events: a rebuild of the views leaves it alone. */
export const idempotencyView: ViewDefinition<IdempotencyRecord> = {
  name: 'idempotency',
  fields: ['expiresAtMs'],
  indexes: [['expiresAtMs']],
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
   * again. Rejects with `idempotency_conflict` where the request differs.
   */
  once(
    request: IdempotentRequest,
    execute: (attempt: IdempotentAttempt) => Promise<StoredAnswer>,
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

/** Answers hold addresses and new secrets: they are sealed before they are stored. */
const sealedPaths = ['body'];
const sealScope = 'idempotency';

/** Longer than any request takes; then a worker that lives has lost its answer. */
const patienceMs = 90_000;
const lookAgainMs = 25;
/** Between two tries to give a key back. */
const firstWaitMs = 100;
const longestWaitMs = 2_000;

export function createIdempotencyRecords(
  readStore: ReadStore,
  vault: Vault,
  clock: Clock,
  { memberId, isLiving }: Pick<Leases, 'memberId' | 'isLiving'>,
): IdempotencyRecords {
  /** What this process is doing right now; a repeat that comes meanwhile waits for it. */
  const running = new Map<string, Promise<void>>();

  /** Who looked first and then again before writing could take a record for dropped that another just made: one look it is. */
  const look = async (id: string): Promise<{ readonly live: IdempotencyRecord | null; readonly revision: number }> => {
    const found = (await readStore.load(idempotencyView, [id])).get(id);
    const document = found?.document ?? null;
    const live = document !== null && document.expiresAtMs > clock.now() ? document : null;
    // A store may remember the revision of a record that was dropped, and take nothing that does not lie behind it.
    return { live, revision: found?.revision ?? -1 };
  };

  const sameRequest = (known: IdempotencyRecord, requestHash: string): IdempotencyRecord => {
    if (known.requestHash === requestHash) return known;
    throw reject('idempotency_conflict', 'This Idempotency-Key was used for another request in the last 24 hours.');
  };

  /** The record once it has an answer, or is this process's to work on. */
  const takenUp = async (id: string, requestHash: string): Promise<IdempotencyRecord> => {
    const giveUpMs = performance.now() + patienceMs;
    for (;;) {
      const { live, revision } = await look(id);
      const known = live === null ? null : sameRequest(live, requestHash);
      if (known !== null && known.answer !== null) return known;
      const { worker = null, startedAtMs = clock.now() } = known ?? {};
      const isWorkedOn = worker !== null && worker !== memberId && isLiving(worker);
      if (isWorkedOn && performance.now() < giveUpMs) {
        await sleep(lookAgainMs);
        continue;
      }
      const times = { startedAtMs, expiresAtMs: startedAtMs + keptMs };
      const mine = { id, requestHash, ...times, worker: memberId, sequence: revision + 2, answer: null };
      await readStore.save(idempotencyView, [{ id, revision: mine.sequence, document: mine }], null);
      const { live: stored } = await look(id);
      // Of two at once the first write stays, and the other one waits for its answer.
      if (stored?.worker === memberId && stored.sequence === mine.sequence) return mine;
    }
  };

  const replay = async (organizationId: string, known: IdempotencyRecord): Promise<StoredAnswer | null> => {
    if (known.answer === null) return null;
    const { status, headers, body } = known.answer;
    const opened = await vault.open(organizationId, sealScope, { body });
    return typeof opened['body'] === 'string' ? { status, headers, body: opened['body'] } : null;
  };

  /** What the worker of the key writes, once: it changes nothing where an answer stands there, or another took the key. */
  const settle = (known: IdempotencyRecord, settled: Pick<IdempotencyRecord, 'worker' | 'answer'>): Promise<void> => {
    const write = { id: known.id, revision: known.sequence + 1, document: { ...known, ...settled } };
    return readStore.save(idempotencyView, [write], null);
  };

  /** Whatever hindered the worker, others may begin. Until the store takes that they wait for a process that lives and does nothing. */
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
          const answer = await execute({ key, startedAtMs: known.startedAtMs });
          const { body } = await vault.seal(organizationId, sealScope, { body: answer.body }, sealedPaths);
          const { status, headers } = answer;
          await settle(known, { worker: memberId, answer: { status, headers, body: body ?? '' } });
          // A worker that was taken for dead gives the answer of the one that took over.
          const { live } = await look(id);
          const kept = live === null ? null : await replay(organizationId, live);
          if (kept !== null && !isDeepStrictEqual(kept, answer)) return { answer: kept, replayed: true };
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
