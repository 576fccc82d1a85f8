/** The body of an answer as it comes in: counted on the wire and after each decompression, and never inflated completely before the limits are checked. */
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';
import type { Transform } from 'node:stream';
import { codeOf, Fault } from './failures.js';

export interface BodyLimits {
  /** Decoded bytes. */
  readonly maxBodyBytes: number;
  readonly onBodyLimit: 'fail' | 'cut';
  /** Compressed bytes as they come over the wire. */
  readonly maxWireBytes: number;
  /** Ratio of decoded to wire bytes, checked above `ratioFromBytes` decoded bytes. */
  readonly maxRatio: number;
  readonly ratioFromBytes: number;
}

/** Reports the result of a body to its owner exactly once: the bytes, or the fault. */
export interface BodySink {
  /** One chunk from the wire; false: pause until `resume` is called. */
  write(chunk: Uint8Array): boolean;
  /** All chunks have been written. */
  end(): void;
  /** Discards the rest. */
  drop(): void;
}

export interface BodyOwner {
  bodyDone(body: Uint8Array, cut: boolean): void;
  bodyFailed(fault: Fault): void;
  resume(): void;
}

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const maxCodings = 2;
/** Compressed bodies up to this size are inflated in one call, as long as at most `oneCallOutputBytes` come out: far cheaper than streams. */
const oneCallWireBytes = 32_768;
const oneCallOutputBytes = 1_048_576;

/** A brotli decoder fills its whole window before its first output: 16 MB (24 bits) took 36 ms, 4 MB (22 bits) 9 ms. */
const oneCallWindowBits = 22;

const brotliOptions = { chunkSize: 65_536 };
/** 8 MB, as RFC 8878 advises: a frame may ask for far more memory than it is long. */
const zstdOptions = { chunkSize: 65_536, params: { [constants.ZSTD_d_windowLogMax]: 23 } };
const zlibOptions = { chunkSize: 65_536 };

/** The codings of a Content-Encoding header, the outermost first, or a Fault. */
export function codingsOf(contentEncoding: string | undefined): readonly Coding[] | Fault {
  if (contentEncoding === undefined || contentEncoding === '') return [];
  const codings: Coding[] = [];
  for (const part of contentEncoding.split(',')) {
    const name = part.trim().toLowerCase();
    // Some servers name a charset here; browsers read such a body as it is.
    if (name === '' || name === 'identity' || name === 'none' || name === 'utf-8') continue;
    if (name === 'gzip' || name === 'x-gzip') codings.push('gzip');
    else if (name === 'deflate' || name === 'br' || name === 'zstd') codings.push(name);
    else
      return new Fault('bad_encoding', `The answer is compressed in a way that is not known here: ${printable(name)}.`);
  }
  if (codings.length > maxCodings) return new Fault('bad_encoding', 'The answer is compressed more than twice.');
  return codings.reverse();
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 40);
}

/** The sink for an answer with these codings. */
export function bodySink(codings: readonly Coding[], limits: BodyLimits, owner: BodyOwner): BodySink {
  return codings.length === 0 ? new PlainSink(limits, owner) : new CodedSink(codings, limits, owner);
}

function tooLarge(limits: BodyLimits): Fault {
  return new Fault('too_large', `The answer is larger than ${limits.maxBodyBytes} bytes.`);
}

/** One array of exactly `length` bytes, over an array buffer of its own. */
function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  // Not from the pool, and not filled with zeros: every byte is written below.
  const body = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.length > length - at ? chunk.subarray(0, length - at) : chunk;
    body.set(part, at);
    at += part.length;
  }
  return body;
}

/** Chunks below this are copied into blocks: a page in chunks of one byte would otherwise cost a hundred times its size. */
const smallChunkBytes = 4_096;
const blockBytes = 65_536;

/** Collects decoded bytes up to the limit. */
class Collector {
  readonly #limits: BodyLimits;
  readonly #chunks: Uint8Array[] = [];
  /** Collects small chunks; its bytes follow those of `#chunks`. */
  #block: Uint8Array | null = null;
  #blockUsed = 0;
  length = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** False once there is more than the limit. */
  add(chunk: Uint8Array): boolean {
    const before = this.length;
    this.length += chunk.length;
    if (before <= this.#limits.maxBodyBytes) {
      if (chunk.length >= smallChunkBytes || this.#chunks.length === 0) {
        this.#closeBlock();
        this.#chunks.push(chunk);
      } else this.#addSmall(chunk);
    }
    return this.length <= this.#limits.maxBodyBytes;
  }

  take(): Uint8Array {
    this.#closeBlock();
    return join(this.#chunks, Math.min(this.length, this.#limits.maxBodyBytes));
  }

  #addSmall(chunk: Uint8Array): void {
    if (this.#block !== null && this.#blockUsed + chunk.length > this.#block.length) this.#closeBlock();
    if (this.#block === null) {
      this.#block = new Uint8Array(blockBytes);
      this.#blockUsed = 0;
    }
    this.#block.set(chunk, this.#blockUsed);
    this.#blockUsed += chunk.length;
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#chunks.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = null;
  }
}

class PlainSink implements BodySink {
  readonly #collector: Collector;
  readonly #limits: BodyLimits;
  readonly #owner: BodyOwner;

  constructor(limits: BodyLimits, owner: BodyOwner) {
    this.#collector = new Collector(limits);
    this.#limits = limits;
    this.#owner = owner;
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#collector.add(chunk)) {
      if (this.#limits.onBodyLimit === 'cut') this.#owner.bodyDone(this.#collector.take(), true);
      else this.#owner.bodyFailed(tooLarge(this.#limits));
    }
    return true;
  }

  end(): void {
    this.#owner.bodyDone(this.#collector.take(), false);
  }

  drop(): void {}
}

class CodedSink implements BodySink {
  readonly #codings: readonly Coding[];
  readonly #limits: BodyLimits;
  readonly #owner: BodyOwner;
  readonly #collector: Collector;
  /** Wire bytes until they are decoded in one call or streams are started. */
  #buffered: Uint8Array[] = [];
  #wireBytes = 0;
  #first: Transform | null = null;
  readonly #stages: Transform[] = [];
  #over = false;

  constructor(codings: readonly Coding[], limits: BodyLimits, owner: BodyOwner) {
    this.#codings = codings;
    this.#limits = limits;
    this.#owner = owner;
    this.#collector = new Collector(limits);
  }

  write(chunk: Uint8Array): boolean {
    if (this.#over) return true;
    this.#wireBytes += chunk.length;
    if (this.#wireBytes > this.#limits.maxWireBytes) {
      this.#fail(
        new Fault('too_large', `The answer is larger than ${this.#limits.maxWireBytes} bytes even while compressed.`),
      );
      return true;
    }
    if (this.#first !== null) return this.#first.write(chunk);
    this.#buffered.push(chunk);
    return this.#wireBytes <= oneCallWireBytes || this.#startStreams();
  }

  end(): void {
    if (this.#over) return;
    if (this.#wireBytes === 0) return this.#succeed(false); // HEAD, 204, 304 and empty answers
    if (this.#first === null) {
      const body = inOneCall(join(this.#buffered, this.#wireBytes), this.#codings);
      if (body instanceof Fault) return this.#fail(body);
      if (body instanceof Uint8Array) {
        if (this.#collector.add(body)) this.#succeed(false);
        else this.#overLimit();
        return;
      }
      const known = body === 'over' ? oneCallOutputBytes + 1 : 0; // at least so much comes out
      if (this.#limits.onBodyLimit === 'fail' && this.#isBomb(known)) return this.#fail(this.#bomb());
      this.#startStreams();
    }
    this.#first?.end();
  }

  drop(): void {
    this.#over = true;
    for (const stage of this.#stages) stage.destroy();
  }

  /** Returns false where the streams want a pause. */
  #startStreams(): boolean {
    const firstByte = this.#buffered.find((chunk) => chunk.length > 0)?.[0] ?? 0;
    for (const [index, coding] of this.#codings.entries()) {
      const stage = streamOf(coding, index === 0 ? firstByte : null);
      const produced = { bytes: 0 };
      stage.on('error', (error) => this.#fail(decodeFault(error, coding)));
      stage.on('data', (chunk: Buffer) => {
        if (this.#over) return;
        produced.bytes += chunk.length;
        if (this.#isBomb(produced.bytes)) return this.#fail(this.#bomb());
        const next = this.#stages[index + 1];
        if (next === undefined) {
          if (!this.#collector.add(chunk)) this.#overLimit();
        } else if (!next.write(chunk)) {
          stage.pause();
          next.once('drain', () => stage.resume());
        }
      });
      stage.on('end', () => {
        if (this.#over) return;
        const next = this.#stages[index + 1];
        if (next === undefined) this.#succeed(false);
        else next.end();
      });
      this.#stages.push(stage);
    }
    const first = this.#stages[0];
    if (first === undefined) return true;
    this.#first = first;
    first.on('drain', () => this.#owner.resume());
    let more = true;
    for (const chunk of this.#buffered) more = first.write(chunk);
    this.#buffered = [];
    return more;
  }

  #isBomb(producedBytes: number): boolean {
    const { ratioFromBytes, maxRatio } = this.#limits;
    return producedBytes > ratioFromBytes && producedBytes > this.#wireBytes * maxRatio;
  }

  #bomb(): Fault {
    const { maxRatio } = this.#limits;
    return new Fault('too_large', `The answer grows to more than ${maxRatio} times its size when decompressed.`);
  }

  #overLimit(): void {
    if (this.#limits.onBodyLimit === 'cut') this.#succeed(true);
    else this.#fail(tooLarge(this.#limits));
  }

  #succeed(cut: boolean): void {
    if (this.#over) return;
    this.drop();
    this.#owner.bodyDone(this.#collector.take(), cut);
  }

  #fail(fault: Fault): void {
    if (this.#over) return;
    this.drop();
    this.#owner.bodyFailed(fault);
  }
}

/** The decoded bytes, a Fault, `over` where more comes out than one call may give, or `streams` where one call may block for too long. */
function inOneCall(wire: Uint8Array, codings: readonly Coding[]): Uint8Array | Fault | 'over' | 'streams' {
  let bytes = wire;
  for (const coding of codings) {
    if (coding === 'br' && brotliWindowBits(bytes[0] ?? 0) > oneCallWindowBits) return 'streams';
    try {
      bytes = decodeInOneCall(bytes, coding);
    } catch (error) {
      return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'over' : decodeFault(error, coding);
    }
  }
  return bytes;
}

function decodeInOneCall(bytes: Uint8Array, coding: Coding): Uint8Array {
  const maxOutputLength = oneCallOutputBytes;
  switch (coding) {
    case 'gzip':
      return gunzipSync(bytes, { ...zlibOptions, maxOutputLength });
    case 'br':
      return brotliDecompressSync(bytes, { ...brotliOptions, maxOutputLength });
    case 'zstd':
      return zstdDecompressSync(bytes, { ...zstdOptions, maxOutputLength });
    case 'deflate':
      return hasZlibHeader(bytes[0] ?? 0)
        ? inflateSync(bytes, { ...zlibOptions, maxOutputLength })
        : inflateRawSync(bytes, { ...zlibOptions, maxOutputLength });
  }
}

/** The window that a brotli stream asks for in its first byte (RFC 7932, section 9.1). */
function brotliWindowBits(firstByte: number): number {
  if ((firstByte & 1) === 0) return 16;
  const high = (firstByte >> 1) & 7;
  if (high !== 0) return 17 + high;
  const low = (firstByte >> 4) & 7;
  return low === 0 ? 17 : 8 + low;
}

/** `deflate` should mean zlib, but some servers send the bare stream: no bare stream starts with compression method 8. */
function hasZlibHeader(firstByte: number): boolean {
  return (firstByte & 0x0f) === 8;
}

/** `firstByte` is null for an inner coding, whose bytes have not come out yet: read as zlib, as the standard says. */
function streamOf(coding: Coding, firstByte: number | null): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip(zlibOptions);
    case 'br':
      return createBrotliDecompress(brotliOptions);
    case 'zstd':
      return createZstdDecompress(zstdOptions);
    case 'deflate':
      return firstByte === null || hasZlibHeader(firstByte)
        ? createInflate(zlibOptions)
        : createInflateRaw(zlibOptions);
  }
}

function decodeFault(error: unknown, coding: Coding): Fault {
  const truncated = codeOf(error) === 'Z_BUF_ERROR';
  return new Fault(
    'bad_encoding',
    truncated ? `The answer's ${coding} data ends too early.` : `The answer says it is ${coding}, but it is not.`,
  );
}
