/**
 * The bus where it leaves the process: somebody who reaches the broker reads no request, and nothing that he writes or
 * changes is taken for a word of this installation. Requests and their answers carry passwords, keys and tokens, so they are sealed;
 * messages carry a MAC. Both keys come from SECRET_KEY.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { unavailable } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { Bus, BusMessage, RequestContext } from './bus.js';

const ivBytes = 12;
const tagBytes = 16;
const defaultDeadlineMs = 10_000;
/** Processes keep the same time to within a second or so. */
const clockSkewMs = 2_000;
/** The member of a message's data that holds its MAC. */
const macMember = '$mac';
const refusedLineEveryMs = 10_000;

const keyFor = (secretKey: Uint8Array, use: string): Buffer => Buffer.from(hkdfSync('sha256', secretKey, '', use, 32));

interface Seal {
  /** `bound` names what the value belongs to: sealed for one request it opens for no other. */
  close(value: Json, bound: string): JsonObject;
  open(value: Json, bound: string): Json;
}

function createSeal(secretKey: Uint8Array): Seal {
  const key = keyFor(secretKey, 'meerkat bus requests');
  return {
    close(value, bound) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return { $sealed: Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64') };
    },

    open(value, bound) {
      const sealed = typeof value === 'object' && value !== null && '$sealed' in value ? value.$sealed : null;
      if (typeof sealed !== 'string') throw new Error('it is not sealed');
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(bound))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return JSON.parse(plain.toString('utf8')) as Json;
    },
  };
}

interface Signer {
  sign(topic: string, message: BusMessage): BusMessage;
  /** The message without its MAC; null where it has another one, or none. */
  verify(topic: string, message: BusMessage): BusMessage | null;
}

function createSigner(secretKey: Uint8Array): Signer {
  const key = keyFor(secretKey, 'meerkat bus messages');
  // All of it, by the order of its members, which the way over the bus keeps.
  const macOf = (topic: string, { id, type, key: ordered, data, metadata }: BusMessage): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([topic, id, type, ordered, data, metadata]))
      .digest();
  return {
    sign: (topic, message) => ({
      ...message,
      data: { ...message.data, [macMember]: macOf(topic, message).toString('base64') },
    }),
    verify(topic, { data: { [macMember]: mac, ...data }, ...message }) {
      if (typeof mac !== 'string') return null;
      const plain: BusMessage = { ...message, data };
      const expected = macOf(topic, plain);
      const given = Buffer.from(mac, 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected) ? plain : null;
    },
  };
}

/** What a request and its answer are bound to: nobody can turn one into that of another organisation or person. */
function boundTo(name: string, { organizationId, actor, requestId }: RequestContext): string {
  return JSON.stringify([name, organizationId, actor, requestId]);
}

interface SealedRequest {
  readonly payload: JsonObject;
  /** Sent again later, it is not carried out again. */
  readonly untilMs: number;
}

/** A line now and then, however many are refused. */
function createRefusalLog(logger: Logger): (topic: string, group: string, message: BusMessage) => void {
  let refused = 0;
  let lastLineMs = 0;
  return (topic, group, { id, type }) => {
    refused += 1;
    const now = Date.now();
    if (now - lastLineMs < refusedLineEveryMs) return;
    lastLineMs = now;
    logger.error(
      { topic, group, messageId: id.slice(0, 200), type: type.slice(0, 200), refused },
      'ignoring a message that no process with this SECRET_KEY wrote: somebody else writes to the bus, or a process of an older version',
    );
  };
}

/**
 * Only processes with the same SECRET_KEY understand one another; the others' requests are answered `secret_key_differs`,
 * their messages ignored.
 */
export function sealBus(bus: Bus, secretKey: Uint8Array, logger: Logger): Bus {
  const seal = createSeal(secretKey);
  const signer = createSigner(secretKey);
  const logRefused = createRefusalLog(logger);
  const opened = (value: Json, bound: string): Json => {
    try {
      return seal.open(value, bound);
    } catch (error) {
      throw unavailable(
        'secret_key_differs',
        'Two processes of this installation have different secrets or versions: set the same SECRET_KEY for all.',
        30,
        error,
      );
    }
  };
  return {
    ...bus,
    publish: (topic, messages) =>
      bus.publish(
        topic,
        messages.map((message) => signer.sign(topic, message)),
      ),
    consume: (options, handler) =>
      bus.consume(options, async (received, stopping) => {
        const message = signer.verify(options.topic, received);
        if (message === null) logRefused(options.topic, options.group, received);
        else await handler(message, stopping);
      }),
    async request(name, payload, context, deadlineMs = defaultDeadlineMs) {
      const bound = boundTo(name, context);
      const sealed: SealedRequest = { payload, untilMs: Date.now() + deadlineMs };
      const answer = await bus.request(name, seal.close({ ...sealed }, `${bound}|request`), context, deadlineMs);
      return opened(answer, `${bound}|answer`);
    },
    respond: (name, handler) =>
      bus.respond(name, async (sealed, context) => {
        const bound = boundTo(name, context);
        // What opens was made by `request`.
        const { payload, untilMs } = opened(sealed, `${bound}|request`) as unknown as SealedRequest;
        if (untilMs + clockSkewMs < Date.now()) {
          throw unavailable('deadline_exceeded', `${name} came after its deadline and was not carried out.`);
        }
        return seal.close(await handler(payload, context), `${bound}|answer`);
      }),
  };
}
