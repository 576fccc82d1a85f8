/** What a backtest answers: its pages one by one, and how the candidate compares over all of them. */
import type { Backtest } from '#contracts/run';

export type JudgedPage = Backtest['snapshots'][number];

/** A page that several runs saw is one entry. */
export class JudgedPages {
  readonly #pages = new Map<string, JudgedPage>();

  add(page: JudgedPage): void {
    const known = this.#pages.get(page.snapshotId);
    if (known === undefined) {
      this.#pages.set(page.snapshotId, page);
      return;
    }
    // Of several runs on one page the one that notifies says most.
    const said = known.decision.notify && !page.decision.notify ? known : page;
    const recorded = known.recorded.decision.notify && !page.recorded.decision.notify ? known.recorded : page.recorded;
    this.#pages.set(page.snapshotId, { ...said, recorded, runs: known.runs + 1 });
  }

  /** `complete`: the last page was reached. */
  answer(complete: boolean): Backtest {
    const pages = [...this.#pages.values()];
    const count = (matches: (page: JudgedPage) => boolean): number => pages.filter(matches).length;
    return {
      snapshots: pages,
      summary: {
        snapshots: pages.length,
        wouldNotify: count(({ decision }) => decision.notify),
        didNotify: count(({ recorded }) => recorded.decision.notify),
        onlyNew: count(({ decision, recorded }) => decision.notify && !recorded.decision.notify),
        onlyOld: count(({ decision, recorded }) => !decision.notify && recorded.decision.notify),
        complete,
      },
    };
  }
}
