/**
 * The evaluator processes behind the sandbox: one for all jobs, forked on the first job, replaced when it dies and ended
 * when idle. Jobs in flight when it died run once more, each alone in a quarantine process, so that the job that crashes it is
 * known and the others get their results: at once, since they do not wait behind it. For some minutes after a death a process
 * stands by for each of them.
 */
import { EvaluatorProcess } from './evaluator-process.js';
import type { EvaluatorUse, OpenEvaluator } from './evaluator-channel.js';
import type { Frame } from './frames.js';
import { JobWatch, type WatchedJob, type WatchMargins } from './job-watch.js';
import { answerLimitsOf, readResult } from './results.js';
import type { AnswerLimits, ReadResult } from './results.js';
import {
  batchMs,
  concludeMs,
  encodeJob,
  endings,
  jobKinds,
  largestRequestBytes,
  longestMessage,
  urgentMark,
  wallFactor,
} from './messages.js';
import type { EncodedJob, Ending, EvaluatorSettings, JobKind, JobKinds, JobOutcome, JobRunner } from './messages.js';
import type { ProcessorUse } from './processor-use.js';
import { Standby } from './standby.js';

export interface SupervisorSettings extends EvaluatorSettings {
  readonly open: OpenEvaluator;
  /** A process that has work and does not answer for this long is considered dead. */
  readonly silenceMs: number;
  /** A job that is not answered for this long beyond all that it and those before it may take ends its process. */
  readonly answerMarginMs: number;
  /** The same where the machine tells what the process had of its processors: then they need not be so long. */
  readonly watchMargins: WatchMargins;
  /** Called with the reason when a process ends by itself. */
  onDeath(why: string): void;
}

/** A process and the number of its jobs in flight. */
export interface RunningProcess {
  readonly pid: number;
  readonly jobs: number;
}

/** Most bytes in flight in one process, unless a single job is larger. */
const maxBytesInFlight = 32 * 1024 * 1024;

interface Job {
  readonly encoded: EncodedJob;
  readonly byteLength: number;
  readonly cpuMs: number;
  readonly isUrgent: boolean;
  /** It took long the last time. */
  readonly isLong: boolean;
  readonly answerLimits: AnswerLimits;
  settle(outcome: { readonly ok: true; readonly result: JobKinds[JobKind]['result'] } | Ending): void;
}

interface ProcessQueueSettings extends SupervisorSettings {
  readonly use: EvaluatorUse;
  readonly atOnce: number;
  /** The process died with these in flight. */
  onLost(jobs: readonly Job[], why: string): void;
}

interface JobInFlight extends WatchedJob {
  readonly job: Job;
  /** When its own time is over, had a thread begun it at once. */
  readonly dueMs: number;
  readonly overdueTimer: NodeJS.Timeout;
}

/** One process at a time and the jobs that wait for it. */
class ProcessQueue {
  readonly #settings: ProcessQueueSettings;
  readonly #waiting: Job[] = [];
  readonly #inFlight = new Map<number, JobInFlight>();
  #process: EvaluatorProcess | null = null;
  #watch: JobWatch;
  #bytes = 0;
  /** What all jobs that were sent may take of a core. */
  #sentMs = 0;
  /** How many jobs the process has answered. */
  #answers = 0;
  #lastId = 0;
  #hasRoom = true;
  /** It gave no answer, or none that is one: it gets no more jobs, and nothing more of it is read. */
  #isEnding = false;
  #isIdleCheckPending = false;
  #idleTimer: NodeJS.Timeout | null = null;
  readonly #standby = new Standby(() => this.#open());

  constructor(settings: ProcessQueueSettings) {
    this.#settings = settings;
    this.#watch = new JobWatch(settings.watchMargins);
  }

  get running(): RunningProcess | null {
    const pid = this.#process?.pid;
    return pid === undefined ? null : { pid, jobs: this.#inFlight.size };
  }

  add(job: Job): void {
    if (job.isUrgent) this.#waiting.unshift(job);
    else this.#waiting.push(job);
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    this.#pump();
  }

  async close(): Promise<void> {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    const ended = this.#process;
    this.#process = null;
    for (const job of [...this.#takeInFlight(), ...this.#waiting.splice(0)])
      job.settle({ ok: false, ended: 'unavailable' });
    await Promise.all([ended?.end(''), this.#standby.close()]);
  }

  /** For some minutes from now on a process stands by. */
  expectDeaths(): void {
    this.#standby.expectDeaths();
  }

  #pump(): void {
    const process = this.#process ?? this.#begin();
    if (process === null || !process.isReady || this.#isEnding) return;
    if (this.#waiting.length === 0) return this.#idleSoon(process);
    process.setWorking(true);
    for (let job = this.#waiting[0]; job !== undefined && this.#mayStart(job); job = this.#waiting[0]) {
      this.#waiting.shift();
      this.#lastId = (this.#lastId % 0xffff_fffe) + 1;
      this.#hold(process, job);
      this.#bytes += job.byteLength;
      const word = jobKinds.indexOf(job.encoded.kind) + (job.isUrgent ? urgentMark : 0);
      const frame = { id: this.#lastId, word, ms: job.cpuMs, text: job.encoded.text };
      this.#hasRoom = process.send(frame, job.encoded.body);
    }
  }

  #mayStart(job: Job): boolean {
    if (this.#inFlight.size === 0) return true;
    return (
      this.#hasRoom && this.#inFlight.size < this.#settings.atOnce && this.#bytes + job.byteLength <= maxBytesInFlight
    );
  }

  /** Throws where no process can be started. */
  #open(): EvaluatorProcess {
    const { open, silenceMs, use } = this.#settings;
    const made: EvaluatorProcess = new EvaluatorProcess(open(this.#settings, use), silenceMs, {
      onReady: () => {
        if (this.#process === made) this.#pump();
      },
      onAnswer: (frame) => this.#onAnswer(made, frame),
      isOverdue: () => this.#isOldestOverdue(),
      onBeat: (use) => this.#onBeat(made, use),
      answerBytes: (id) => (this.#process === made ? (this.#inFlight.get(id)?.job.answerLimits.textBytes ?? 0) : 0),
      onRoom: () => {
        if (this.#process !== made) return;
        this.#hasRoom = true;
        this.#pump();
      },
      onEnd: (why) => this.#onEnd(made, why),
    });
    return made;
  }

  /** The one that stands by, or a new one. */
  #begin(): EvaluatorProcess | null {
    this.#hasRoom = true;
    this.#isEnding = false;
    try {
      const begun = this.#standby.take() ?? this.#open();
      begun.confirm();
      begun.setWorking(true);
      this.#process = begun;
      this.#watch = new JobWatch(this.#settings.watchMargins);
      this.#answers = 0;
      return begun;
    } catch (error) {
      this.#failWaiting(String(error));
      return null;
    }
  }

  #onAnswer(from: EvaluatorProcess, frame: Frame): void {
    if (this.#process !== from || this.#isEnding) return;
    const found = this.#inFlight.get(frame.id);
    if (found === undefined) return this.#end(from, 'it gave an answer to no job');
    const { job, overdueTimer } = found;
    const outcome = outcomeOf(job, frame);
    if ('why' in outcome) return this.#end(from, `it gave an answer ${outcome.why}`);
    clearTimeout(overdueTimer);
    this.#inFlight.delete(frame.id);
    this.#answers += 1;
    this.#bytes -= job.byteLength;
    job.settle(outcome);
    this.#pump();
  }

  /** From here on nothing of the process is trusted. */
  #end(distrusted: EvaluatorProcess, why: string): void {
    this.#isEnding = true;
    void distrusted.end(why);
  }

  /** Under the id that was given last. */
  #hold(process: EvaluatorProcess, job: Job): void {
    const id = this.#lastId;
    const ownMs = this.#ownMs(job);
    this.#sentMs += ownMs;
    // In the worst case a single thread runs all of them, one after the other.
    const allowedMs = [...this.#inFlight.values()].reduce((sum, each) => sum + this.#ownMs(each.job), ownMs);
    const overdueTimer = this.#endWhenOverdue(process, id, job, allowedMs);
    this.#inFlight.set(id, { job, dueMs: performance.now() + ownMs, allowedMs, since: null, overdueTimer });
  }

  /** The threads end each job in its time; where no answer comes, it is the process that does not do as it should. */
  #endWhenOverdue(process: EvaluatorProcess, id: number, job: Job, allowedMs: number): NodeJS.Timeout {
    const longestMs = wallFactor * allowedMs + this.#settings.answerMarginMs;
    const check = (): void => {
      const isOverdue = this.#process === process && this.#inFlight.get(id)?.job === job;
      if (isOverdue && !this.#isEnding) this.#end(process, 'it did not answer a job in its time');
    };
    // The answer may be waiting behind a late timer.
    return setTimeout(() => setImmediate(check), longestMs).unref();
  }

  /** The kernel counts what the process cannot hide: that it sleeps over a job, or runs on. */
  #onBeat(process: EvaluatorProcess, use: ProcessorUse): void {
    if (this.#process !== process) return;
    const beat = { atMs: performance.now(), use, sentMs: this.#sentMs, answers: this.#answers };
    const over = this.#watch.firstOver(this.#inFlight.values(), beat);
    if (over === null) return;
    // The answer may be waiting behind a late timer.
    setImmediate(() => {
      const isThere = this.#process === process && [...this.#inFlight.values()].includes(over);
      if (isThere && !this.#isEnding) this.#end(process, 'it did not answer a job in its time');
    });
  }

  /** What a job may take of a core. */
  #ownMs({ cpuMs, encoded }: Job): number {
    return cpuMs + this.#settings.parseMs + concludeMs + (encoded.kind === 'evaluateAll' ? batchMs : 0);
  }

  /** The oldest was begun at once, whatever waits behind it. */
  #isOldestOverdue(): boolean {
    const [oldest] = this.#inFlight.values();
    return oldest !== undefined && performance.now() >= oldest.dueMs;
  }

  #onEnd(ended: EvaluatorProcess, why: string): void {
    this.#standby.forget(ended);
    if (this.#process !== ended) return;
    this.#process = null;
    this.#settings.onDeath(why);
    const lost = this.#takeInFlight();
    // It never started: another process would fail as well, and the next job retries.
    if (lost.length === 0 && !ended.hasStarted) this.#failWaiting(why);
    this.#settings.onLost(lost, why);
    if (this.#waiting.length > 0 || lost.length > 0) this.#pump();
  }

  #takeInFlight(): readonly Job[] {
    const inFlight = [...this.#inFlight.values()];
    for (const { overdueTimer } of inFlight) clearTimeout(overdueTimer);
    this.#inFlight.clear();
    this.#bytes = 0;
    return inFlight.map(({ job }) => job);
  }

  #failWaiting(message: string): void {
    for (const job of this.#waiting.splice(0)) job.settle({ ok: false, ended: 'unavailable', message });
  }

  /** Deferred by a turn: the caller that got the last result may have another job. */
  #idleSoon(idle: EvaluatorProcess): void {
    if (this.#inFlight.size > 0 || this.#isIdleCheckPending) return;
    this.#isIdleCheckPending = true;
    setImmediate(() => {
      this.#isIdleCheckPending = false;
      if (this.#process === idle && this.#inFlight.size === 0) this.#idle(idle);
    });
  }

  #idle(idle: EvaluatorProcess): void {
    idle.setWorking(false);
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = null;
      this.#process = null;
      void idle.end('');
    }, this.#settings.idleMs);
    this.#idleTimer.unref();
  }
}

/** The outcome that an answer encodes; `why` where it is none. */
function outcomeOf(
  { encoded, answerLimits }: Job,
  { word, text, body }: Frame,
): (ReadResult & { readonly ok: true }) | Ending | { readonly why: string } {
  if (body.byteLength > 0) return { why: 'with a body' };
  if (word === 0) return readResult(encoded.kind, text, answerLimits);
  const ended = endings[word - 1];
  if (ended === undefined) return { why: 'that is no ending' };
  return { ok: false, ended, ...(text === '' ? {} : { message: text.slice(0, longestMessage) }) };
}

/**
 * Jobs that are tried alone, side by side: one that holds its process up to its deadline holds up no other. Those that took long
 * before are tried in the first quarantine alone.
 */
const quarantines = 2;

function quarantineOf(settings: SupervisorSettings): ProcessQueue {
  return new ProcessQueue({
    ...settings,
    use: 'quarantine',
    workers: 1,
    spareWorkers: 0,
    atOnce: 1,
    // It ends with its job: a signal to every process at once would otherwise hit it with a job just sent, which is then blamed.
    idleMs: 0,
    onLost(jobs, why) {
      for (const job of jobs) job.settle({ ok: false, ended: 'crashed', message: why });
    },
  });
}

export class EvaluatorSupervisor implements JobRunner {
  readonly #shared: ProcessQueue;
  readonly #quarantines: readonly ProcessQueue[];
  /** Quarantines without a job. */
  readonly #free: Set<ProcessQueue>;
  /**
   * Jobs that were in flight when a process died, and wait for a quarantine, the one that was sent last first: it had least time
   * to do it, and those that were there for long may hold up a quarantine for as long again.
   */
  readonly #suspects: Job[] = [];
  #isClosed = false;

  constructor(settings: SupervisorSettings) {
    const { workers, spareWorkers } = settings;
    this.#quarantines = Array.from({ length: quarantines }, () => quarantineOf(settings));
    this.#free = new Set(this.#quarantines);
    this.#shared = new ProcessQueue({
      ...settings,
      use: 'shared',
      // The next job of each thread is in the process already.
      atOnce: 2 * workers + spareWorkers,
      onLost: (jobs) => {
        this.#suspects.push(...jobs);
        this.#runApart();
        for (const queue of [this.#shared, ...this.#quarantines]) queue.expectDeaths();
      },
    });
  }

  get running(): readonly RunningProcess[] {
    return [this.#shared, ...this.#quarantines].map(({ running }) => running).filter((each) => each !== null);
  }

  run<Kind extends JobKind>(
    kind: Kind,
    job: JobKinds[Kind]['job'],
    options: { readonly cpuMs: number; readonly isUrgent: boolean; readonly isLong?: boolean },
  ): Promise<JobOutcome<Kind>> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve({ ok: false, ended: 'unavailable' });
      const encoded = encodeJob(kind, job);
      const byteLength = 3 * encoded.text.length + encoded.body.byteLength;
      if (byteLength > largestRequestBytes) {
        return resolve({ ok: false, ended: 'parse_memory' });
      }
      this.#shared.add({
        isLong: false,
        ...options,
        encoded,
        byteLength,
        answerLimits: answerLimitsOf(job),
        settle: resolve,
      });
    });
  }

  /** Ends the processes; jobs in flight and waiting jobs are `unavailable`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#suspects.splice(0)) job.settle({ ok: false, ended: 'unavailable' });
    await Promise.all([this.#shared, ...this.#quarantines].map((queue) => queue.close()));
  }

  #runApart(): void {
    for (const queue of this.#quarantines) {
      const mayBeLong = queue === this.#quarantines[0];
      const at = this.#free.has(queue) ? this.#suspects.findLastIndex(({ isLong }) => mayBeLong || !isLong) : -1;
      const [job] = at === -1 ? [] : this.#suspects.splice(at, 1);
      if (job === undefined) continue;
      this.#free.delete(queue);
      this.#runAlone(queue, job);
    }
  }

  #runAlone(queue: ProcessQueue, job: Job): void {
    queue.add({
      ...job,
      settle: (outcome) => {
        this.#free.add(queue);
        job.settle(outcome);
        this.#runApart();
      },
    });
  }
}
