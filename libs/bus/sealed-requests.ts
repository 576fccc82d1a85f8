/**
 * Requests and their answers carry passwords, keys and tokens. Where they leave the process they are sealed with a key of
 * the installation, so that the broker, its disks and its backups never hold them in clear.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { unavailable } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import type { Bus } from './bus.js';

const ivBytes = 12;
const tagBytes = 16;

interface Seal {
  /** `bound` names what the value belongs to: sealed for one request it opens for no other. */
  close(value: Json, bound: string): JsonObject;
  open(value: Json, bound: string): Json;
}

function createSeal(secretKey: Uint8Array): Seal {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'meerkat bus requests', 32));
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
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(bound))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return JSON.parse(plain.toString('utf8')) as Json;
    },
  };
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Only processes with the same SECRET_KEY understand one another; the others are answered `secret_key_differs`. */
export function sealRequests(bus: Bus, secretKey: Uint8Array): Bus {
  const seal = createSeal(secretKey);
  const opened = (value: Json, bound: string): Json => {
    try {
      return seal.open(value, bound);
    } catch (error) {
      throw unavailable(
        'secret_key_differs',
        'Two processes of this installation have different secrets: set the same SECRET_KEY for all.',
        30,
        error,
      );
    }
  };
  return {
    ...bus,
    async request(name, payload, context, deadlineMs) {
      const asked = `${name}|${context.requestId}`;
      const answer = await bus.request(name, seal.close(payload, `${asked}|request`), context, deadlineMs);
      return opened(answer, `${asked}|answer`);
    },
    respond: (name, handler) =>
      bus.respond(name, async (sealed, context) => {
        const asked = `${name}|${context.requestId}`;
        const payload = opened(sealed, `${asked}|request`);
        if (!isObject(payload)) throw new Error(`a request ${name} must be an object`);
        return seal.close(await handler(payload, context), `${asked}|answer`);
      }),
  };
}
