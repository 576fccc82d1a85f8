/** The evaluator process itself: what it may do, and what becomes of jobs when it dies. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { found } from '#runtime/probe.kit';
import { jobOf, quick, reasonOf } from '../kit.contract.js';
import { createQuickJsSandbox } from '../quickjs.js';
import type { QuickJsSandbox, QuickJsSandboxOptions } from '../quickjs.js';
import { defaultSandboxLimits } from '../sandbox.js';
import type { EvaluationJob, EvaluationResult } from '../sandbox.js';

const patient = { ...defaultSandboxLimits, cpuMs: 20_000 };
const endless = (more: Partial<EvaluationJob> = {}): EvaluationJob => jobOf('for (;;);', { limits: quick, ...more });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that ended and was not waited for yet is there by its number alone.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const gone = (pid: number): Promise<true> => found(async () => !isAlive(pid));

describe('the evaluator process', () => {
  const open: QuickJsSandbox[] = [];
  const create = (options: QuickJsSandboxOptions = {}): QuickJsSandbox => {
    const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0, ...options });
    open.push(sandbox);
    return sandbox;
  };
  /** Once a job is in its hands. */
  const busy = async (sandbox: QuickJsSandbox): Promise<number> => {
    await sandbox.check('true');
    return found(async () => sandbox.processes[0]?.pid ?? null);
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
  });

  it('starts with the first job and ends after a while without one', async () => {
    const sandbox = create({ idleMs: 20 });
    expect(sandbox.processes).toEqual([]);
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    const pid = sandbox.processes[0]?.pid ?? 0;
    await gone(pid);
    expect(sandbox.processes).toEqual([]);
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
  });

  it('ends when the sandbox is closed', async () => {
    const sandbox = create();
    const running = sandbox.evaluate(endless({ limits: patient }));
    const pid = await found(async () => sandbox.processes[0]?.pid ?? null);
    await sandbox.close();
    expect(isAlive(pid)).toBe(false);
    expect(reasonOf(await running)).toBe('sandbox_unavailable');
  });

  it('has no environment and may read nothing but its own code', async () => {
    const sandbox = create();
    const pid = await busy(sandbox);
    const environment = `/proc/${pid}/environ`;
    expect(existsSync(environment) ? readFileSync(environment, 'utf8') : '').toBe('');
    const words = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).split(' ');
    expect(words).toEqual(expect.arrayContaining(['--permission', '--allow-worker', '--no-addons']));
    const granted = words.filter((word) => word.startsWith('--allow-'));
    const own = /^--allow-(worker|fs-read=\S+[\\/]dist[\\/]evaluator([\\/]evaluator\.js)?|fs-read=\S+\.wasm)$/;
    expect(granted.filter((word) => !own.test(word))).toEqual([]);
    expect(granted).toHaveLength(4);
  });

  it('runs the jobs in flight at its death again in quarantine, without delaying new ones', async () => {
    const deaths: string[] = [];
    const sandbox = create({ workers: 2, onDeath: (why) => deaths.push(why) });
    const running = [sandbox.evaluate(endless()), sandbox.evaluate(jobOf('document.title === "The shop"'))];
    const pid = await busy(sandbox);
    const again = sandbox.evaluate(endless({ limits: patient }));
    process.kill(pid, 'SIGKILL');
    await found(async () => sandbox.processes[1]?.jobs === 1);
    const order: string[] = [];
    void again.then(() => order.push('apart'));
    for (let round = 0; round < 5; round++) {
      expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
      order.push('others');
    }
    expect(order).toEqual(Array.from({ length: 5 }, () => 'others'));
    const [first, second] = await Promise.all(running);
    expect([first, second].map((result) => result && reasonOf(result))).toEqual(['cpu_limit', 'outcome true']);
    expect(deaths).toHaveLength(1);
  });

  it('blames a job that ended two processes, and the others get their results', async () => {
    const deaths: string[] = [];
    const sandbox = create({ workers: 2, onDeath: (why) => deaths.push(why) });
    const killer = sandbox.evaluate(endless({ limits: patient }));
    const bystander = sandbox.evaluate(jobOf('1 === 1'));
    const first = await busy(sandbox);
    process.kill(first, 'SIGKILL');
    expect(reasonOf(await bystander)).toBe('outcome true');
    // The bystander may have been done before: until its death is known the first process still has the other job.
    const holdsIt = ({ pid, jobs }: QuickJsSandbox['processes'][number]): boolean => pid !== first && jobs === 1;
    process.kill(await found(async () => sandbox.processes.find(holdsIt)?.pid ?? null), 'SIGKILL');
    const result = await killer;
    expect(result).toMatchObject({ ok: false, failure: { reason: 'sandbox_crashed', endedFromOutside: true } });
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    expect(deaths).toHaveLength(2);
  });

  it('tries jobs that took long before one behind the other: those that are quick wait for none of them', async () => {
    const sandbox = create({ workers: 5 });
    const some = jobOf('let n = 0; while (n < 3e6) n += 1; n > 0', { limits: patient });
    const others = [sandbox.evaluate(some), sandbox.evaluate(some)];
    const long = Array.from({ length: 3 }, () => sandbox.evaluate(endless({ limits: patient }), { isLong: true }));
    await found(async () => sandbox.processes[0]?.jobs === 5);
    process.kill(sandbox.processes[0]?.pid ?? 0, 'SIGKILL');
    const first = await Promise.race([...long, Promise.all(others)]);
    expect(first).toMatchObject([{ outcome: true }, { outcome: true }]);
  });

  it('blames no job where all processes end at once, again and again', async () => {
    const deaths: string[] = [];
    const sandbox = create({ workers: 2, onDeath: (why) => deaths.push(why) });
    for (let round = 0; round < 3; round++) {
      const running = [sandbox.evaluate(endless()), sandbox.evaluate(jobOf('1 === 1'))];
      await busy(sandbox);
      for (const { pid } of sandbox.processes) process.kill(pid, 'SIGKILL');
      expect((await Promise.all(running)).map(reasonOf)).toEqual(['cpu_limit', 'outcome true']);
      // Where the jobs had ended before the signal came, the death is noticed after their results.
      await found(async () => deaths.length > round && sandbox.processes.every(({ jobs }) => jobs === 0));
    }
    expect(deaths).toHaveLength(3);
  });

  it('is ended and replaced when it stops answering', async () => {
    const deaths: string[] = [];
    const sandbox = create({ silenceMs: 3_000, onDeath: (why) => deaths.push(why) });
    const pid = await busy(sandbox);
    process.kill(pid, 'SIGSTOP');
    expect(reasonOf(await sandbox.evaluate(jobOf('true')))).toBe('outcome true');
    // The second where the machine tells that it does nothing.
    expect(deaths).toEqual([expect.stringMatching(/^it did not answer (any more|a job in its time)$/)]);
    expect(isAlive(pid)).toBe(false);
  });

  it('times a job on a new thread from the start of the job', async () => {
    const sandbox = create();
    // Cannot be interrupted, and would end by itself, with another reason, after some seconds.
    const code = 'let nest = []; for (let at = 0; at < 1e5; at++) nest = [nest]; JSON.stringify(nest)';
    const result = await sandbox.evaluate(jobOf(code, { limits: { ...defaultSandboxLimits, cpuMs: 100 } }));
    expect(result).toMatchObject({ ok: false, failure: { reason: 'cpu_limit', endedFromOutside: true } });
  });

  it('evaluates many large pages that are offered at once', async () => {
    const sandbox = create();
    const page = { ...jobOf('true').page, body: new Uint8Array(8 * 1024 * 1024).fill(0x61) };
    const results = await Promise.all(
      Array.from({ length: 12 }, (): Promise<EvaluationResult> =>
        sandbox.evaluate(jobOf('page.text.length > 8e6', { page })),
      ),
    );
    expect(new Set(results.map(reasonOf))).toEqual(new Set(['outcome true']));
  });

  it('rejects a job that is larger than a message may be, with a reason', async () => {
    const sandbox = create();
    const page = { ...jobOf('true').page, body: new Uint8Array(200 * 1024 * 1024) };
    expect(reasonOf(await sandbox.evaluate(jobOf('true', { page })))).toBe('page_too_complex');
  });

  it('ends with the product, even if that is killed', async () => {
    const program = `import { createQuickJsSandbox } from ${JSON.stringify(new URL('../../../dist/libs/sandbox/quickjs.js', import.meta.url).href)};
      const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
      await sandbox.check('true');
      process.stdout.write(String(sandbox.processes[0].pid) + '\\n');
      setInterval(() => undefined, 1000);`;
    const product = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [words] = await Array.fromAsync(firstOf(product.stdout));
    const pid = Number(words);
    expect(isAlive(pid)).toBe(true);
    product.kill('SIGKILL');
    await gone(pid);
  });
});

async function* firstOf(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const chunk of stream) {
    yield String(chunk).trim();
    return;
  }
}
