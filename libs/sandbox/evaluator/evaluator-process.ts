/** One evaluator process, seen from the product: asked over its pipe, pinged for a heartbeat, and killed with everything it holds. */
import type { EvaluatorChannel } from './evaluator-channel.js';
import { encodeFrame, FrameReader } from './frames.js';
import type { Frame } from './frames.js';
import { signals } from './messages.js';
import type { ProcessorUse } from './processor-use.js';

export interface EvaluatorEvents {
  onReady(): void;
  onAnswer(frame: Frame): void;
  /** Most bytes of the answer with this id; 0 where none is expected. */
  answerBytes(id: number): number;
  /** The pipe has room again after `send` returned false. */
  onRoom(): void;
  /** Whether a job has not been answered in its own time. */
  isOverdue(): boolean;
  /** Several times a second while it has work, where the machine tells what the process had of its processors. */
  onBeat(use: ProcessorUse): void;
  /** The process is gone, for whatever reason; called once. `why` is that reason in words. */
  onEnd(why: string): void;
}

const pingEveryMs = 1_000;
const beatEveryMs = 250;
/**
 * How long a ping may stay unanswered while a job is overdue: the thread that answers pings never runs one. What the process
 * waited for a processor meanwhile does not count: on a busy machine each job is overdue, and none is to blame.
 */
const overdueSilenceMs = 2_000;
const startMs = 30_000;
/** One that stands by answers at once; where it does not, a new one is started. */
const confirmMs = 1_000;

export class EvaluatorProcess {
  readonly #channel: EvaluatorChannel;
  readonly #events: EvaluatorEvents;
  readonly #silenceMs: number;
  #startTimer: NodeJS.Timeout;
  #pingTimer: NodeJS.Timeout | null = null;
  #beatTimer: NodeJS.Timeout | null = null;
  /** The ping that is not answered: when it was sent, and what the process had waited for a processor by then. */
  #asked: { readonly atMs: number; readonly waitedMs: number } | null = null;
  #isReady = false;
  #hasStarted = false;
  #isWorking: boolean | null = null;
  #isOver = false;
  #why = '';

  /** `silenceMs` is how long a ping may stay unanswered. */
  constructor(channel: EvaluatorChannel, silenceMs: number, events: EvaluatorEvents) {
    this.#channel = channel;
    this.#events = events;
    this.#silenceMs = silenceMs;
    void channel.ended.then((how) => this.#onExit(how));
    this.#listen();
    this.#startTimer = setTimeout(() => void this.end('it did not start in time'), startMs);
    this.setWorking(false);
  }

  get pid(): number | undefined {
    return this.#channel.pid;
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** Whether it was ever ready. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** False where the pipe is full: `onRoom` follows once there is room. The frame is sent nonetheless. */
  send(frame: Omit<Frame, 'body'>, body: Uint8Array): boolean {
    const { pipe } = this.#channel;
    pipe.cork();
    let hasRoom = true;
    for (const piece of encodeFrame(frame, body)) hasRoom = pipe.write(piece);
    pipe.uncork();
    return hasRoom;
  }

  /** It starts its threads now, so that its first jobs wait for none. */
  warmUp(): void {
    this.#signal(signals.warmUp);
  }

  /** While it has work it keeps the product running and must answer pings. */
  setWorking(isWorking: boolean): void {
    if (this.#isWorking === isWorking) return;
    this.#isWorking = isWorking;
    this.#channel.hold(isWorking);
    this.#stopTimers();
    this.#asked = null;
    if (!isWorking) return;
    this.#pingTimer = setInterval(() => this.#ping(), pingEveryMs);
    this.#beatTimer = setInterval(() => this.#beat(), beatEveryMs);
  }

  /** Not ready until it has answered: it may have ended without a word while it stood by. Ends it where no answer comes. */
  confirm(): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#startTimer = setTimeout(() => void this.end('it did not answer any more'), confirmMs);
    this.#ask();
  }

  /** Resolves when it is gone. */
  async end(why: string): Promise<void> {
    this.#why ||= why;
    // The caller awaits the end, so the process must keep the event loop alive until then.
    this.#channel.hold(true);
    this.#channel.kill();
    await this.#channel.ended;
  }

  #listen(): void {
    const { pipe } = this.#channel;
    const reader = new FrameReader((id) => this.#events.answerBytes(id));
    pipe.on('data', (chunk: Uint8Array) => {
      this.#asked = null;
      try {
        reader.push(chunk, (frame) => this.#receive(frame));
      } catch (error) {
        void this.end(String(error));
      }
    });
    pipe.on('drain', () => this.#events.onRoom());
    pipe.on('end', () => void this.end(''));
    pipe.on('error', () => void this.end(''));
  }

  #receive(frame: Frame): void {
    if (this.#isOver) return;
    if (frame.id !== 0) return this.#events.onAnswer(frame);
    const isSign = frame.word === (this.#hasStarted ? signals.pong : signals.ready);
    if (!isSign || this.#isReady) return;
    this.#isReady = true;
    this.#hasStarted = true;
    clearTimeout(this.#startTimer);
    this.#events.onReady();
  }

  #stopTimers(): void {
    for (const timer of [this.#pingTimer, this.#beatTimer]) if (timer !== null) clearInterval(timer);
    this.#pingTimer = null;
    this.#beatTimer = null;
  }

  #beat(): void {
    const use = this.#isReady ? this.#channel.processorUse() : null;
    if (use !== null) this.#events.onBeat(use);
  }

  #ping(): void {
    if (!this.#isReady) return;
    const asked = this.#asked;
    if (asked !== null) {
      const unansweredMs = performance.now() - asked.atMs;
      const heldUpMs = unansweredMs - (this.#waitedMs() - asked.waitedMs);
      // The answer may be waiting behind a late timer.
      setImmediate(() => {
        if (this.#asked === asked && this.#isSilent(unansweredMs, heldUpMs))
          void this.end('it did not answer any more');
      });
      return;
    }
    this.#asked = { atMs: performance.now(), waitedMs: this.#waitedMs() };
    this.#ask();
  }

  #ask(): void {
    this.#signal(signals.ping);
  }

  #signal(word: number): void {
    this.send({ id: 0, word, ms: 0, text: '' }, new Uint8Array(0));
  }

  /** 0 where the machine does not tell. */
  #waitedMs(): number {
    return this.#channel.processorUse()?.waitedMs ?? 0;
  }

  #isSilent(unansweredMs: number, heldUpMs: number): boolean {
    return unansweredMs > this.#silenceMs || (heldUpMs >= overdueSilenceMs && this.#events.isOverdue());
  }

  #onExit(how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#startTimer);
    this.#stopTimers();
    this.#channel.pipe.destroy();
    this.#events.onEnd(this.#why || how);
  }
}
