/**
 * A process that stands by for the next death of another one. Where one died, more are likely to die: for some minutes from
 * then on nobody waits for a process to start while the machine is busy.
 */
import type { EvaluatorProcess } from './evaluator-process.js';

/** So long after a death a process stands by. */
const standbyMs = 10 * 60_000;
/** What waits for a process now goes before starting one that stands by. */
const delayMs = 1_000;

export class Standby {
  readonly #open: () => EvaluatorProcess;
  #process: EvaluatorProcess | null = null;
  #untilMs = -1;
  #timer: NodeJS.Timeout | null = null;

  /** `open` throws where no process can be started. */
  constructor(open: () => EvaluatorProcess) {
    this.#open = open;
  }

  expectDeaths(): void {
    this.#untilMs = performance.now() + standbyMs;
    this.#lookSoon();
  }

  /** It has run no job, and may have ended without a word: it has to be asked first. null where none stands by, or not yet. */
  take(): EvaluatorProcess | null {
    const taken = this.#process;
    if (taken?.isReady !== true) return null;
    this.#process = null;
    this.#lookSoon();
    return taken;
  }

  /** Called for each process that ended. */
  forget(ended: EvaluatorProcess): void {
    if (this.#process === ended) this.#process = null;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#untilMs = -1;
    const ended = this.#process;
    this.#process = null;
    await ended?.end('');
  }

  #lookSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const leftMs = this.#untilMs - performance.now();
    const waitMs = this.#process === null ? delayMs : leftMs;
    this.#timer = leftMs > 0 ? setTimeout(() => this.#look(), waitMs).unref() : null;
  }

  #look(): void {
    if (performance.now() >= this.#untilMs) return void this.close();
    if (this.#process !== null) return;
    try {
      this.#process = this.#open();
      this.#process.warmUp();
      this.#lookSoon();
    } catch {
      // The next job starts one itself, and says why it cannot.
    }
  }
}
