import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { jobOf, quick, reasonOf } from '../kit.contract.js';
import { createQuickJsSandbox, type QuickJsSandbox } from '../quickjs.js';
import { socketOf } from './connected-evaluator.js';
import { startEvaluatorHost, type EvaluatorHost } from './evaluator-host.js';
import { evaluatorFiles, usualSettings } from './evaluator-place.js';
import { spawnEvaluator } from './spawned-evaluator.js';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that ended and was not waited for yet is there by its number alone.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('evaluators in another container', () => {
  const { places, ...paths } = evaluatorFiles('parse5');
  const settings = { ...usualSettings(paths), workers: 1, spareWorkers: 0 };
  let folder: string;
  let host: EvaluatorHost | null;
  let sandbox: QuickJsSandbox;
  let pids: number[];
  let deaths: string[];

  const start = async (maxProcesses = 8): Promise<void> => {
    const open = () => {
      const channel = spawnEvaluator(places, settings);
      // What the launcher started is not there at once.
      void found(async () => channel.pid).then((pid) => pids.push(pid ?? 0));
      return channel;
    };
    host = await startEvaluatorHost({ folder, maxProcesses, open, logger: silentLogger });
  };
  const stop = async (): Promise<void> => {
    await host?.close();
    host = null;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-evaluators-'));
    pids = [];
    deaths = [];
    sandbox = createQuickJsSandbox({
      evaluatorSockets: folder,
      workers: 1,
      spareWorkers: 0,
      onDeath: (why) => deaths.push(why),
    });
    await start();
  });
  afterEach(async () => {
    await sandbox.close();
    await stop();
    rmSync(folder, { recursive: true });
  });

  it('evaluate as those of the own process do, and end with who asked for them', async () => {
    expect(reasonOf(await sandbox.evaluate(jobOf('1 === 1')))).toBe('outcome true');
    expect(reasonOf(await sandbox.evaluate(jobOf('for (;;);', { limits: quick })))).toBe('cpu_limit');
    expect(await sandbox.check('return (')).toMatchObject({ ok: false });
    expect(sandbox.isolation).toEqual({ anotherContainer: true });
    await found(async () => pids.length === 1);
    await sandbox.close();
    await found(async () => pids.every((pid) => !isAlive(pid)));
  });

  it('are reached by the owner and the group alone', () => {
    expect(statSync(socketOf(folder, 'shared')).mode & 0o777).toBe(0o660);
  });

  it('are replaced when they die, and the job that was there is evaluated apart', async () => {
    const running = sandbox.evaluate(jobOf('for (;;);', { limits: { ...quick, cpuMs: 5_000 } }));
    await sandbox.check('true');
    process.kill(pids[0] ?? 0, 'SIGKILL');
    expect(reasonOf(await running)).toBe('cpu_limit');
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    expect(deaths).toHaveLength(1);
  });

  it('fail a run with a reason while their host is gone, and serve again once it is back', async () => {
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    await stop();
    await found(async () => deaths.length === 1);
    const { failure } = (await sandbox.evaluate(jobOf('true'))) as { readonly failure: { readonly message: string } };
    expect(failure.message).toContain('the host of evaluators cannot be reached');
    // What a host that was killed leaves behind.
    writeFileSync(socketOf(folder, 'shared'), '');
    await start();
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
  });

  it('are no more than the host allows: who asks for another is refused, and the others go on', async () => {
    await stop();
    await start(1);
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    const second = createConnection(socketOf(folder, 'shared'));
    await new Promise((resolve) => second.once('close', resolve));
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    expect(deaths).toEqual([]);
    expect(existsSync(socketOf(folder, 'quarantine'))).toBe(true);
  });
});
