/**
 * Browsers for the services of other containers: each connection gets a browser process of its own, which ends with it. What
 * its pages ask for goes through the proxies of the service that connected, and nowhere else.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Logger } from '#runtime/logger';
import { browserEnvironment, quietFlags } from './browser-flags.js';
import { createIdleHandlers } from './idle-handlers.js';
import { killBelow, privateBytesBelow, yieldBelow } from './process-tree.js';

export interface BrowserHostOptions {
  readonly executablePath: string;
  readonly hasSandbox: boolean;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly mostProcesses: number;
  readonly mostMemoryBytes: number;
  readonly logger: Logger;
}

export interface BrowserHost {
  /** `ws://host:port/`. */
  readonly url: string;
  close(): Promise<void>;
}

const mostMessageBytes = 256 * 1024 * 1024;
const memoryLookMs = 250;
const separator = 0;

const startFlags = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--hide-scrollbars',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-component-extensions-with-background-pages',
  '--disable-default-apps',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-ipc-flooding-protection',
  '--force-color-profile=srgb',
  '--metrics-recording-only',
  '--password-store=basic',
  '--use-mock-keychain',
  '--no-service-autorun',
  // A context has a proxy of its own; what is asked for outside of any leads nowhere.
  '--proxy-server=http://127.0.0.1:9',
];

/** Messages end in a NUL on the browser's pipe. */
function relay(socket: WebSocket, into: Writable, from: Readable): void {
  let pending: Buffer[] = [];
  from.on('data', (chunk: Buffer) => {
    let begin = 0;
    for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, begin)) {
      socket.send(Buffer.concat([...pending, chunk.subarray(begin, end)]).toString('utf8'));
      pending = [];
      begin = end + 1;
    }
    if (begin < chunk.length) pending.push(chunk.subarray(begin));
  });
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) socket.close(1_003);
    else into.write(Buffer.concat([data, Buffer.of(separator)]));
  });
}

/** Rejects where it cannot listen. */
export async function startBrowserHost(options: BrowserHostOptions): Promise<BrowserHost> {
  const { executablePath, hasSandbox, host, port, mostProcesses, mostMemoryBytes, logger } = options;
  const running = new Set<ChildProcess>();
  const handlers = await createIdleHandlers();

  async function serve(socket: WebSocket, peer: string): Promise<void> {
    socket.pause();
    const profile = await mkdtemp(join(tmpdir(), 'meerkat-browser-'));
    const flags = [...startFlags, ...quietFlags([peer]), ...(hasSandbox ? [] : ['--no-sandbox'])];
    const child = spawn(executablePath, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: browserEnvironment(handlers),
    });
    running.add(child);
    const end = (): void => {
      if (child.pid !== undefined) killBelow(child.pid);
    };
    const watch = setInterval(() => {
      if (child.pid === undefined) return;
      yieldBelow(child.pid);
      if (privateBytesBelow(child.pid) <= mostMemoryBytes) return;
      logger.warn({ mostMemoryBytes }, 'a browser took more memory than it may and is ended');
      end();
    }, memoryLookMs).unref();
    child.on('error', (error) => {
      logger.error({ error: String(error) }, 'a browser could not be started');
      socket.close(1_011);
    });
    child.once('close', () => {
      running.delete(child);
      clearInterval(watch);
      socket.close(1_011);
      void rm(profile, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    });
    socket.once('close', end);
    socket.on('error', end);
    const [, , , into, from] = child.stdio;
    for (const pipe of [into, from]) pipe?.on('error', end);
    relay(socket, into as Writable, from as Readable);
    socket.resume();
  }

  const server = createServer((request, response) => {
    const isHealth = request.method === 'GET' && request.url === '/healthz';
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'text/plain' }).end(isHealth ? 'ok\n' : 'not found\n');
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: mostMessageBytes, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, connection, head) => {
    // A page that finds its way here says where it comes from; a service does not.
    const isPage = request.headers.origin !== undefined;
    if (isPage || running.size >= mostProcesses) {
      connection.end(`HTTP/1.1 ${isPage ? '403 Forbidden' : '503 Service Unavailable'}\r\nConnection: close\r\n\r\n`);
      return;
    }
    const peer = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    sockets.handleUpgrade(request, connection, head, (socket) => {
      serve(socket, peer).catch((error: unknown) => {
        logger.error({ error: String(error) }, 'a browser could not be started');
        socket.close(1_011);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: listening } = server.address() as AddressInfo;

  return {
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${listening}/`,
    async close() {
      const ended = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
      for (const { pid } of running) if (pid !== undefined) killBelow(pid);
      for (const socket of sockets.clients) socket.terminate();
      await Promise.all([...ended, new Promise((resolve) => server.close(resolve))]);
      await handlers.remove();
    },
  };
}
