/** The worker thread: one job at a time, answered in order, so that no ids are needed. Started by `worker-pool.ts`. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { decodeJob, phases, progressWords } from './messages.js';
import type { EncodedJob, JobKind, JobKinds, WorkerReply, WorkerSettings } from './messages.js';
import type { PageParser } from '../parsers/page-parser.js';
import { SandboxCore } from './sandbox-core.js';

/**
 * Local time inside the sandbox is the engine asking this thread's `Date`: it answers in UTC, so that a result does not
 * depend on where the process runs. Nothing else in this thread uses local time.
 */
function answerLocalTimeInUtc(): void {
  const { prototype } = Date;
  prototype.getTimezoneOffset = () => 0;
  for (const part of ['Seconds', 'Minutes', 'Hours', 'Date', 'Day', 'Month', 'FullYear'] as const) {
    prototype[`get${part}`] = prototype[`getUTC${part}`];
  }
}

async function resultOf(core: SandboxCore, encoded: EncodedJob): Promise<JobKinds[JobKind]['result']> {
  const { kind, job } = decodeJob(encoded);
  switch (kind) {
    case 'check':
      return core.checkAll(job.codes);
    case 'evaluate':
      return core.evaluate(job);
    case 'evaluateAll':
      return core.evaluateAll(job);
    case 'script':
      return core.runScript(job);
  }
}

/** Loads only the parser in use. */
async function loadParser({ lexborModule }: WorkerSettings): Promise<PageParser> {
  if (lexborModule === null) return (await import('../parsers/parse5-page-parser.js')).parse5PageParser;
  return (await import('../parsers/lexbor-page-parser.js')).createLexborPageParser(lexborModule);
}

/** Below that of everything else: code that uses all of its time delays other code, never the API or the schedule. */
const threadPriority = 5;

/** Of this thread alone where the machine knows such (Linux). A machine that refuses runs it as any other. */
function stepBack(): void {
  try {
    setPriority(0, threadPriority);
  } catch {
    // the priority is a courtesy: without it all that is said elsewhere still holds
  }
}

async function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): Promise<void> {
  const progress = new Int32Array(settings.progress);
  const enter = (phase: keyof typeof phases): void => {
    const nowMs = performance.timeOrigin + performance.now();
    const { user, system } = process.threadCpuUsage();
    Atomics.store(progress, progressWords.sinceMs, Math.round(nowMs - settings.epochMs));
    Atomics.store(progress, progressWords.cpuMs, Math.round((user + system) / 1_000));
    Atomics.store(progress, progressWords.phase, phases[phase]);
  };
  const core = new SandboxCore(settings.wasmModule, await loadParser(settings), enter, settings.image);
  const image = await core.prepare();
  const reply = (message: WorkerReply): void => port.postMessage(message);
  port.on('message', (job: EncodedJob) => {
    void resultOf(core, job)
      .then(
        (result): WorkerReply => ({ kind: 'result', text: JSON.stringify(result) }),
        (error: unknown): WorkerReply => ({ kind: 'broken', message: String(error) }),
      )
      .then((message) => {
        enter('idle');
        reply(message);
      });
  });
  reply({ kind: 'ready', image: settings.image === null ? image : null });
}

stepBack();
answerLocalTimeInUtc();
if (parentPort !== null) await serve(parentPort, workerData as WorkerSettings);
