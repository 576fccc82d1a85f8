/** Finishes configuration files that were not written whole: the process died, or a part did not answer. */
import { sleep } from '#concurrency/sleep';
import type { BackgroundWork, Service } from '#eventing/service';
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
  /** `isOwn`: this process has begun it, and lives; else another one that lives no more. */
  const finish = async (organizationId: string, isOwn: boolean, signal: AbortSignal): Promise<void> => {
    const journal = await journals.leftBehind(organizationId);
    if (journal === null || (journal.memberId === leases.memberId) !== isOwn) return;
    await work.finish(journal, signal);
    const { isDecided, counts, requestId } = journal;
    if (isDecided) logger.info({ organizationId, requestId, ...counts }, 'finished a configuration file');
  };

  const untilLater = async (done: Promise<void>, signal: AbortSignal, of: object): Promise<void> => {
    await done.catch((error: unknown) => {
      if (signal.aborted) return;
      logger.error({ ...of, error: String(error) }, 'a configuration file is not finished yet; tried again soon');
    });
  };

  const look = async (isOwn: boolean, signal: AbortSignal): Promise<void> => {
    for (const organizationId of await journals.organizations()) {
      if (signal.aborted) return;
      const finished = journals.inTurn(organizationId, () => finish(organizationId, isOwn, signal));
      // What stands in the way of one organisation's file is in the way of no other.
      await untilLater(finished, signal, { organizationId });
    }
  };

  /** The first look is at the start: until then a file that was applied when the process died is there in part. */
  const lookAgain = async (isOwn: boolean, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await untilLater(look(isOwn, signal), signal, {});
      await sleep(everyMs, signal, { ref: false });
    }
  };

  /** Nobody else takes what a living process has begun, so each looks for its own. */
  const lookForOwn = (): BackgroundWork => {
    const ending = new AbortController();
    const looking = lookAgain(true, ending.signal);
    return {
      async stop() {
        ending.abort();
        await looking;
      },
    };
  };

  return {
    name: 'gateway',
    projections: [],
    background: [lookForOwn, () => leases.whileHeld('unfinished-configurations', (signal) => lookAgain(false, signal))],
  };
}
