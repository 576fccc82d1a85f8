/**
 * One evaluator process, seen from the product: started with an empty environment under Node's permission model and in
 * what namespaces the machine offers, reached over one pipe, pinged for a heartbeat, and killed with everything it holds.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Duplex } from 'node:stream';
import { encodeFrame, FrameReader } from './frames.js';
import type { Frame } from './frames.js';
import { machineIsolation } from './isolation.js';
import { closedFeatures, knownFlags } from './permissions.js';
import { signals } from './messages.js';
import type { EvaluatorSettings } from './messages.js';

export interface EvaluatorPlaces {
  /** The program; it and the thread's program lie in one folder. */
  readonly entryPath: string;
  /** Everything else that it reads. */
  readonly readable: readonly string[];
}

export interface EvaluatorEvents {
  onReady(): void;
  onAnswer(frame: Frame): void;
  /** Most bytes of the answer with this id; 0 where none is expected. */
  answerBytes(id: number): number;
  /** The pipe has room again after `send` returned false. */
  onRoom(): void;
  /** The process is gone, for whatever reason; called once. `why` is that reason in words. */
  onEnd(why: string): void;
}

const pingEveryMs = 1_000;
const startMs = 30_000;
const stderrTailBytes = 2_048;
/** Of its main thread, which only forwards messages; the threads have limits of their own. */
const heapMb = 64;

function flagsFor({ entryPath, readable }: EvaluatorPlaces): string[] {
  return [
    '--permission',
    '--allow-worker',
    ...[entryPath, ...readable].map((path) => `--allow-fs-read=${path}`),
    ...closedFeatures,
    // A signal would else open an inspector, in this process too.
    ...knownFlags(['--disable-sigusr1']),
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
  ];
}

/** What some versions of the launcher say when what they started was killed. */
const launcherNoise = /^unshare: sigprocmask unblock failed/;

/** The process that the launcher started; null where the machine does not say. */
function onlyChildOf(pid: number): number | null {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return Number(first) || null;
  } catch {
    return null;
  }
}

export class EvaluatorProcess {
  readonly #child: ChildProcess;
  #innerPid: number | null = null;
  readonly #pipe: Duplex;
  readonly #events: EvaluatorEvents;
  readonly #silenceMs: number;
  readonly #exited: Promise<void>;
  readonly #startTimer: NodeJS.Timeout;
  #pingTimer: NodeJS.Timeout | null = null;
  /** When the unanswered ping was sent. */
  #askedMs: number | null = null;
  #stderrTail = '';
  #isReady = false;
  #isWorking: boolean | null = null;
  #isOver = false;
  #why = '';

  /** Throws where no process can be started. `silenceMs` is how long a ping may stay unanswered. */
  constructor(places: EvaluatorPlaces, settings: EvaluatorSettings, silenceMs: number, events: EvaluatorEvents) {
    this.#events = events;
    this.#silenceMs = silenceMs;
    const { launcher } = machineIsolation();
    const words = [...launcher, process.execPath, ...flagsFor(places), places.entryPath, JSON.stringify(settings)];
    const [command = process.execPath, ...args] = words;
    const child = spawn(command, args, {
      env: {},
      // A thread may read below its working folder, whatever the flags say.
      cwd: dirname(places.entryPath),
      // In the product's process group, a signal to the own group would reach the product, out of any namespace.
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.#child = child;
    const pipe = child.stdio[3];
    if (!(pipe instanceof Duplex)) throw new Error('the evaluator process has no pipe');
    this.#pipe = pipe;
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve();
        this.#onExit(code === null ? `it was ended by ${signal ?? 'a signal'}` : `it exited with code ${code}`);
      });
      child.once('error', (error) => {
        resolve();
        this.#onExit(error.message);
      });
    });
    this.#listen();
    this.#startTimer = setTimeout(() => void this.end('it did not start in time'), startMs);
    this.setWorking(false);
  }

  get pid(): number | undefined {
    const { pid } = this.#child;
    if (pid === undefined || !machineIsolation().signals) return pid;
    this.#innerPid ??= onlyChildOf(pid);
    return this.#innerPid ?? pid;
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** False where the pipe is full: `onRoom` follows once there is room. The frame is sent nonetheless. */
  send(frame: Omit<Frame, 'body'>, body: Uint8Array): boolean {
    this.#pipe.cork();
    let hasRoom = true;
    for (const piece of encodeFrame(frame, body)) hasRoom = this.#pipe.write(piece);
    this.#pipe.uncork();
    return hasRoom;
  }

  /** While it has work it keeps the product running and must answer pings. */
  setWorking(isWorking: boolean): void {
    if (this.#isWorking === isWorking) return;
    this.#isWorking = isWorking;
    const holders = [this.#child, this.#pipe, this.#child.stderr] as readonly { ref?(): void; unref?(): void }[];
    for (const holder of holders) {
      if (isWorking) holder.ref?.();
      else holder.unref?.();
    }
    if (this.#pingTimer !== null) clearInterval(this.#pingTimer);
    this.#askedMs = null;
    this.#pingTimer = isWorking ? setInterval(() => this.#ping(), pingEveryMs) : null;
  }

  /** Resolves when it is gone. */
  async end(why: string): Promise<void> {
    this.#why ||= why;
    // The caller awaits the exit, so the child must keep the event loop alive until then.
    this.#child.ref();
    this.#kill();
    await this.#exited;
  }

  /** The launcher waits for what it started, so its exit says that both are gone. */
  #kill(): void {
    const { pid } = this;
    const { pid: launcher } = this.#child;
    try {
      if (pid !== undefined && pid !== launcher && this.#child.exitCode === null) {
        process.kill(pid, 'SIGKILL');
        return;
      }
    } catch {
      // It has ended meanwhile; its launcher may not have.
    }
    this.#child.kill('SIGKILL');
  }

  #listen(): void {
    const reader = new FrameReader((id) => this.#events.answerBytes(id));
    this.#pipe.on('data', (chunk: Uint8Array) => {
      this.#askedMs = null;
      try {
        reader.push(chunk, (frame) => this.#receive(frame));
      } catch (error) {
        void this.end(String(error));
      }
    });
    this.#pipe.on('drain', () => this.#events.onRoom());
    this.#pipe.on('end', () => void this.end(''));
    this.#pipe.on('error', () => void this.end(''));
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderrTail = `${this.#stderrTail}${chunk}`.slice(-stderrTailBytes);
    });
    this.#child.stderr?.on('error', () => undefined);
  }

  #receive(frame: Frame): void {
    if (this.#isOver) return;
    if (frame.id !== 0) return this.#events.onAnswer(frame);
    if (frame.word !== signals.ready || this.#isReady) return;
    this.#isReady = true;
    clearTimeout(this.#startTimer);
    this.#events.onReady();
  }

  #ping(): void {
    if (!this.#isReady) return;
    if (this.#askedMs !== null) {
      if (performance.now() - this.#askedMs > this.#silenceMs) void this.end('it did not answer any more');
      return;
    }
    this.#askedMs = performance.now();
    this.send({ id: 0, word: signals.ping, ms: 0, text: '' }, new Uint8Array(0));
  }

  #onExit(how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#startTimer);
    if (this.#pingTimer !== null) clearInterval(this.#pingTimer);
    this.#pipe.destroy();
    const words = this.#stderrTail.split('\n').find((line) => line !== '' && !launcherNoise.test(line)) ?? '';
    this.#events.onEnd([this.#why || how, words].filter((part) => part !== '').join(': '));
  }
}
