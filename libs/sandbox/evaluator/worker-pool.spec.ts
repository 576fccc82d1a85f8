/** The threads of an evaluator that stands by. */
import { pathToFileURL } from 'node:url';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jobOf } from '../kit.contract.js';
import { evaluatorFiles, usualSettings } from './evaluator-place.js';
import { encodeJob } from './messages.js';
import { firstJob, WorkerPool } from './worker-pool.js';

const threads = 2;

describe('threads that are started ahead of any job', () => {
  const { places, ...paths } = evaluatorFiles('parse5');
  const workerUrl = pathToFileURL(join(dirname(places.entryPath), 'worker.js'));
  let pool: WorkerPool;

  beforeEach(() => {
    pool = new WorkerPool({ ...usualSettings(paths), workers: threads, spareWorkers: 1, workerUrl });
  });
  afterEach(() => pool.close());

  it('are as many as run jobs side by side, without the spare ones', async () => {
    await pool.warmUp();
    expect(pool.size).toBe(threads);
    const outcome = await pool.run(encodeJob('evaluate', jobOf('true')), { cpuMs: 1_000, isUrgent: false });
    expect(outcome).toMatchObject({ ok: true });
    expect(pool.size).toBe(threads);
  });

  it('have done a job to its end, as jobs of tasks are', async () => {
    const outcome = await pool.run(encodeJob('evaluate', firstJob), { cpuMs: 1_000, isUrgent: false });
    expect(outcome.ok && JSON.parse(outcome.text)).toMatchObject({ ok: true, outcome: true });
  });
});
