/** One request and its answer on one connection, within the limits of its body. */
import type { Dispatcher } from 'undici';
import type { Connection } from './connection.js';
import { bodySink, codingsOf, type BodyLimits, type BodyOwner, type BodySink } from './decode.js';
import { exchangeFault, Fault } from './failures.js';
import { nextHop, type Hop } from './redirects.js';
import type { RequestDeadline } from './request-deadline.js';

/** A redirect's own body is read up to this size so that its connection can be reused; above it the connection is closed. */
const maxSkippedBytes = 65_536;
/** Each chunk of a body costs time, however small it is; servers that flush every line stay far below this. */
const maxChunks = 250_000;
/** Informational answers (1xx, such as 103 Early Hints) before the final one: servers send one or two. */
const maxInformational = 20;

export interface HopAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** True where the body is longer than what was read. */
  readonly cut: boolean;
  readonly setCookies: readonly string[];
  /** The next hop of a redirect, the Fault of a bad redirect, or null for a final answer. */
  readonly next: Hop | Fault | null;
}

/** Answers that have no body. */
const bodylessStatuses = new Set([204, 205, 304]);

/** The reason undici gets for an exchange that has settled before its answer was complete; nobody sees it. */
const abandoned = new Fault('aborted', 'The exchange has ended.');

/** Settles once; later callbacks of undici are ignored. */
export class Exchange implements Dispatcher.DispatchHandler, BodyOwner {
  readonly #connection: Connection;
  readonly #deadline: RequestDeadline;
  readonly #hop: Hop;
  readonly #limits: BodyLimits;
  readonly #followsRedirects: boolean;
  readonly #beforeBody: (() => Promise<void> | null) | null;
  readonly #result = Promise.withResolvers<HopAnswer>();
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #sink: BodySink | null = null;
  #skippedBytes = 0;
  #chunks = 0;
  #informational = 0;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #setCookies: readonly string[] = [];
  #next: Hop | Fault | null = null;
  /** True once undici has begun to write the request. */
  started = false;
  /** True once a final status has come. */
  answered = false;
  /** True once the whole answer has been read from the connection. */
  complete = false;
  /** True where the server said that it closes the connection after the answer. */
  closesConnection = false;

  constructor(
    connection: Connection,
    deadline: RequestDeadline,
    hop: Hop,
    limits: BodyLimits,
    followsRedirects: boolean,
    beforeBody: (() => Promise<void> | null) | null,
  ) {
    this.#beforeBody = beforeBody;
    this.#connection = connection;
    this.#deadline = deadline;
    this.#hop = hop;
    this.#limits = limits;
    this.#followsRedirects = followsRedirects;
  }

  /** Rejects with a Fault. */
  get answer(): Promise<HopAnswer> {
    return this.#result.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) return controller.abort(abandoned);
    this.started = true;
    this.#deadline.requestSent();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#settled) return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > maxInformational)
        this.bodyFailed(new Fault('protocol_error', 'The server announces an answer again and again, and sends none.'));
      return;
    }
    this.answered = true;
    this.#deadline.answerStarted();
    this.#status = status;
    this.#headers = joined(headers);
    this.closesConnection = this.#headers['connection']?.toLowerCase() === 'close';
    this.#setCookies = [headers['set-cookie'] ?? []].flat();
    this.#next = this.#followsRedirects ? nextHop(this.#hop, status, this.#headers['location']) : null;
    if (this.#next !== null) return;
    const codings = codingsOf(this.#headers['content-encoding']);
    if (codings instanceof Fault) return this.bodyFailed(codings);
    const { maxBodyBytes, onBodyLimit } = this.#limits;
    if (codings.length === 0 && onBodyLimit === 'fail' && this.#hop.method !== 'HEAD') {
      const announced = Number(this.#headers['content-length']);
      if (announced > maxBodyBytes) {
        return this.bodyFailed(new Fault('too_large', `The answer is larger than ${maxBodyBytes} bytes.`));
      }
    }
    this.#sink = bodySink(codings, this.#limits, this);
    if (this.#hop.method !== 'HEAD' && !bodylessStatuses.has(status)) this.#waitBeforeBody(controller);
  }

  #waitBeforeBody(controller: Dispatcher.DispatchController): void {
    const waiting = this.#beforeBody?.() ?? null;
    if (waiting === null) return;
    controller.pause();
    this.#deadline.pause();
    waiting.then(
      () => {
        this.#deadline.resume();
        this.resume();
      },
      () => this.bodyFailed(abandoned),
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#deadline.bytesReceived(chunk.length);
    this.#chunks += 1;
    if (this.#chunks > maxChunks) {
      return this.bodyFailed(new Fault('too_large', 'The answer comes in too many small pieces.'));
    }
    if (this.#sink !== null) {
      if (!this.#sink.write(chunk)) controller.pause();
      return;
    }
    this.#skippedBytes += chunk.length;
    if (this.#skippedBytes > maxSkippedBytes)
      this.#settle(() => this.#result.resolve(this.#answer(new Uint8Array(0), true)));
  }

  onResponseEnd(): void {
    this.complete = true;
    if (this.#settled) return;
    if (this.#sink === null) this.#settle(() => this.#result.resolve(this.#answer(new Uint8Array(0), false)));
    else this.#sink.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.bodyFailed(exchangeFault(error, this.answered));
  }

  bodyDone(body: Uint8Array, cut: boolean): void {
    this.#settle(() => this.#result.resolve(this.#answer(body, cut)));
  }

  bodyFailed(fault: Fault): void {
    this.#settle(() => this.#result.reject(fault));
  }

  resume(): void {
    if (!this.#settled) this.#controller?.resume();
  }

  #answer(body: Uint8Array, cut: boolean): HopAnswer {
    return { status: this.#status, headers: this.#headers, body, cut, setCookies: this.#setCookies, next: this.#next };
  }

  #settle(report: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#sink?.drop();
    if (!this.complete) {
      this.#controller?.abort(abandoned);
      this.#connection.close();
    }
    report();
  }
}

/** One value per name: repeated headers joined by `, `. */
function joined(headers: Record<string, string | string[] | undefined>): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) entries.push([name, typeof value === 'string' ? value : value.join(', ')]);
  }
  return Object.fromEntries(entries);
}
