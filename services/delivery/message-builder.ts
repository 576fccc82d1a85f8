/**
 * Builds messages. One whose texts are templates is built in a thread that is ended where it takes too long: what a template
 * costs is bounded by counts, and by this where a count is wrong. An organisation whose template was ended has a thread of
 * its own kind for a while, so that it delays nobody else's messages.
 */
import type { Channel, NothingToSend, OpenNotification } from '#channels/channel';
import { channels } from '#channels/channels';
import { declarationOf, type ActionType } from '#channels/declarations';
import { createLru } from '#concurrency/lru';
import { createWorkerThread, ThreadEnded, type WorkerThread } from '#concurrency/worker-thread';
import { builtScript } from '#runtime/built-script';
import { reject, unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { buildMessage, type MessageContext } from './build-message.js';
import type { BuildReply, BuildRequest, BuiltMessage } from './build-thread.js';

export type Built = ReturnType<Channel['build']>;

export interface MessageBuilder {
  /**
   * Rejects with `template_failed`, which is the same on every try. What had to be ended is nothing to send now: a machine
   * that is overloaded may be the cause.
   */
  build(type: ActionType, notification: OpenNotification, context: MessageContext): Promise<Built>;
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
const suspectMs = 10 * 60_000;
const maxSuspects = 1_000;
const templateMark = /\{\{|\{%/;
/** Without a filter: it is what it stands for, and no more. */
const plainVariable = /\{\{\s*[A-Za-z_][A-Za-z0-9_.]*\s*\}\}/g;
/** So many of them cost nothing that has to be bounded by a thread of its own. */
const mostPlainVariables = 20;

const threadPlaces = ['./build-thread.js', '../../dist/services/delivery/build-thread.js'];

interface BuildQueue {
  readonly thread: WorkerThread<BuildRequest, BuildReply>;
  waiting: number;
}

function startQueue({ buildMs, heapMb }: BuilderLimits): BuildQueue {
  const thread = createWorkerThread<BuildRequest, BuildReply>({
    script: () => builtScript(import.meta.url, threadPlaces),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    answerMs: buildMs,
  });
  return { thread, waiting: 0 };
}

function endedTemplate(method: string, what: string): NothingToSend {
  const message = `The template could not be used: it ${what}.`;
  const verdict = { state: 'retry', reason: 'template_timed_out', message, retryAfterMs: null } as const;
  return { kind: 'none', request: { method, url: '' }, verdict };
}

/** Whether what these texts cost is not plain from the look of them. */
function needsThread(type: ActionType, { config }: OpenNotification): boolean {
  const texts = declarationOf(type).templates.map((name) => config[name]);
  let variables = 0;
  return texts.some((given) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given ?? null);
    if (!templateMark.test(text)) return false;
    const rest = text.replace(plainVariable, () => {
      variables += 1;
      return '';
    });
    return variables > mostPlainVariables || templateMark.test(rest);
  });
}

export function createMessageBuilder(logger: Logger, limits: Partial<BuilderLimits> = {}): MessageBuilder {
  const all = { ...defaultLimits, ...limits };
  const shared = startQueue(all);
  const quarantine = startQueue(all);
  /** Until when the templates of an organisation are built apart, in milliseconds of the monotonic clock. */
  const suspects = createLru<string, number>(maxSuspects);

  const ask = async (queue: BuildQueue, request: BuildRequest): Promise<BuildReply> => {
    if (queue.waiting >= all.maxWaiting) {
      throw unavailable('build_queue_full', 'Too many messages wait to be built; it is tried again.', 5);
    }
    queue.waiting += 1;
    try {
      return await queue.thread.ask(request);
    } finally {
      queue.waiting -= 1;
    }
  };

  const buildInThread = async (request: BuildRequest): Promise<BuiltMessage> => {
    const { organizationId, taskId } = request.notification.request;
    const isSuspect = (suspects.get(organizationId) ?? 0) > performance.now();
    let answer: BuildReply;
    try {
      answer = await ask(isSuspect ? quarantine : shared, request);
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
      return needsThread(type, notification)
        ? buildInThread({ type, notification, context })
        : buildMessage(type, notification, context);
    },
    async close() {
      await Promise.all([shared.thread.stop(), quarantine.thread.stop()]);
    },
  };
}
