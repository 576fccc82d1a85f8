/** Open connections by origin and proxies. Idle ones are reused, the latest first. Their number is bounded; requests above it wait in order of arrival. */

export interface PooledConnection {
  /** False once it cannot carry another exchange. */
  readonly alive: boolean;
  close(): void;
}

interface Origin<C> {
  readonly idle: C[];
  /** Open connections plus granted permissions to open one. */
  reserved: number;
  readonly waiting: Waiter<C>[];
}

interface Waiter<C> {
  readonly grant: (connection: C | null) => void;
}

export class ConnectionPool<C extends PooledConnection> {
  readonly #origins = new Map<string, Origin<C>>();
  /** Idle connections of all origins, the oldest first. */
  readonly #idle = new Map<C, string>();
  readonly #maxPerOrigin: number;
  readonly #maxIdle: number;

  constructor(maxPerOrigin: number, maxIdle: number) {
    this.#maxPerOrigin = maxPerOrigin;
    this.#maxIdle = maxIdle;
  }

  /** An idle connection, or null if there is none. */
  takeIdle(key: string): C | null {
    const origin = this.#origins.get(key);
    for (let found = origin?.idle.pop(); found !== undefined; found = origin?.idle.pop()) {
      this.#idle.delete(found);
      if (found.alive) return found;
    }
    return null;
  }

  /** True: the caller may open a connection, and must call `release` or `remove` for it. */
  tryReserve(key: string): boolean {
    const origin = this.#originOf(key);
    if (origin.reserved >= this.#maxPerOrigin) return false;
    origin.reserved += 1;
    return true;
  }

  /** Queues the caller: `grant` gets a connection, or null for the permission to open one. Returns the cancellation. */
  wait(key: string, grant: (connection: C | null) => void): () => void {
    const { waiting } = this.#originOf(key);
    const waiter = { grant };
    waiting.push(waiter);
    return () => {
      const at = waiting.indexOf(waiter);
      if (at !== -1) waiting.splice(at, 1);
    };
  }

  /** Returns a connection for the next request. A closed one is ignored: `remove` is called for it. */
  release(key: string, connection: C): void {
    if (!connection.alive) return;
    const origin = this.#originOf(key);
    const next = origin.waiting.shift();
    if (next !== undefined) return next.grant(connection);
    origin.idle.push(connection);
    this.#idle.set(connection, key);
    if (this.#idle.size <= this.#maxIdle) return;
    const oldest = this.#idle.keys().next();
    if (oldest.done !== true) this.#forgetIdle(oldest.value)?.close();
  }

  /** A connection was closed, or could not be opened (null): its slot is free. */
  remove(key: string, connection: C | null): void {
    if (connection !== null) this.#forgetIdle(connection);
    const origin = this.#origins.get(key);
    if (origin === undefined) return;
    const next = origin.waiting.shift();
    if (next !== undefined) return next.grant(null);
    origin.reserved -= 1;
    if (origin.reserved === 0) this.#origins.delete(key);
  }

  #forgetIdle(connection: C): C | null {
    const key = this.#idle.get(connection);
    if (key === undefined) return null;
    this.#idle.delete(connection);
    const idle = this.#origins.get(key)?.idle;
    const at = idle?.indexOf(connection) ?? -1;
    if (at !== -1) idle?.splice(at, 1);
    return connection;
  }

  #originOf(key: string): Origin<C> {
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = { idle: [], reserved: 0, waiting: [] };
      this.#origins.set(key, origin);
    }
    return origin;
  }
}
