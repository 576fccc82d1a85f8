/** Work that runs while this process holds its name: begun when the name is gained, ended when it is lost. */
import type { Logger } from '#runtime/logger';
import type { LeasedWork } from './leases.js';

interface Work {
  readonly run: (signal: AbortSignal) => Promise<void>;
  active: AbortController | null;
  /** Resolves once the last run has ended: the next one begins no earlier. */
  ended: Promise<void>;
}

export interface HeldWork {
  names(): readonly string[];
  /** Begins idle work whose name is held, ends running work whose name is not. */
  settle(isHeld: (name: string) => boolean): Promise<void>;
  /** Resolves once the work under the name has ended; at once where there is none. */
  end(name: string): Promise<void>;
  /** Throws where this process has work under the name already. */
  add(name: string, run: Work['run']): LeasedWork;
}

export function createHeldWork(logger: Logger): HeldWork {
  const works = new Map<string, Work>();

  const end = async (work: Work | undefined): Promise<void> => {
    if (work === undefined) return;
    work.active?.abort();
    work.active = null;
    await work.ended;
  };

  const begin = (name: string, work: Work): void => {
    const active = new AbortController();
    work.active = active;
    work.ended = work.ended
      .then(() => (active.signal.aborted ? undefined : work.run(active.signal)))
      .catch((error: unknown) => {
        logger.error({ name, error: String(error) }, 'leased work ended with an error');
      });
  };

  return {
    names: () => [...works.keys()],
    end: (name) => end(works.get(name)),

    async settle(isHeld) {
      for (const [name, work] of works) {
        if (!isHeld(name)) await end(work);
        else if (work.active === null) begin(name, work);
      }
    },

    add(name, run) {
      if (works.has(name)) throw new Error(`${name} is worked on here already`);
      const work: Work = { run, active: null, ended: Promise.resolve() };
      works.set(name, work);
      return {
        async stop() {
          // No longer wanted: free for another member at its next round.
          works.delete(name);
          await end(work);
        },
      };
    },
  };
}
