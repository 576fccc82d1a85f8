/**
 * What a message says of a task is sealed with the task's key, so that logs of the bus, messages to be tried later and dead letters
 * hold nothing that a purge would leave behind. Of a purged task a message is let go.
 */
import type { Bus, BusMessage } from '#bus/bus';
import type { JsonObject } from '#runtime/json';
import { decrypt, encrypt } from '#runtime/cipher';
import type { OwnerKeys } from './owner-keys.js';

/** Messages that carry contents; all others tell ids and times. */
const sealedTypes: ReadonlySet<string> = new Set(['notification.requested']);

const boundTo = ({ id }: BusMessage): string => `message|${id}`;

function ownerOf({ type, data }: BusMessage): string | null {
  const { taskId } = data;
  return sealedTypes.has(type) && typeof taskId === 'string' ? taskId : null;
}

export function sealMessages(bus: Bus, keys: Pick<OwnerKeys, 'known' | 'make' | 'find' | 'isPurged'>): Bus {
  /** What stays in this process is not opened again. */
  const opened = new WeakMap<JsonObject, JsonObject>();

  const seal = async (message: BusMessage): Promise<readonly BusMessage[]> => {
    const owner = ownerOf(message);
    if (owner === null) return [message];
    // Nobody is to hear of a purged task any more.
    if (await keys.isPurged(owner)) return [];
    const key = keys.known(owner) ?? (await keys.make(owner));
    const data: JsonObject = { taskId: owner, $sealed: encrypt(key, JSON.stringify(message.data), boundTo(message)) };
    opened.set(data, message.data);
    return [{ ...message, data }];
  };

  const sealAll = async (messages: readonly BusMessage[]): Promise<readonly BusMessage[]> =>
    messages.some((message) => ownerOf(message) !== null) ? (await Promise.all(messages.map(seal))).flat() : messages;

  /** null: its contents are gone. */
  const open = async (message: BusMessage): Promise<BusMessage | null> => {
    const { $sealed } = message.data;
    const owner = ownerOf(message);
    if (owner === null || typeof $sealed !== 'string') return message;
    if (await keys.isPurged(owner)) return null;
    const known = opened.get(message.data);
    if (known !== undefined) return { ...message, data: known };
    const key = keys.known(owner) ?? (await keys.find(owner));
    if (key === null) throw new Error(`the message ${message.id} cannot be opened: its key is gone`);
    return { ...message, data: JSON.parse(decrypt(key, $sealed, boundTo(message)).toString('utf8')) as JsonObject };
  };

  const { relay } = bus;
  return {
    ...bus,
    publish: async (topic, messages) => bus.publish(topic, await sealAll(messages)),
    consume: (options, handler) =>
      bus.consume(options, async (message, stopping) => {
        const found = await open(message);
        if (found !== null) await handler(found, stopping);
      }),
    relay:
      relay === null
        ? null
        : async (topic, messages, settled, signal) => relay(topic, await sealAll(messages), settled, signal),
  };
}
