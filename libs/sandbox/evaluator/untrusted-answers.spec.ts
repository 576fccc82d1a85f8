/** What the product accepts from an evaluator process that was taken over: answers within the limits of their jobs, in time. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { found } from '#runtime/probe.kit';
import { jobOf } from '../kit.contract.js';
import { defaultSandboxLimits } from '../sandbox.js';
import { EvaluatorSupervisor, type SupervisorSettings } from './evaluator-supervisor.js';
import { spawnEvaluator } from './spawned-evaluator.js';
import type { JobOutcome } from './messages.js';

const limits = { ...defaultSandboxLimits, cpuMs: 1, outputBytes: 4_096, stateBytes: 1_024 };
const evaluation = jobOf('true', { limits });

/** An evaluator that answers each job with what an expression makes of its id; the frames are written by hand. */
const programOf = (answer: string): string => `
import { Socket } from 'node:net';
const pipe = new Socket({ fd: 3 });
const frame = (id, word, text, { textBytes = Buffer.byteLength(text), body = '' } = {}) => {
  const head = Buffer.alloc(20);
  for (const [at, value] of [textBytes, body.length, id, word, 0].entries()) head.writeUInt32LE(value, 4 * at);
  pipe.write(Buffer.concat([head, Buffer.from(text + body)]));
};
const timings = { parseMs: 0, evaluateMs: 0 };
const good = { ok: true, values: {}, logs: [], timings, outcome: true, state: {} };
const failed = { ok: false, values: {}, logs: [], timings, failure: { reason: 'threw', message: 'x' } };
const say = (id, result, more) => frame(id, 0, JSON.stringify(result), more);
const nested = (levels) => '['.repeat(levels) + ']'.repeat(levels);
let held = Buffer.alloc(0);
let isSilent = false;
pipe.on('data', (chunk) => {
  held = Buffer.concat([held, chunk]);
  while (held.length >= 20) {
    const size = 20 + held.readUInt32LE(0) + held.readUInt32LE(4);
    if (held.length < size) return;
    const id = held.readUInt32LE(8);
    const job = held.toString('utf8', 20, 20 + held.readUInt32LE(0));
    held = held.subarray(size);
    if (isSilent) continue;
    if (id === 0) frame(0, 3, '');
    else { ${answer} }
  }
});
pipe.on('end', () => process.exit());
frame(0, 1, '');
`;

describe('the answer of an evaluator process', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'answers-')));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  let programs = 0;
  const deaths: string[] = [];
  const open: EvaluatorSupervisor[] = [];
  afterEach(async () => {
    deaths.length = 0;
    await Promise.all(open.splice(0).map((supervisor) => supervisor.close()));
  });

  async function supervise(answer: string, more: Partial<SupervisorSettings> = {}): Promise<EvaluatorSupervisor> {
    programs += 1;
    const entryPath = join(folder, `evaluator-${programs}.mjs`);
    await writeFile(entryPath, programOf(answer));
    const supervisor = new EvaluatorSupervisor({
      open: (settings) => spawnEvaluator({ entryPath, readable: [] }, settings),
      quickjsPath: '',
      lexborPath: null,
      workers: 1,
      spareWorkers: 0,
      idleMs: 60_000,
      graceMs: 1,
      parseMs: 1,
      silenceMs: 60_000,
      answerMarginMs: 1_000,
      watchMargins: { overMs: 3_600_000, idleMs: 3_600_000 },
      onDeath: (why) => deaths.push(why),
      ...more,
    });
    open.push(supervisor);
    return supervisor;
  }

  const evaluate = (supervisor: EvaluatorSupervisor, job = evaluation): Promise<JobOutcome<'evaluate'>> =>
    supervisor.run('evaluate', job, { cpuMs: limits.cpuMs, isUrgent: false });

  async function answered(answer: string): Promise<{ outcome: JobOutcome<'evaluate'>; deaths: readonly string[] }> {
    const supervisor = await supervise(answer);
    const outcome = await evaluate(supervisor);
    await supervisor.close();
    return { outcome, deaths };
  }

  it.each([
    'say(id, good)',
    'say(id, { ...good, state: { a: "x".repeat(1000) } })',
    'say(id, { ...good, values: { a: JSON.parse(nested(64)) } })',
    'say(id, { ...good, logs: [{ level: "log", message: "x".repeat(4000) }] })',
  ])('is accepted within the limits of its job: %s', async (answer) => {
    expect(await answered(answer)).toMatchObject({ outcome: { ok: true, result: { outcome: true } }, deaths: [] });
  });

  it.each([
    ['say(id, [good])', 1],
    ['say(id, [good, failed])', 2],
    ['say(id, [])', 'that is no result'],
    ['say(id, good)', 'that is no result'],
    ['say(id, [good, good, good])', 'that is no result'],
    ['say(id, [good, { ...good, outcome: 1 }])', 'that is no result'],
    ['say(id, [good, { ok: true, form: "body" }])', 'that is no result'],
    ['say(id, [good, { ...good, values: { a: "x".repeat(7000) } }])', 'that holds larger logs and values'],
    ['say(id, [good, { ...good, state: { a: "x".repeat(1100) } }])', 'that holds a larger state than the job allows'],
  ])('to a job of two pages has a result for each of the first ones, or ends the process: %s', async (answer, what) => {
    const supervisor = await supervise(answer);
    const { page, seed, nowMs, ...shared } = evaluation;
    const visits = [0, 1].map(() => ({ page, seed, nowMs }));
    const asked = { cpuMs: limits.cpuMs, isUrgent: false };
    const outcome = await supervisor.run('evaluateAll', { ...shared, visits }, asked);
    await supervisor.close();
    if (typeof what === 'number') expect(outcome).toMatchObject({ ok: true, result: { length: what } });
    else expect(deaths).toEqual([expect.stringContaining(what), expect.stringContaining(what)]);
  });

  it.each([
    ['frame(id, 0, "", { textBytes: 0xffffffff })', 'is larger than is accepted'],
    ['frame(id, 0, "", { textBytes: 12_000_000 })', 'is larger than is accepted'],
    ['frame(0, 3, "x")', 'is larger than is accepted'],
    ['frame(id + 1, 0, "{}")', 'is larger than is accepted'],
    ['frame(id + 1, 0, "")', 'it gave an answer to no job'],
    ['say(id, good, { body: "x" })', 'it gave an answer with a body'],
    ['frame(id, 0, "{")', 'it gave an answer that is no JSON'],
    ['frame(id, 77, "")', 'it gave an answer that is no ending'],
    ['say(id, [good])', 'it gave an answer that is no result'],
    ['say(id, { ...good, outcome: 1 })', 'it gave an answer that is no result'],
    ['say(id, { ...good, touched: Array(9).fill("state") })', 'it gave an answer that is no result'],
    ['say(id, { ...failed, failure: { reason: "threw", message: "x".repeat(5000) } })', 'that is no result'],
    ['say(id, { ...failed, failure: { reason: "threw", message: "", hint: "x".repeat(5000) } })', 'that is no result'],
    ['say(id, { ...failed, failure: { reason: "threw", message: "", line: 1e300 } })', 'that is no result'],
    ['say(id, { ...good, values: { a: JSON.parse(nested(65)) } })', 'it gave an answer that holds more than 64 levels'],
    ['say(id, { ...good, state: { a: JSON.parse(nested(64)) } })', 'it gave an answer that holds more than 64 levels'],
    [
      'frame(id, 0, JSON.stringify({ ...good, values: { a: "~" } }).replace(`"~"`, nested(50000)))',
      'it gave an answer that holds more than 64 levels',
    ],
    ['say(id, { ...good, state: { a: "x".repeat(1100) } })', 'that holds a larger state than the job allows'],
    ['say(id, { ...good, values: { a: "x".repeat(7000) } })', 'that holds larger logs and values than the job allows'],
    ['say(id, { ...good, logs: [{ level: "log", message: "x".repeat(7000) }] })', 'that holds larger logs and values'],
    ['say(id, { ...good, logs: Array(300).fill({ level: "log", message: "" }) })', 'more logs and values than the job'],
    [
      'say(id, { ...good, values: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [at, 0])) })',
      'that holds more logs and values than the job allows',
    ],
  ])('ends the process where it is none, and the run fails with a reason: %s', async (answer, why) => {
    const { outcome, deaths } = await answered(answer);
    expect(outcome).toMatchObject({ ok: false, ended: 'crashed' });
    expect(deaths).toEqual([expect.stringContaining(why), expect.stringContaining(why)]);
  });

  it('is read no further behind what is none', async () => {
    const { outcome, deaths } = await answered('frame(id, 0, "{"); say(id, good)');
    expect(outcome).toMatchObject({ ok: false, ended: 'crashed' });
    expect(deaths).toHaveLength(2);
  });

  it('ends the process where it does not come in its time, though pings are answered', async () => {
    const { outcome, deaths } = await answered('');
    expect(outcome).toEqual({ ok: false, ended: 'crashed', message: 'it did not answer a job in its time' });
    expect(deaths).toEqual(['it did not answer a job in its time', 'it did not answer a job in its time']);
  });

  /** So long that nothing but the job's own deadline ends anything in a spec. */
  const endless = { silenceMs: 3_600_000, answerMarginMs: 3_600_000 };

  it('ends the process where nothing at all comes of it once the time of its job is over', async () => {
    const outcome = await evaluate(await supervise('isSilent = true', endless));
    expect(outcome).toEqual({ ok: false, ended: 'crashed', message: 'it did not answer any more' });
    expect(deaths).toEqual(['it did not answer any more', 'it did not answer any more']);
  });

  it.each([
    ['sleeps', ''],
    ['never rests', 'setInterval(() => { for (const end = Date.now() + 90; Date.now() < end;); }, 100)'],
  ])('ends the process where it answers pings and no job, and %s', async (_, answer) => {
    const outcome = await evaluate(
      await supervise(answer, { ...endless, watchMargins: { overMs: 200, idleMs: 3_600_000 } }),
    );
    expect(outcome).toEqual({ ok: false, ended: 'crashed', message: 'it did not answer a job in its time' });
    expect(deaths).toEqual(['it did not answer a job in its time', 'it did not answer a job in its time']);
  });

  it('ends the process within its margin where it has answered before, and sleeps over a job', async () => {
    const answer = 'if (!job.includes("asleep")) say(id, good)';
    const supervisor = await supervise(answer, { ...endless, watchMargins: { overMs: 3_600_000, idleMs: 200 } });
    await evaluate(supervisor);
    const asleep = evaluate(supervisor, jobOf('"asleep"', { limits }));
    await found(async () => deaths.length > 0);
    expect(deaths).toEqual(['it did not answer a job in its time']);
    await supervisor.close();
    expect(await asleep).toMatchObject({ ok: false });
  });

  it('that never comes delays no job that waits in the same process beyond its end', async () => {
    const answer = 'if (job.includes("hostile")) isSilent = true; else say(id, good)';
    const supervisor = await supervise(answer, { ...endless, workers: 2 });
    const ended: string[] = [];
    const note = async (name: string, outcome: Promise<JobOutcome<'evaluate'>>): Promise<void> => {
      const { ok } = await outcome;
      ended.push(`${name}: ${ok ? 'answered' : 'failed'}`);
    };
    await Promise.all([
      note('hostile', evaluate(supervisor, jobOf('"hostile"', { limits }))),
      ...['one', 'two', 'three'].map((name) => note(name, evaluate(supervisor))),
    ]);
    expect(ended.toSorted()).toEqual(['hostile: failed', 'one: answered', 'three: answered', 'two: answered']);
    expect(ended.at(-1)).toBe('hostile: failed');
  });

  it('is cut to the length of a message where it says why a job ended', async () => {
    const { outcome } = await answered('frame(id, 5, "x".repeat(9000))');
    expect(outcome).toEqual({ ok: false, ended: 'unavailable', message: 'x'.repeat(4_096) });
  });
});
