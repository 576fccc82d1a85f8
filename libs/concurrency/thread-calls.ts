/**
 * Calls of methods that a worker thread answers, any number at a time. What is called within one turn of the event loop goes
 * over as one message, and so do the answers: to wake a thread costs more than what most calls carry.
 */
import { parentPort, Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';

/** What a call rejects with as the other side threw it; anything else arrives as an `Error` with its words. */
export interface ErrorCarrier {
  /** null: it is not one of those. */
  pack(error: unknown): object | null;
  unpack(packed: object): Error;
}

interface Call {
  readonly id: number;
  /** null: the call with this id is no longer wanted. */
  readonly method: string | null;
  readonly argument: unknown;
}

type Answer = { readonly id: number } & (
  { readonly value: unknown } | { readonly message: string; readonly packed: object | null }
);

/** Collects what is to be sent, with what of it is not copied. */
function createOutbox<Message>(send: (messages: readonly Message[], moved: readonly Transferable[]) => void) {
  let messages: Message[] = [];
  let moved: Transferable[] = [];
  const flush = (): void => {
    const [sent, movedWith] = [messages, moved];
    messages = [];
    moved = [];
    send(sent, movedWith);
  };
  return (message: Message, movedWith: readonly Transferable[]): void => {
    if (messages.length === 0) setImmediate(flush);
    messages.push(message);
    moved.push(...movedWith);
  };
}

export type ThreadMethods = Readonly<Record<string, (argument: never, signal: AbortSignal) => Promise<unknown>>>;

/** For the program of the thread. `movedOf`: what of an answer is not copied. */
export function serveCalls(
  methods: ThreadMethods,
  errors: ErrorCarrier,
  movedOf: (answer: unknown) => readonly Transferable[],
): void {
  // Imported for its types or in a spec.
  if (parentPort === null) return;
  const port = parentPort;
  const running = new Map<number, AbortController>();
  const answer = createOutbox<Answer>((answers, moved) => port.postMessage(answers, moved));
  const run = async ({ id, method, argument }: Call): Promise<void> => {
    const ending = new AbortController();
    running.set(id, ending);
    try {
      const called = methods[method ?? ''];
      if (called === undefined) throw new Error(`there is no method ${method}`);
      const value = await called(argument as never, ending.signal);
      answer({ id, value }, movedOf(value));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      answer({ id, message, packed: errors.pack(error) }, []);
    } finally {
      running.delete(id);
    }
  };
  port.on('message', (calls: readonly Call[]) => {
    for (const call of calls) {
      if (call.method === null) running.get(call.id)?.abort();
      else void run(call);
    }
  });
}

export interface ThreadCallsOptions {
  /** Its program, which calls `serveCalls`. */
  readonly script: URL;
  readonly workerData: unknown;
  readonly resourceLimits?: ResourceLimits;
  readonly errors: ErrorCarrier;
  /** What calls reject with whose thread ended before it answered; the next call starts another. */
  onEnd(why: string): Error;
}

export interface ThreadCalls {
  /** `moved`: of the argument, not copied. An aborted signal is told to the method, which still answers. */
  call(
    method: string,
    argument: unknown,
    more?: { readonly signal?: AbortSignal; readonly moved?: readonly Transferable[] },
  ): Promise<unknown>;
  /** False where no call was made yet, or the thread ended. */
  readonly isRunning: boolean;
  /** Ends the thread, whatever it is doing. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

/** The thread is started by the first call. It keeps the process alive while a call waits for its answer. */
export function createThreadCalls({
  script,
  workerData,
  resourceLimits = {},
  errors,
  onEnd,
}: ThreadCallsOptions): ThreadCalls {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;

  const send = createOutbox<Call>((calls, moved) => thread?.postMessage(calls, moved));

  const start = (): Worker => {
    const started = new Worker(script, { workerData, env: {}, argv: [], execArgv: [], resourceLimits });
    const end = (why: string): void => {
      if (thread !== started) return;
      thread = null;
      const failed = [...waiting.values()];
      waiting.clear();
      for (const { fail } of failed) fail(onEnd(why));
    };
    started.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers) waiting.get(answer.id)?.settle(answer);
      if (waiting.size === 0) started.unref();
    });
    started.on('error', (error) => end(String(error)));
    started.on('exit', (code) => end(`it exited with code ${code}`));
    return started;
  };

  return {
    call(method, argument, { signal, moved = [] } = {}) {
      thread ??= start();
      if (waiting.size === 0) thread.ref();
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        const abort = (): void => send({ id, method: null, argument: null }, []);
        const over = (): void => {
          waiting.delete(id);
          signal?.removeEventListener('abort', abort);
        };
        waiting.set(id, {
          settle(answer) {
            over();
            if ('value' in answer) return resolve(answer.value);
            reject(answer.packed === null ? new Error(answer.message) : errors.unpack(answer.packed));
          },
          fail(error) {
            over();
            reject(error);
          },
        });
        send({ id, method, argument }, moved);
        if (signal?.aborted === true) abort();
        else signal?.addEventListener('abort', abort, { once: true });
      });
    },
    get isRunning() {
      return thread !== null;
    },
    async stop() {
      await thread?.terminate();
    },
  };
}
