/**
 * Signs where the chain of each organisation stands: once a day, and once more soon after a start and at an orderly end where
 * entries have come since. Beside the views, in a file of the data folder, and in the log.
 */
import { organizationsView } from '#contracts/account';
import { auditHeadsCollection, type AuditHead, type AuditSigner, type KeepHeadLine } from '#eventing/audit-heads';
import type { Sweep } from '#eventing/service';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import type { SharedState } from '#shared-state/shared-state';
import { headOf } from './trail.js';

export interface HeadKeeping {
  readonly readStore: Pick<ReadStore, 'page'>;
  readonly sharedState: SharedState;
  readonly signer: AuditSigner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keepLine: KeepHeadLine;
}

const everyMs = 900_000;
/** The view of the audit has seen by then what had happened before the start. */
const firstAfterMs = 10_000;
/** A process that ends is waited for. */
const endingMs = 3_000;
const organizationsAtOnce = 500;

async function* organizationIds(readStore: HeadKeeping['readStore']): AsyncGenerator<string> {
  for (let offset = 0; ; offset += organizationsAtOnce) {
    const { documents } = await readStore.page(organizationsView, {
      where: [],
      sort: [{ field: 'createdAt', descending: false }],
      limit: organizationsAtOnce,
      offset,
      count: false,
    });
    for (const { id } of documents) yield id;
    if (documents.length < organizationsAtOnce) return;
  }
}

/** What else is signed than the first head of a day. */
export interface SigningMore {
  /** Also where the chain has grown since the first head of the day. */
  readonly grown: boolean;
  readonly signal?: AbortSignal;
}

/** The first sweep of a day signs; the others find that it is done. None takes the place of another: what was cut off meanwhile shows. */
export async function signHeads(
  deps: HeadKeeping,
  more: SigningMore = { grown: false },
): Promise<readonly AuditHead[]> {
  const { readStore, sharedState, signer, clock, logger, keepLine } = deps;
  const at = toTimestamp(clock.now());
  const day = at.slice(0, 'yyyy-mm-dd'.length);
  const signed: AuditHead[] = [];
  for await (const organizationId of organizationIds(readStore)) {
    if (more.signal?.aborted === true) break;
    const ofDay = `${organizationId}|${day}`;
    const first = (await sharedState.load(auditHeadsCollection, [ofDay])).get(ofDay)?.value ?? null;
    if (first !== null && !more.grown) continue;
    const last = await headOf(readStore, organizationId, null);
    if (last === null || last.sequence <= (first?.sequence ?? 0)) continue;
    const key = first === null ? ofDay : `${ofDay}|${last.sequence}`;
    if (first !== null && (await sharedState.load(auditHeadsCollection, [key])).has(key)) continue;
    const head = signer.sign({ organizationId, day, at, sequence: last.sequence, hash: last.hash });
    // The file first: after a crash in between a head stands there twice, which says the same.
    await keepLine?.(JSON.stringify(head));
    await sharedState.save(auditHeadsCollection, [{ key, version: 0, value: head }]);
    logger.info({ ...head }, 'audit head');
    signed.push(head);
  }
  return signed;
}

/** The first one of a process signs what the one before it could not, as after a kill. */
export function headSweep(deps: HeadKeeping): Sweep {
  let grown = true;
  return {
    name: 'audit-heads',
    everyMs,
    firstAfterMs,
    async sweep() {
      await signHeads(deps, { grown });
      grown = false;
    },
  };
}

/** At an orderly end, which nothing of it holds up: what it cannot sign, the next start does. */
export async function signLastHeads(deps: HeadKeeping): Promise<void> {
  try {
    await signHeads(deps, { grown: true, signal: AbortSignal.timeout(endingMs) });
  } catch (error) {
    deps.logger.warn({ error: String(error) }, 'the audit was not signed at the end; the next start does it');
  }
}
