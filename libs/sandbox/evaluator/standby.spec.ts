/** Processes that stand by once one has died. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import { jobOf, patient } from '../kit.contract.js';
import type { EvaluatorChannel, EvaluatorUse } from './evaluator-channel.js';
import { evaluatorFiles, usualSettings } from './evaluator-place.js';
import { EvaluatorSupervisor } from './evaluator-supervisor.js';
import { FrameReader } from './frames.js';
import { largestRequestBytes, signals } from './messages.js';
import { spawnEvaluator } from './spawned-evaluator.js';

describe('a process that stands by', () => {
  const { places, ...paths } = evaluatorFiles('parse5');
  let opened: { readonly use: EvaluatorUse; readonly channel: EvaluatorChannel }[];
  let isHeard: Set<EvaluatorChannel>;
  /** Those that were asked to start their threads ahead of any job. */
  let warmedUp: Set<EvaluatorChannel>;
  let supervisor: EvaluatorSupervisor;

  beforeEach(() => {
    opened = [];
    isHeard = new Set();
    warmedUp = new Set();
    supervisor = new EvaluatorSupervisor({
      ...usualSettings(paths),
      workers: 1,
      spareWorkers: 0,
      open: (settings, use) => {
        const channel = spawnEvaluator(places, settings);
        opened.push({ use, channel });
        const reader = new FrameReader(largestRequestBytes);
        const write = channel.pipe.write.bind(channel.pipe);
        channel.pipe.write = (chunk: Uint8Array) => {
          reader.push(chunk, ({ id, word }) => {
            if (id === 0 && word === signals.warmUp) warmedUp.add(channel);
          });
          return write(chunk);
        };
        // Its first word is that it is ready.
        channel.pipe.once('data', () => isHeard.add(channel));
        return channel;
      },
      silenceMs: 10_000,
      answerMarginMs: 30_000,
      watchMargins: { overMs: 3_000, idleMs: 750 },
      onDeath: () => undefined,
    });
  });
  afterEach(() => supervisor.close());

  const run = (code: string) => supervisor.run('evaluate', jobOf(code), { cpuMs: 20_000, isUrgent: false });
  /** Ended by the watch on its thread: the guest's own limit is far beyond that, and never comes first. */
  const runEndless = () =>
    supervisor.run('evaluate', jobOf('for (;;);', { limits: patient }), { cpuMs: 500, isUrgent: false });
  const sharedPid = () => supervisor.running[0]?.pid;
  /** With a job in its hands. */
  const die = async (): Promise<void> => {
    const endless = runEndless();
    process.kill(
      await found(async () => (supervisor.running[0]?.jobs === 1 ? (sharedPid() ?? null) : null)),
      'SIGKILL',
    );
    expect(await endless).toEqual({ ok: false, ended: 'cpu_time' });
  };
  const of = (use: EvaluatorUse) => opened.filter((each) => each.use === use);
  const allStandBy = () =>
    found(
      async () =>
        of('shared').length === 3 &&
        of('quarantine').length === 3 &&
        opened.every(({ channel }) => channel.pipe.destroyed || isHeard.has(channel)),
    );

  it('is not started before another one has died', async () => {
    expect(await run('true')).toMatchObject({ ok: true });
    expect(opened.map(({ use }) => use)).toEqual(['shared']);
  });

  it('takes over at the next death, and another one stands by then', async () => {
    await run('true');
    await die();
    expect(await run('true')).toMatchObject({ ok: true });
    await allStandBy();
    const standing = of('shared')[2]?.channel.pid;
    await die();
    expect(await run('true')).toMatchObject({ ok: true });
    expect(sharedPid()).toBe(standing);
    await found(async () => of('shared').length === 4 && of('quarantine').length === 4);
  });

  it('has started its threads by then: no job waits for one', async () => {
    await run('true');
    expect(warmedUp.size).toBe(0);
    await die();
    await run('true');
    await allStandBy();
    // The first of each use has died, and so has the one that came at once in its place.
    const standing = [...of('shared').slice(2), ...of('quarantine').slice(1)].map(({ channel }) => channel);
    expect(standing.filter((channel) => warmedUp.has(channel))).toHaveLength(3);
  });

  it('gets no job where it has ended meanwhile: no job is blamed for that', async () => {
    await run('true');
    await die();
    await allStandBy();
    const endless = runEndless();
    await found(async () => supervisor.running[0]?.jobs === 1);
    for (const { channel } of opened) channel.kill();
    expect(await endless).toEqual({ ok: false, ended: 'cpu_time' });
    expect(await run('true')).toMatchObject({ ok: true });
  });

  it('gives way to a new process where it does not answer', async () => {
    await run('true');
    await die();
    await run('true');
    await allStandBy();
    const standing = of('shared')[2]?.channel.pid ?? 0;
    process.kill(standing, 'SIGSTOP');
    await die();
    expect(await run('true')).toMatchObject({ ok: true });
    expect(sharedPid()).not.toBe(standing);
  });

  it('ends with the supervisor', async () => {
    await run('true');
    await die();
    await allStandBy();
    await supervisor.close();
    expect(await Promise.all(opened.map(({ channel }) => channel.ended))).toHaveLength(opened.length);
  });
});
