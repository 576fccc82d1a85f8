/**
 * Messages on a byte stream, between the product and its evaluator process: five words of 32 bits (bytes of text, bytes of
 * body, id, word, milliseconds), the text in UTF-8, the body as it is. A body is copied once on its way in, into memory of
 * its own, so that it can be handed on to a thread without another copy.
 */

export interface Frame {
  /** The job that an answer refers to; 0 for signals. */
  readonly id: number;
  readonly word: number;
  readonly ms: number;
  readonly text: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

const headerWords = 5;
const headerBytes = 4 * headerWords;
const noBody = new Uint8Array(0);

/** The bytes of a frame in pieces; the body is not copied. */
export function encodeFrame(
  { id, word, ms, text }: Omit<Frame, 'body'>,
  body: Uint8Array = noBody,
): readonly Uint8Array[] {
  const textBytes = Buffer.byteLength(text);
  const head = Buffer.allocUnsafe(headerBytes + textBytes);
  for (const [at, value] of [textBytes, body.byteLength, id, word, ms].entries()) head.writeUInt32LE(value, 4 * at);
  head.write(text, headerBytes);
  return body.byteLength === 0 ? [head] : [head, body];
}

/** A frame is larger than its reader accepts; nothing behind it can be read. */
export class FrameTooLarge extends Error {
  constructor(readonly byteLength: number) {
    super(`a message of ${byteLength} bytes is larger than is accepted`);
  }
}

/** Puts frames together from the chunks of a stream. Holds one frame at most. */
export class FrameReader {
  readonly #maximumBytes: number | ((id: number) => number);
  #isBroken = false;
  readonly #header = Buffer.alloc(headerBytes);
  #headerAt = 0;
  #text: Buffer = Buffer.alloc(0);
  #body: Uint8Array<ArrayBuffer> = noBody;
  #at = 0;

  /** Most bytes of text and body together, of any frame or by the frame's id. */
  constructor(maximumBytes: number | ((id: number) => number)) {
    this.#maximumBytes = maximumBytes;
  }

  /** Calls `onFrame` for each frame that the chunk completes. Throws `FrameTooLarge` once; what follows is not read. */
  push(chunk: Uint8Array, onFrame: (frame: Frame) => void): void {
    if (this.#isBroken) return;
    let from = 0;
    while (from < chunk.byteLength || this.#isWhole()) {
      if (this.#headerAt < headerBytes) from += this.#fillHeader(chunk, from);
      if (this.#headerAt < headerBytes) return;
      from += this.#fill(chunk, from);
      if (!this.#isWhole()) return;
      const { id, word, ms, text, body } = this.#take();
      onFrame({ id, word, ms, text, body });
    }
  }

  #fillHeader(chunk: Uint8Array, from: number): number {
    const taken = Math.min(headerBytes - this.#headerAt, chunk.byteLength - from);
    this.#header.set(chunk.subarray(from, from + taken), this.#headerAt);
    this.#headerAt += taken;
    if (this.#headerAt < headerBytes) return taken;
    const [textBytes, bodyBytes] = [this.#header.readUInt32LE(0), this.#header.readUInt32LE(4)];
    const maximumBytes =
      typeof this.#maximumBytes === 'number' ? this.#maximumBytes : this.#maximumBytes(this.#header.readUInt32LE(8));
    if (textBytes + bodyBytes > maximumBytes) {
      this.#isBroken = true;
      throw new FrameTooLarge(textBytes + bodyBytes);
    }
    this.#text = Buffer.allocUnsafe(textBytes);
    this.#body = bodyBytes === 0 ? noBody : new Uint8Array(Buffer.allocUnsafeSlow(bodyBytes).buffer);
    this.#at = 0;
    return taken;
  }

  #fill(chunk: Uint8Array, from: number): number {
    let at = from;
    const textBytes = this.#text.byteLength;
    if (this.#at < textBytes) {
      const taken = Math.min(textBytes - this.#at, chunk.byteLength - at);
      this.#text.set(chunk.subarray(at, at + taken), this.#at);
      this.#at += taken;
      at += taken;
    }
    if (this.#at >= textBytes) {
      const bodyAt = this.#at - textBytes;
      const taken = Math.min(this.#body.byteLength - bodyAt, chunk.byteLength - at);
      if (taken > 0) this.#body.set(chunk.subarray(at, at + taken), bodyAt);
      this.#at += taken;
      at += taken;
    }
    return at - from;
  }

  #isWhole(): boolean {
    return this.#headerAt === headerBytes && this.#at === this.#text.byteLength + this.#body.byteLength;
  }

  #take(): Frame {
    const header = this.#header;
    const [id, word, ms] = [header.readUInt32LE(8), header.readUInt32LE(12), header.readUInt32LE(16)];
    const frame = { id, word, ms, text: this.#text.toString('utf8'), body: this.#body };
    this.#headerAt = 0;
    this.#body = noBody;
    return frame;
  }
}
