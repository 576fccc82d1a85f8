/** Bodies as UTF-8: small ones at once, large ones that are something else in a thread, one at a time. */
import { isUtf8 } from 'node:buffer';
import { createWorkerThread } from '#concurrency/worker-thread';
import { builtScript } from '#runtime/built-script';
import type { ContentKind } from '#sandbox/sandbox';
import type { DecodeReply, DecodeRequest } from './decoder-thread.js';
import { encodingIn, toUtf8 } from './encoding.js';
import type { Utf8Text } from './encoding.js';

export type DecodedText =
  | Utf8Text
  /** It is larger in UTF-8 than is accepted. */
  | { readonly ok: false; readonly maxBytes: number }
  /** The thread ended while it decoded this. */
  | { readonly ok: false; readonly message: string };

export interface Decoder {
  /** As `toUtf8`; never rejects. */
  decode(bytes: Uint8Array, kind: ContentKind, charset: string | null): Promise<DecodedText>;
  close(): Promise<void>;
}

export interface DecoderOptions {
  /** Most bytes of a body in UTF-8, where it is something else: by default as many as a page may have at all. */
  readonly maxBytes?: number;
  /** The thread ends after this long without a body. */
  readonly idleMs?: number;
}

const threadPlaces = ['./decoder-thread.js', '../../dist/libs/page-loader/decoder-thread.js'];
/** Up to here decoding takes a few milliseconds at most, as much as a thread costs. */
const smallBytes = 256 * 1024;
const heapLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

export function createDecoder({ maxBytes = 52_428_800, idleMs = 60_000 }: DecoderOptions = {}): Decoder {
  const thread = createWorkerThread<DecodeRequest, DecodeReply>({
    script: () => builtScript(import.meta.url, threadPlaces),
    resourceLimits: heapLimits,
    idleMs,
  });
  const decodeInThread = (body: Uint8Array, encoding: string): Promise<DecodeReply> => {
    // Moved, not copied again: a copy of a part would be one of all that it is a part of.
    const bytes = new Uint8Array(body);
    return thread
      .ask({ bytes, encoding, maxBytes }, [bytes.buffer])
      .catch((error: unknown) => ({ ok: false, message: String(error) }));
  };
  return {
    async decode(bytes, kind, charset) {
      if (bytes.byteLength <= smallBytes) return toUtf8(bytes, kind, charset);
      const found = encodingIn(bytes, kind, charset);
      if (!found.ok) return found;
      const { encoding } = found;
      const body = found.start === 0 ? bytes : bytes.subarray(found.start);
      if (encoding === 'utf-8' && isUtf8(body)) return { ok: true, encoding, body };
      const reply = await decodeInThread(body, encoding);
      if (!reply.ok) return reply;
      return reply.body === null ? { ok: false, maxBytes } : { ok: true, encoding, body: reply.body };
    },
    close: () => thread.stop(),
  };
}
