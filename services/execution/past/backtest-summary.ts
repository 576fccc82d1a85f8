/** What a backtest answers: its pages one by one, and how the candidate compares over all of them. */
import type { Backtest } from '#contracts/run';

export type JudgedPage = Backtest['snapshots'][number];

/** A page that several runs saw is one entry; the messages of each of these runs are counted. */
export class JudgedPages {
  readonly #pages = new Map<string, JudgedPage>();
  readonly #messages = { wouldNotify: 0, didNotify: 0, onlyNew: 0, onlyOld: 0 };

  add(page: JudgedPage): void {
    this.#count(page);
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
    return {
      snapshots: pages,
      summary: {
        snapshots: pages.length,
        ...this.#messages,
        complete,
      },
    };
  }

  #count({ decision: { notify: would }, recorded }: JudgedPage): void {
    const did = recorded.decision.notify;
    if (would) this.#messages.wouldNotify += 1;
    if (did) this.#messages.didNotify += 1;
    if (would && !did) this.#messages.onlyNew += 1;
    if (did && !would) this.#messages.onlyOld += 1;
  }
}
