/** Finishes what processes that died while they applied a configuration file left behind. */
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { sleep } from '#concurrency/sleep';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { LOGGER, type Logger } from '#runtime/logger';
import { JournalWork } from './carry-out.js';
import { ApplyJournals } from './journal.js';

const everyMs = 2_000;

@Injectable()
export class UnfinishedConfigurations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #journals: ApplyJournals;
  readonly #work: JournalWork;
  readonly #leases: Leases;
  readonly #logger: Logger;
  #running: LeasedWork | null = null;

  constructor(
    @Inject(ApplyJournals) journals: ApplyJournals,
    @Inject(JournalWork) work: JournalWork,
    @Inject(LEASES) leases: Leases,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#journals = journals;
    this.#work = work;
    this.#leases = leases;
    this.#logger = logger;
  }

  /** The first look is at the start: until then a file that was applied when the process died is there in part. */
  onApplicationBootstrap(): void {
    this.#running = this.#leases.whileHeld('unfinished-configurations', async (signal) => {
      while (!signal.aborted) {
        await this.#look(signal).catch((error: unknown) => {
          if (signal.aborted) return;
          this.#logger.error({ error: String(error) }, 'a configuration file is not finished yet; tried again soon');
        });
        await sleep(everyMs, signal, { ref: false });
      }
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#running?.stop();
  }

  async #look(signal: AbortSignal): Promise<void> {
    for (const organizationId of await this.#journals.organizations()) {
      signal.throwIfAborted();
      await this.#journals.inTurn(organizationId, async () => {
        const journal = await this.#journals.leftBehind(organizationId);
        if (journal === null) return;
        await this.#work.finish(journal, signal);
        const { isDecided, counts, requestId } = journal;
        if (isDecided) this.#logger.info({ organizationId, requestId, ...counts }, 'finished a configuration file');
      });
    }
  }
}
