/** One HTTP/1.1 connection: an undici client over a socket that was opened and checked before, and that is never replaced. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Client } from 'undici';
import { certificateOf, type ServerCertificate } from './certificates.js';
import type { PooledConnection } from './connection-pool.js';
import { Fault } from './failures.js';

const maxHeaderBytes = 16_384;
const idleMs = 4_000;
const maxIdleMs = 60_000;

// Made once, because the stack trace of an error costs more than the rest of closing a connection.
const closed = new Fault('aborted', 'The connection was closed.');
/** No Fault: the exchange that gets it reports, by how far its answer had come, what the loss of its connection means. */
const lost = new Error('The connection was lost.');

export type ClientClass = typeof Client;
let clientClass: ClientClass | null = null;

/** undici is loaded with the first connection, so that the start of a process does not wait for it. */
export async function loadClient(): Promise<ClientClass> {
  clientClass ??= (await import('undici')).Client;
  return clientClass;
}

export class Connection implements PooledConnection {
  readonly client: Client;
  /** True once an exchange has completed on it. */
  reused = false;
  alive = true;
  /** Of the server; null without TLS. */
  readonly certificate: ServerCertificate | null;
  readonly #onClose: (connection: Connection) => void;
  /** The socket until the client takes it over, then null. */
  #socket: Socket | null;

  constructor(HttpClient: ClientClass, origin: string, socket: Socket, onClose: (connection: Connection) => void) {
    this.#socket = socket;
    // Read now: a connection that is closed tells nothing.
    this.certificate = socket instanceof TLSSocket ? certificateOf(socket) : null;
    this.#onClose = onClose;
    this.client = new HttpClient(origin, {
      pipelining: 1,
      allowH2: false,
      useMilo: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // `RequestDeadline` keeps all time limits
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: maxIdleMs,
      connect: (_options, callback) => {
        const ready = this.#socket;
        this.#socket = null;
        // In a microtask, because the client ignores a socket that arrives while it is still inside its call of `connect`.
        queueMicrotask(() => {
          if (ready === null) callback(new Fault('connect_failed', 'The server closed the connection.'), null);
          else callback(null, ready);
        });
      },
    });
    this.client.on('disconnect', this.#onGone);
    this.client.on('connectionError', this.#onGone);
  }

  close(): void {
    this.#socket?.on('error', () => undefined).destroy();
    void this.client.destroy(closed);
    if (this.#socket !== null) this.#onGone();
  }

  readonly #onGone = (): void => {
    if (!this.alive) return;
    this.alive = false;
    void this.client.destroy(lost);
    this.#onClose(this);
  };
}
