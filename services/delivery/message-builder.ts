/**
 * Builds messages. One whose texts are templates is built in a thread that is ended where it takes too long: what a template
 * costs is bounded by counts, and by this where a count is wrong. An organisation whose template was ended has a thread of
 * its own kind for a while, so that it delays nobody else's messages.
 */
import { Worker } from 'node:worker_threads';
import type { BuildContext, Channel, NothingToSend, OpenNotification } from '#channels/channel';
import { channels } from '#channels/channels';
import { declarationOf, type ActionType } from '#channels/declarations';
import { createLru } from '#concurrency/lru';
import { createMutex } from '#concurrency/mutex';
import { withTimeout } from '#concurrency/timeout';
import { findBuiltScript } from '#runtime/built-script';
import { reject, unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { BuildReply, BuildRequest, BuiltMessage } from './build-thread.js';

export type Built = ReturnType<Channel['build']>;

export interface MessageBuilder {
  /**
   * Rejects with `template_failed`, which is the same on every try. What had to be ended is nothing to send now: a machine
   * that is overloaded may be the cause.
   */
  build(type: ActionType, notification: OpenNotification, context: BuildContext): Promise<Built>;
  close(): Promise<void>;
}

export interface BuilderLimits {
  /** For one message; what counts allow takes a hundredth of it. */
  readonly buildMs: number;
  readonly heapMb: number;
  /** Messages that wait for the thread. */
  readonly maxWaiting: number;
}

const defaultLimits: BuilderLimits = { buildMs: 1_000, heapMb: 96, maxWaiting: 2_000 };
/** A thread loads its program before it builds its first message. */
const startMs = 10_000;
const suspectMs = 10 * 60_000;
const maxSuspects = 1_000;
const templateMark = /\{\{|\{%/;

const script = (): URL | null =>
  findBuiltScript(import.meta.url, ['./build-thread.js', '../../dist/services/delivery/build-thread.js']);

interface StartedThread {
  readonly thread: Worker;
  /** Its program is loaded. */
  readonly ready: Promise<void>;
  readonly ended: Promise<never>;
}

class BuildThread {
  readonly #limits: BuilderLimits;
  readonly #turns = createMutex();
  #worker: StartedThread | null = null;
  #waiting = 0;

  constructor(limits: BuilderLimits) {
    this.#limits = limits;
  }

  /** Rejects with `ThreadEnded` where it had to be ended. */
  async build(url: URL, request: BuildRequest): Promise<BuildReply> {
    if (this.#waiting >= this.#limits.maxWaiting) {
      throw unavailable('build_queue_full', 'Too many messages wait to be built; it is tried again.', 5);
    }
    this.#waiting += 1;
    try {
      return await this.#turns.run(() => this.#buildNext(url, request));
    } finally {
      this.#waiting -= 1;
    }
  }

  async close(): Promise<void> {
    await this.#end();
  }

  async #buildNext(url: URL, request: BuildRequest): Promise<BuildReply> {
    const { buildMs } = this.#limits;
    const late = (): Error => new ThreadEnded(`takes longer than ${buildMs} ms`);
    try {
      const { thread, ready, ended } = (this.#worker ??= this.#start(url));
      await withTimeout(Promise.race([ready, ended]), startMs, () => new Error('the thread does not start'));
      const replied = new Promise<BuildReply>((resolve) => thread.once('message', resolve));
      thread.postMessage(request);
      return await withTimeout(Promise.race([replied, ended]), buildMs, late);
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  #start(url: URL): StartedThread {
    const { heapMb: maxOldGenerationSizeMb } = this.#limits;
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
    const thread = new Worker(url, { env: {}, resourceLimits });
    thread.unref();
    const ready = new Promise<void>((resolve) => thread.once('message', () => resolve()));
    const ended = new Promise<never>((_, refuse) => {
      thread.once('error', (error) => refuse(new ThreadEnded(`ended its thread (${String(error)})`)));
      thread.once('exit', () => refuse(new ThreadEnded('ended its thread')));
    });
    ended.catch(() => undefined);
    return { thread, ready, ended };
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.thread.terminate();
  }
}

/** The message is, what the template did. */
class ThreadEnded extends Error {}

function endedTemplate(method: string, what: string): NothingToSend {
  const message = `The template could not be used: it ${what}.`;
  const verdict = { state: 'retry', reason: 'template_timed_out', message, retryAfterMs: null } as const;
  return { kind: 'none', request: { method, url: '' }, verdict };
}

function holdsTemplate(type: ActionType, { config }: OpenNotification): boolean {
  const texts = declarationOf(type).templates.map((name) => config[name]);
  return texts.some((text) => templateMark.test(typeof text === 'string' ? text : JSON.stringify(text ?? null)));
}

export function createMessageBuilder(logger: Logger, limits: Partial<BuilderLimits> = {}): MessageBuilder {
  const all = { ...defaultLimits, ...limits };
  const shared = new BuildThread(all);
  const quarantine = new BuildThread(all);
  /** Until when the templates of an organisation are built apart, in milliseconds of the monotonic clock. */
  const suspects = createLru<string, number>(maxSuspects);

  const buildInThread = async (url: URL, request: BuildRequest): Promise<BuiltMessage> => {
    const { organizationId, taskId } = request.notification.request;
    const isSuspect = (suspects.get(organizationId) ?? 0) > performance.now();
    let answer: BuildReply;
    try {
      answer = await (isSuspect ? quarantine : shared).build(url, request);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      suspects.set(organizationId, performance.now() + suspectMs);
      const { type } = request;
      logger.warn({ organizationId, taskId, type, reason: error.message }, 'a template had to be ended');
      return endedTemplate(channels[type].method, error.message);
    }
    if (answer.ok) return answer.built;
    throw answer.reason === null ? new Error(answer.message) : reject(answer.reason, answer.message);
  };

  return {
    async build(type, notification, context) {
      const url = holdsTemplate(type, notification) ? script() : null;
      if (url !== null) return buildInThread(url, { type, notification, context });
      return channels[type].build(notification, context);
    },
    async close() {
      await Promise.all([shared.close(), quarantine.close()]);
    },
  };
}
