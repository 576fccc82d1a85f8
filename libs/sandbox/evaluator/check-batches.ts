/** Checks requested together go to a thread in one message: a message costs as much as a check. */
import type { JobRunner } from './messages.js';
import type { CheckedCode } from '../sandbox.js';

interface WaitingCheck {
  readonly code: string;
  readonly resolve: (checked: CheckedCode) => void;
  readonly reject: (error: Error) => void;
}

/** CPU time of a check, and of a whole batch. */
const checkMs = 2_000;
const batchLimit = 32;

const tooMuch: CheckedCode = {
  ok: false,
  message: 'The code is too large or too deeply nested to be read.',
  line: 1,
  column: 1,
};

/** One batch runs at a time; checks requested meanwhile form the next. */
export class CheckBatches {
  readonly #pool: JobRunner;
  #waiting: WaitingCheck[] = [];
  #isRunning = false;

  constructor(pool: JobRunner) {
    this.#pool = pool;
  }

  /** Rejects when no thread is available. */
  check(code: string): Promise<CheckedCode> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ code, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => void this.#runAll());
    });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchLimit);
      this.#waiting = this.#waiting.slice(batchLimit);
      await this.#run(batch);
    }
    this.#isRunning = false;
  }

  async #run(batch: readonly WaitingCheck[]): Promise<void> {
    const codes = batch.map(({ code }) => code);
    const outcome = await this.#pool.run('check', { codes }, { cpuMs: checkMs, isUrgent: true });
    if (outcome.ok) {
      for (const [index, { resolve }] of batch.entries()) resolve(outcome.result[index] ?? tooMuch);
      return;
    }
    // One check was too much for the thread: run alone, the others pass.
    if (batch.length > 1) return this.#runEach(batch);
    for (const { resolve, reject } of batch) {
      if (outcome.ended === 'unavailable') reject(new Error(outcome.message ?? 'The sandbox could not be started.'));
      else resolve(tooMuch);
    }
  }

  async #runEach(batch: readonly WaitingCheck[]): Promise<void> {
    for (const one of batch) await this.#run([one]);
  }
}
