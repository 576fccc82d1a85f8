/** Decodes large bodies in a thread of its own: megabytes in an old encoding take longer than others should wait. */
import { answerRequests } from '#concurrency/answer-requests';

export interface DecodeRequest {
  readonly bytes: Uint8Array;
  /** A name by the WHATWG Encoding standard. */
  readonly encoding: string;
  /** Of the body in UTF-8. */
  readonly maxBytes: number;
}

/** `body` is null where it is larger than was asked for. */
export type DecodeReply =
  | { readonly ok: true; readonly body: Uint8Array<ArrayBuffer> | null }
  | { readonly ok: false; readonly message: string };

/** Decoded at once. */
const pieceBytes = 1024 * 1024;

/** In pieces, so that no more is made than is asked for. */
function decode({ bytes, encoding, maxBytes }: DecodeRequest): Uint8Array<ArrayBuffer> | null {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
    const isLast = at + pieceBytes >= bytes.byteLength;
    const piece = Buffer.from(decoder.decode(bytes.subarray(at, at + pieceBytes), { stream: !isLast }));
    byteLength += piece.byteLength;
    if (byteLength > maxBytes) return null;
    pieces.push(piece);
  }
  const body = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.byteLength;
  }
  return body;
}

answerRequests<DecodeRequest, DecodeReply>(
  (request) => {
    try {
      return { ok: true, body: decode(request) };
    } catch (error) {
      return { ok: false, message: String(error) };
    }
  },
  (reply) => (reply.ok && reply.body !== null ? [reply.body.buffer] : []),
);
