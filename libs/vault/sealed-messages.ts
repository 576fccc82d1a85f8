/**
 * What a message says of a task is sealed with the task's key, so that logs of the bus, messages to be tried later and dead letters
 * hold nothing that a purge would leave behind. Of a purged task a message is let go.
 */
import type { KeyObject } from 'node:crypto';
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

  /** Those that may be told, each with the key of its task where it is to be sealed. */
  const keyed = async (
    messages: readonly BusMessage[],
  ): Promise<readonly (readonly [BusMessage, KeyObject | null])[]> => {
    const found: (readonly [BusMessage, KeyObject | null])[] = [];
    /** By task: its messages come together, as those of a run do. */
    const keyOf = new Map<string, KeyObject | null>();
    for (const message of messages) {
      const owner = ownerOf(message);
      if (owner === null) {
        found.push([message, null]);
        continue;
      }
      let key = keyOf.get(owner);
      // Nobody is to hear of a purged task any more.
      key ??= (await keys.isPurged(owner)) ? null : (keys.known(owner) ?? (await keys.make(owner)));
      keyOf.set(owner, key);
      if (key !== null) found.push([message, key]);
    }
    return found;
  };

  const seal = (message: BusMessage, key: KeyObject): string =>
    encrypt(key, JSON.stringify(message.data), boundTo(message));

  const sealAll = async (messages: readonly BusMessage[]): Promise<readonly BusMessage[]> =>
    (await keyed(messages)).map(([message, key]) =>
      key === null ? message : { ...message, data: { taskId: ownerOf(message), $sealed: seal(message, key) } },
    );

  /** What stays in the memory of this process is sealed when it is written, which for most of it is never. */
  const sealWhenWritten = async (messages: readonly BusMessage[]): Promise<readonly BusMessage[]> =>
    (await keyed(messages)).map(([message, key]) => {
      if (key === null) return message;
      let sealed: string | null = null;
      const data: JsonObject = {
        taskId: ownerOf(message),
        get $sealed() {
          return (sealed ??= seal(message, key));
        },
      };
      opened.set(data, message.data);
      return { ...message, data };
    });

  /** null: its contents are gone. */
  const open = async (message: BusMessage): Promise<BusMessage | null> => {
    const owner = ownerOf(message);
    if (owner === null) return message;
    const relayed = opened.get(message.data);
    if (relayed !== undefined) {
      // A key that is in memory says that no purge has been seen since.
      const isGone = keys.known(owner) === undefined && (await keys.isPurged(owner));
      return isGone ? null : { ...message, data: relayed };
    }
    const { $sealed } = message.data;
    if (typeof $sealed !== 'string') return message;
    if (await keys.isPurged(owner)) return null;
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
        : async (topic, messages, settled, signal) => relay(topic, await sealWhenWritten(messages), settled, signal),
  };
}
