/** Finishes what processes that died while they applied a configuration file left behind. */
import { sleep } from '#concurrency/sleep';
import type { Service } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import type { JournalWork } from './carry-out.js';
import type { ApplyJournals } from './journal.js';

const everyMs = 2_000;

/** The part of the gateway that works without a request. */
export function createGatewayService(
  { leases, logger }: Pick<ServicePorts, 'leases' | 'logger'>,
  journals: ApplyJournals,
  work: JournalWork,
): Service {
  const finish = async (organizationId: string, signal: AbortSignal): Promise<void> => {
    const journal = await journals.leftBehind(organizationId);
    if (journal === null) return;
    await work.finish(journal, signal);
    const { isDecided, counts, requestId } = journal;
    if (isDecided) logger.info({ organizationId, requestId, ...counts }, 'finished a configuration file');
  };

  const look = async (signal: AbortSignal): Promise<void> => {
    for (const organizationId of await journals.organizations()) {
      signal.throwIfAborted();
      await journals.inTurn(organizationId, () => finish(organizationId, signal));
    }
  };

  /** The first look is at the start: until then a file that was applied when the process died is there in part. */
  const lookAgain = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await look(signal).catch((error: unknown) => {
        if (signal.aborted) return;
        logger.error({ error: String(error) }, 'a configuration file is not finished yet; tried again soon');
      });
      await sleep(everyMs, signal, { ref: false });
    }
  };

  return {
    name: 'gateway',
    projections: [],
    background: [() => leases.whileHeld('unfinished-configurations', lookAgain)],
  };
}
