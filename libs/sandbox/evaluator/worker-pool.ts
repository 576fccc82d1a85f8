/**
 * The threads that run jobs, seen from the process that asks: made when first needed, one job each at a time, watched
 * from outside, ended and replaced when a job does not end by itself, and let go after a while without work.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { withTimeoutOr } from '#concurrency/timeout';
import type { GuestImage } from '../guest/guest.js';
import { defaultSandboxLimits, type EvaluationJob } from '../sandbox.js';
import { threadFlags } from './permissions.js';
import { concludeMs, encodeJob, phases, progressWords, wallFactor } from './messages.js';
import type { EncodedJob, Ended, EvaluatorSettings, TextOutcome, WorkerReply, WorkerSettings } from './messages.js';

export interface PoolSettings extends EvaluatorSettings {
  readonly workerUrl: URL;
}

type Engines = Pick<WorkerSettings, 'wasmModule' | 'lexborModule'>;

/** A job that has run this long no longer holds up those behind it: a spare thread takes over. */
const longJobMs = 100;
const shortestWatchMs = 10;
/** How long a thread may take to report its CPU time; it answers in the middle of its work, once it gets a core. */
const cpuUsageMs = 1_000;
const startMs = 10_000;
const heapLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 };

/** What most code does with most pages. */
export const firstJob: EvaluationJob = {
  code: "return document.querySelector('#price').textContent.trim() !== '' && page.text.length > 0;",
  form: 'body',
  page: {
    url: 'https://first.example/',
    finalUrl: 'https://first.example/',
    status: 200,
    headers: {},
    contentKind: 'html',
    body: new TextEncoder().encode('<!doctype html><title>First</title><p class="a" id="price">1</p>'),
  },
  previous: null,
  state: {},
  seed: '',
  nowMs: 0,
  limits: defaultSandboxLimits,
};

interface WaitingJob {
  readonly request: EncodedJob;
  readonly cpuMs: number;
  settle(outcome: TextOutcome): void;
}

interface RunningJob extends WaitingJob {
  readonly startedMs: number;
}

class PoolWorker {
  readonly thread: Worker;
  readonly progress: Int32Array;
  job: RunningJob | null = null;
  watchdog: NodeJS.Timeout | null = null;
  isEnding = false;
  idleSinceMs = performance.now();

  constructor(workerUrl: URL, known: Omit<WorkerSettings, 'progress'>) {
    const shared = new SharedArrayBuffer(12);
    this.progress = new Int32Array(shared);
    const settings: WorkerSettings = { ...known, progress: shared };
    // No environment and no arguments, and flags of its own: without them the permission model does not hold in a thread.
    this.thread = new Worker(workerUrl, {
      workerData: settings,
      env: {},
      argv: [],
      execArgv: [...threadFlags(workerUrl)],
      resourceLimits: heapLimits,
    });
    this.thread.unref();
  }

  get phase(): number {
    return Atomics.load(this.progress, progressWords.phase);
  }

  get sinceMs(): number {
    return Atomics.load(this.progress, progressWords.sinceMs);
  }
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(path));
}

async function compileEngines({ quickjsPath, lexborPath }: PoolSettings): Promise<Engines> {
  const [wasmModule, lexborModule] = await Promise.all([
    compile(quickjsPath),
    lexborPath === null ? null : compile(lexborPath),
  ]);
  return { wasmModule, lexborModule };
}

export class WorkerPool {
  readonly #settings: PoolSettings;
  readonly #epochMs = performance.timeOrigin;
  readonly #workers = new Set<PoolWorker>();
  readonly #waiting: WaitingJob[] = [];
  #compiling: Promise<Engines> | null = null;
  #engines: Engines | null = null;
  /** Of the first thread that made one, before it ran any code. */
  #image: GuestImage | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  #longJobTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#workers.size;
  }

  /** Runs a job, whose body becomes the thread's; `isUrgent` puts it before all that wait. Never rejects for what the job does. */
  run(
    request: EncodedJob,
    { cpuMs, isUrgent }: { readonly cpuMs: number; readonly isUrgent: boolean },
  ): Promise<TextOutcome> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve({ ok: false, ended: 'unavailable' });
      const waiting: WaitingJob = { request, cpuMs, settle: resolve };
      if (isUrgent) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
      this.#dispatch();
    });
  }

  /** Starts every thread but the spares and has each do its first job, which takes ten times as long as any later one. */
  async warmUp(): Promise<void> {
    const encoded = encodeJob('evaluate', firstJob);
    // Threads get bodies of their own.
    const requests = Array.from({ length: this.#settings.workers }, () => ({ ...encoded, body: encoded.body.slice() }));
    const { cpuMs } = firstJob.limits;
    await Promise.all(requests.map((request) => this.run(request, { cpuMs, isUrgent: false })));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    if (this.#longJobTimer !== null) clearTimeout(this.#longJobTimer);
    for (const job of this.#waiting.splice(0)) job.settle({ ok: false, ended: 'unavailable' });
    await Promise.all([...this.#workers].map((worker) => this.#end(worker, 'unavailable')));
  }

  #dispatch(): void {
    if (this.#isClosed || this.#waiting.length === 0) return;
    if (this.#engines === null) {
      this.#compiling ??= compileEngines(this.#settings);
      this.#compiling.then(
        (engines) => {
          this.#engines = engines;
          this.#dispatch();
        },
        (error: unknown) => {
          this.#compiling = null;
          const message = String(error);
          for (const job of this.#waiting.splice(0)) job.settle({ ok: false, ended: 'unavailable', message });
        },
      );
      return;
    }
    while (this.#waiting.length > 0) {
      const worker = this.#freeWorker(this.#engines);
      const job = worker === null ? undefined : this.#waiting.shift();
      if (worker === null || job === undefined) break;
      this.#start(worker, job);
    }
    if (this.#waiting.length > 0) this.#redispatchWhenLong();
  }

  /** An idle thread, or a new one where there may be one more: spares compensate for threads with long jobs. */
  #freeWorker(engines: Engines): PoolWorker | null {
    const now = performance.now();
    let busy = 0;
    let long = 0;
    let idle: PoolWorker | null = null;
    for (const worker of this.#workers) {
      if (worker.isEnding) continue;
      if (worker.job === null) idle ??= worker;
      else {
        busy += 1;
        if (now - worker.job.startedMs >= longJobMs) long += 1;
      }
    }
    const allowed = this.#settings.workers + Math.min(long, this.#settings.spareWorkers);
    if (busy >= allowed) return null;
    return idle ?? this.#spawn(engines);
  }

  #spawn(engines: Engines): PoolWorker {
    const worker = new PoolWorker(this.#settings.workerUrl, {
      ...engines,
      image: this.#image,
      epochMs: this.#epochMs,
    });
    this.#workers.add(worker);
    worker.thread.on('message', (reply: WorkerReply) => this.#onReply(worker, reply));
    worker.thread.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const inMemory = worker.phase === phases.parsing ? 'parse_memory' : 'memory';
      void this.#end(worker, isMemory ? inMemory : 'unavailable', error.message);
    });
    worker.thread.on('exit', () => void this.#end(worker, 'unavailable'));
    this.#shrinkWhenIdle();
    return worker;
  }

  #start(worker: PoolWorker, job: WaitingJob): void {
    worker.job = { ...job, startedMs: performance.now() };
    worker.thread.ref();
    this.#watch(worker, this.#shortestMs(job));
    const { buffer } = job.request.body;
    worker.thread.postMessage(job.request, buffer instanceof ArrayBuffer && buffer.byteLength > 0 ? [buffer] : []);
  }

  #onReply(worker: PoolWorker, reply: WorkerReply): void {
    if (worker.isEnding) return;
    if (reply.kind === 'ready') {
      this.#image ??= reply.image;
      return;
    }
    if (reply.kind === 'broken') return void this.#end(worker, 'unavailable', reply.message);
    const { job } = worker;
    if (job === null) return;
    this.#release(worker);
    job.settle({ ok: true, text: reply.text });
    this.#dispatch();
  }

  #release(worker: PoolWorker): void {
    if (worker.watchdog !== null) clearTimeout(worker.watchdog);
    worker.watchdog = null;
    worker.job = null;
    worker.idleSinceMs = performance.now();
    worker.thread.unref();
  }

  /** No job can be over its time sooner. */
  #shortestMs({ cpuMs }: WaitingJob): number {
    return Math.min(cpuMs, this.#settings.parseMs) + this.#settings.graceMs;
  }

  #watch(worker: PoolWorker, delayMs: number): void {
    const { job } = worker;
    if (worker.watchdog !== null) clearTimeout(worker.watchdog);
    // The answer may be waiting behind a late timer: messages are handled before the verdict.
    worker.watchdog = setTimeout(() => setImmediate(() => void this.#inspect(worker, job)), delayMs);
  }

  /** Ends a worker whose job is over its time; otherwise checks again when it may be. */
  async #inspect(worker: PoolWorker, job: RunningJob | null): Promise<void> {
    if (job === null || worker.job !== job || worker.isEnding) return;
    const { graceMs } = this.#settings;
    const { phase } = worker;
    const nowMs = performance.timeOrigin + performance.now() - this.#epochMs;
    const sinceMs = phase === phases.idle ? job.startedMs : worker.sinceMs;
    const budgetMs = this.#budgetMs(phase, job);
    const leftMs = sinceMs + budgetMs + graceMs - nowMs;
    // What comes after this phase may be over its own time sooner than this one, but not sooner than if it began now.
    const nextMs = phase >= phases.running ? leftMs : Math.min(leftMs, this.#shortestMs(job));
    if (leftMs > 0) return this.#watch(worker, nextMs + 1);
    const isBeyondWall = nowMs - sinceMs > budgetMs * wallFactor + graceMs;
    if (!isBeyondWall) {
      const usedMs = await this.#cpuMs(worker);
      if (worker.job !== job || worker.isEnding) return;
      // The machine is busy elsewhere: the thread has not had its time yet.
      const unusedMs = usedMs === null ? 0 : budgetMs + graceMs - usedMs;
      if (worker.phase !== phase || unusedMs > 0) return this.#watch(worker, Math.max(unusedMs, shortestWatchMs));
    }
    await this.#end(worker, phase >= phases.running ? 'cpu_time' : 'parse_time');
  }

  #budgetMs(phase: number, { cpuMs }: WaitingJob): number {
    if (phase === phases.idle) return startMs;
    if (phase === phases.parsing) return this.#settings.parseMs;
    return phase === phases.running ? cpuMs : concludeMs;
  }

  /** CPU time of the phase so far; null where the thread does not report it, which counts as over budget. */
  async #cpuMs(worker: PoolWorker): Promise<number | null> {
    const atStartMs = Atomics.load(worker.progress, progressWords.cpuMs);
    const used = worker.thread.cpuUsage().then(
      ({ user, system }) => (user + system) / 1_000 - atStartMs,
      () => null,
    );
    return withTimeoutOr(used, cpuUsageMs, null);
  }

  async #end(worker: PoolWorker, ended: Ended, message?: string): Promise<void> {
    if (worker.isEnding) return;
    worker.isEnding = true;
    const { job } = worker;
    this.#release(worker);
    this.#workers.delete(worker);
    job?.settle({ ok: false, ended, ...(message === undefined ? {} : { message }) });
    const gone = worker.thread.terminate();
    if (!this.#isClosed && ended !== 'unavailable') this.#keepSpare();
    this.#dispatch();
    await gone;
  }

  /** So that the next job need not wait for a thread to start. */
  #keepSpare(): void {
    if (this.#engines !== null && this.#workers.size < this.#settings.workers) this.#spawn(this.#engines);
  }

  #redispatchWhenLong(): void {
    if (this.#longJobTimer !== null) return;
    this.#longJobTimer = setTimeout(() => {
      this.#longJobTimer = null;
      this.#dispatch();
    }, longJobMs);
    this.#longJobTimer.unref();
  }

  #shrinkWhenIdle(): void {
    // A process without an idle time ends with its job.
    if (this.#idleTimer !== null || this.#settings.idleMs === 0) return;
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = null;
      const before = performance.now() - this.#settings.idleMs;
      for (const worker of this.#workers) {
        if (worker.job === null && worker.idleSinceMs <= before) void this.#end(worker, 'unavailable');
      }
      if (this.#workers.size > 0) this.#shrinkWhenIdle();
    }, this.#settings.idleMs);
    this.#idleTimer.unref();
  }
}
