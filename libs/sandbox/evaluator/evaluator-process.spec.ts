/** When a process that does not answer is given up. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Duplex, PassThrough } from 'node:stream';
import { EvaluatorProcess } from './evaluator-process.js';
import { encodeFrame } from './frames.js';
import { signals } from './messages.js';

describe('a process that does not answer', () => {
  let waitedMs: number | null;
  let isOverdue: boolean;
  let answers: PassThrough;
  let isKilled: boolean;
  let watched: EvaluatorProcess;

  const say = (word: number): void => {
    for (const piece of encodeFrame({ id: 0, word, ms: 0, text: '' }, new Uint8Array(0))) answers.write(piece);
  };

  beforeEach(async () => {
    [waitedMs, isOverdue, isKilled] = [0, true, false];
    answers = new PassThrough();
    const channel = {
      pipe: Duplex.from({ readable: answers, writable: new PassThrough().resume() }),
      pid: 1,
      ended: new Promise<string>(() => undefined),
      processorUse: () => (waitedMs === null ? null : { ranMs: 0, waitedMs, isRunnable: false }),
      hold: () => undefined,
      kill: () => void (isKilled = true),
    };
    const started = new Promise<void>((resolve) => {
      watched = new EvaluatorProcess(channel, 10_000, {
        onReady: resolve,
        onAnswer: () => undefined,
        answerBytes: () => 0,
        onRoom: () => undefined,
        isOverdue: () => isOverdue,
        onBeat: () => undefined,
        onEnd: () => undefined,
      });
    });
    say(signals.ready);
    await started;
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    watched.setWorking(true);
  });
  afterEach(() => {
    watched.setWorking(false);
    jest.useRealTimers();
  });

  /** Second by second; `waiting` is what its threads wait for a processor in each. */
  const pass = (seconds: number, waiting: number): void => {
    for (let second = 0; second < seconds; second++) {
      if (waitedMs !== null) waitedMs += waiting;
      jest.advanceTimersByTime(1_000);
    }
  };

  it('is given up after two seconds where a job is overdue', () => {
    pass(4, 0);
    expect(isKilled).toBe(true);
  });

  it('is left alone for longer where no job is overdue', () => {
    isOverdue = false;
    pass(10, 0);
    expect(isKilled).toBe(false);
    pass(3, 0);
    expect(isKilled).toBe(true);
  });

  it('is not blamed for the time in which it waited for a processor', () => {
    pass(9, 900);
    expect(isKilled).toBe(false);
  });

  it('is given up in the end however long it waited', () => {
    pass(13, 900);
    expect(isKilled).toBe(true);
  });

  it('is given up after two seconds on a machine that does not tell what it waited', () => {
    waitedMs = null;
    pass(4, 0);
    expect(isKilled).toBe(true);
  });
});
