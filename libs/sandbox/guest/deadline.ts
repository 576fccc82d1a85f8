/** A budget of CPU time of this thread: a machine that is busy elsewhere does not shorten it. */

const microsecondsPerMs = 1_000;

export class CpuDeadline {
  #startedAtMs = 0;
  #startedCpu: NodeJS.CpuUsage = { user: 0, system: 0 };
  #budgetMs = 0;
  #isOver = false;

  start(budgetMs: number): void {
    this.#startedAtMs = performance.now();
    this.#startedCpu = process.threadCpuUsage();
    this.#budgetMs = budgetMs;
    this.#isOver = false;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  leftMs(): number {
    return this.#budgetMs - this.usedMs();
  }

  usedMs(): number {
    const used = process.threadCpuUsage(this.#startedCpu);
    return (used.user + used.system) / microsecondsPerMs;
  }

  /** Cheap while it is early: CPU time never exceeds wall-clock time. */
  check(): boolean {
    if (this.#isOver) return true;
    if (performance.now() - this.#startedAtMs < this.#budgetMs) return false;
    this.#isOver = this.usedMs() >= this.#budgetMs;
    return this.#isOver;
  }
}
