/** Signs where the chain of each organisation stands, once a day: beside the views, in a file of the data folder, and in the log. */
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

/** The first sweep of a day signs; the others find that it is done. */
export async function signHeads(deps: HeadKeeping): Promise<readonly AuditHead[]> {
  const { readStore, sharedState, signer, clock, logger, keepLine } = deps;
  const at = toTimestamp(clock.now());
  const day = at.slice(0, 'yyyy-mm-dd'.length);
  const signed: AuditHead[] = [];
  for await (const organizationId of organizationIds(readStore)) {
    const key = `${organizationId}|${day}`;
    if ((await sharedState.load(auditHeadsCollection, [key])).has(key)) continue;
    const last = await headOf(readStore, organizationId, null);
    if (last === null) continue;
    const head = signer.sign({ organizationId, day, at, sequence: last.sequence, hash: last.hash });
    // The file first: after a crash in between a head stands there twice, which says the same.
    await keepLine?.(JSON.stringify(head));
    await sharedState.save(auditHeadsCollection, [{ key, version: 0, value: head }]);
    logger.info({ ...head }, 'audit head');
    signed.push(head);
  }
  return signed;
}

export const headSweep = (deps: HeadKeeping): Sweep => ({
  name: 'audit-heads',
  everyMs,
  sweep: async () => void (await signHeads(deps)),
});
