/** Reads the view for deliveries that are due soon, page by page and again and again. The view may lag; each stream is read before anything is done. */
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';

export interface SweepDeps {
  readonly readStore: Pick<ReadStore, 'page'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sweepMs: number;
  /** Called at the start of each sweep. */
  readonly before: () => void;
  /** Called for each delivery that the view shows as due before the next sweep but one. */
  readonly found: (id: string, document: DeliveryDocument) => void;
  /** No more can be tracked: what is left is for a later sweep. */
  readonly isFull: () => boolean;
}

export interface Sweep {
  /** Resolves once the sweep in progress has ended. */
  stop(): Promise<void>;
}

const pageSize = 500;
/** After every stored time. */
const endOfTime = '9999-12-31T23:59:59.999Z';

/** `until`: deliveries due later than that are left out. */
export async function sweepDue(
  { readStore, before, found, isFull }: Pick<SweepDeps, 'readStore' | 'before' | 'found' | 'isFull'>,
  until: string,
  signal: AbortSignal,
): Promise<void> {
  before();
  let behind: { values: readonly string[]; id: string } | undefined;
  for (;;) {
    const { documents } = await readStore.page(deliveriesView, {
      where: [{ field: 'dueAt', to: until }],
      sort: [{ field: 'dueAt', descending: false }],
      limit: pageSize,
      offset: 0,
      ...(behind === undefined ? {} : { behind }),
      count: false,
    });
    for (const document of documents) {
      const { id, dueAt } = document;
      if (dueAt === null) continue;
      found(id, document);
      behind = { values: [dueAt], id };
    }
    if (signal.aborted || documents.length < pageSize || isFull()) return;
  }
}

/** The first sweep has no horizon: what an earlier process left open may be due long after it. */
export function startSweeping(deps: SweepDeps): Sweep {
  const { clock, logger, sweepMs } = deps;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void>;
  const sweep = (until: string): void => {
    sweeping = sweepDue(deps, until, stopping.signal)
      .catch((error: unknown) => {
        logger.error({ error: String(error) }, 'due deliveries cannot be read; retrying at the next sweep');
      })
      .finally(() => {
        if (stopping.signal.aborted) return;
        timer = setTimeout(() => sweep(toTimestamp(clock.now() + 2 * sweepMs)), sweepMs);
      });
  };
  sweep(endOfTime);
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await sweeping;
    },
  };
}
