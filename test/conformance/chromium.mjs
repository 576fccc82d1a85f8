// Debian's Chromium, driven over a pipe: pages of our own are served by interception, so nothing goes over any network.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--lang=en-US',
  '--remote-debugging-pipe',
];

/** Messages of the DevTools protocol, each ended by NUL, over the third and fourth file descriptor. */
class Connection {
  #next = 1;
  #waiting = new Map();
  #listeners = new Map();
  #rest = Buffer.alloc(0);
  #out;

  constructor(out, input) {
    this.#out = out;
    input.on('data', (bytes) => this.#read(bytes));
    input.on('end', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Chromium ended'));
    });
  }

  #read(bytes) {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let end = this.#rest.indexOf(0); end >= 0; end = this.#rest.indexOf(0)) {
      const message = JSON.parse(this.#rest.subarray(0, end).toString('utf8'));
      this.#rest = this.#rest.subarray(end + 1);
      const waiting = this.#waiting.get(message.id);
      if (waiting !== undefined) {
        this.#waiting.delete(message.id);
        if (message.error === undefined) waiting.resolve(message.result);
        else waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
      } else for (const listen of this.#listeners.get(message.method) ?? []) listen(message.params, message.sessionId);
    }
  }

  send(method, params = {}, sessionId) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      this.#out.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  on(method, listen) {
    this.#listeners.set(method, [...(this.#listeners.get(method) ?? []), listen]);
  }
}

/** Resolves when a navigation has loaded, also where that was before the call. */
function watchLoads(connection) {
  const done = new Set();
  const waiting = new Map();
  connection.on('Page.lifecycleEvent', ({ name, loaderId }) => {
    if (name !== 'load') return;
    done.add(loaderId);
    waiting.get(loaderId)?.();
  });
  return {
    of: (loaderId) =>
      new Promise((resolve) => {
        if (done.has(loaderId)) resolve();
        else waiting.set(loaderId, resolve);
      }),
  };
}

/**
 * A browser with one tab. `open` shows a page as if its address had answered with it; `evaluate` runs code in it as the
 * console does and answers with a value, or throws what the code threw.
 */
export async function launchChromium(executable = process.env.CHROMIUM ?? '/usr/bin/chromium') {
  const profile = await mkdtemp(join(tmpdir(), 'conformance-chromium-'));
  const child = spawn(executable, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, TZ: 'UTC', LANG: 'en_US.UTF-8' },
  });
  const connection = new Connection(child.stdio[3], child.stdio[4]);
  const { product } = await connection.send('Browser.getVersion');
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method, params) => connection.send(method, params, sessionId);
  let served = new Map();
  connection.on('Fetch.requestPaused', ({ requestId, request }) => {
    const page = served.get(request.url.split('#')[0]);
    const answer =
      page === undefined
        ? send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
        : send('Fetch.fulfillRequest', {
            requestId,
            responseCode: 200,
            responseHeaders: [{ name: 'content-type', value: page.type }],
            body: Buffer.from(page.body).toString('base64'),
          });
    answer.catch(() => undefined);
  });
  const loads = watchLoads(connection);
  await send('Page.enable');
  await send('Page.setLifecycleEventsEnabled', { enabled: true });
  await send('Runtime.enable');
  await send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });

  return {
    product,

    async open({ url, body, type = 'text/html; charset=utf-8' }) {
      served = new Map([[url.split('#')[0], { body, type }]]);
      // By way of a blank page: to go where it is already is no load.
      for (const target of ['about:blank', url]) {
        const { errorText, loaderId } = await send('Page.navigate', { url: target });
        if (errorText !== undefined) throw new Error(`${target}: ${errorText}`);
        await loads.of(loaderId);
      }
    },

    async evaluate(expression) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
        userGesture: false,
      });
      if (exceptionDetails !== undefined) {
        const { exception, text } = exceptionDetails;
        throw new Error(exception?.description ?? text);
      }
      return result.value;
    },

    async close() {
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      connection.send('Browser.close').catch(() => undefined);
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
