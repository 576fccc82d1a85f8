/**
 * Tasks whose code took long the last time go one behind the other: however many there are, some threads of the sandbox and
 * half of the slots of their organisation stay for those that are quick.
 */
import { createLru } from '#concurrency/lru';
import { createSemaphore, type Semaphore } from '#concurrency/semaphore';
import type { EvaluationResult } from '#sandbox/sandbox';

/** Wall time of parsing and evaluating from which on it counts as long: far above what an ordinary page takes on a busy machine. */
const longMs = 200;
/** So many tasks with long evaluations are known; one that is forgotten counts as quick once. */
const maxKnown = 10_000;

export class LongEvaluations {
  readonly #known = createLru<string, true>(maxKnown);
  readonly #turns: Semaphore;

  /** `atOnce`: how many long ones run at the same time. */
  constructor(atOnce: number) {
    this.#turns = createSemaphore(atOnce);
  }

  /** Whether the last evaluation of this task took long. */
  has(taskId: string): boolean {
    return this.#known.has(taskId);
  }

  /** Evaluates at once, or in its turn among the long ones, and keeps how long it took. */
  async run(taskId: string, evaluate: (isLong: boolean) => Promise<EvaluationResult>): Promise<EvaluationResult> {
    const result = await (this.has(taskId) ? this.#turns.run(() => evaluate(true)) : evaluate(false));
    const { parseMs, evaluateMs } = result.timings;
    if (parseMs + evaluateMs >= longMs) this.#known.set(taskId, true);
    else this.#known.delete(taskId);
    return result;
  }
}
