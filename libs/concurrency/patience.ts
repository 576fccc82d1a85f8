/** Retries what fails because a server is out of reach: at the start servers come up in any order. */
import { AppError } from '#runtime/errors';
import { sleep } from './sleep.js';

export const startPatienceMs = 60_000;
const againMs = 1_000;

export interface Patience {
  readonly patienceMs?: number;
  /** Called with the first failure. */
  waiting?(error: AppError): void;
}

/** What `work` resolves with in the end. Rejects at once with what is no outage, and with the outage once `patienceMs` are over. */
export async function patiently<T>(work: () => Promise<T>, patience: Patience = {}): Promise<T> {
  const { patienceMs = startPatienceMs, waiting } = patience;
  const begunAt = performance.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SERVER_ERROR') throw error;
      if (performance.now() - begunAt + againMs >= patienceMs) throw error;
      if (tries === 0) waiting?.(error);
    }
    await sleep(againMs);
  }
}
