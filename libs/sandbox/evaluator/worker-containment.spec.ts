/** What code that took over a thread of the evaluator can do. Every deed is tried, inside and outside. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { attemptFreely, openHostileEvaluator } from './hostile-worker.kit.js';
import type { HostileEvaluator } from './hostile-worker.kit.js';
import { machineIsolation } from './isolation.js';

const folder = mkdtempSync(join(tmpdir(), 'meerkat-containment-'));
const secret = join(folder, 'secret.key');
const written = join(folder, 'written');
const addon = createRequire(import.meta.url).resolve('@node-rs/argon2-linux-x64-gnu');
const onLinux = process.platform === 'linux';
const isolation = machineIsolation();

const threadFrom = (inner: string): string => `export default ({ load }) => new Promise((resolve, reject) => {
  const { Worker } = load('worker_threads');
  const code = ${JSON.stringify(inner)};
  const thread = new Worker(new URL('data:text/javascript,' + encodeURIComponent(code)), { execArgv: [] });
  thread.on('message', resolve);
  thread.on('error', reject);
});`;
/** Hooks of the module loader run in a thread that Node.js starts. */
const hooksFrom = (inner: string): string => `export default async ({ load }) => {
  const hooks = ${JSON.stringify(inner)};
  load('module').register('data:text/javascript,' + encodeURIComponent(hooks));
  return (await import('held:text')).default;
};`;
const reading = `process.getBuiltinModule('fs').readFileSync(${JSON.stringify(secret)}, 'utf8')`;

/** Each comes to something in a thread that nothing holds back. */
const deeds: readonly (readonly [string, string])[] = [
  ['read a file', `export default () => ${reading}`],
  ['list a folder', `export default ({ load }) => load('fs').readdirSync(${JSON.stringify(folder)})`],
  ['write a file', `export default ({ load }) => load('fs').writeFileSync(${JSON.stringify(written)}, 'x')`],
  [
    'start a program',
    `export default ({ load }) => load('child_process').execFileSync(process.execPath, ['--version'])`,
  ],
  [
    'open a SQLite database',
    `export default ({ load }) => new (load('sqlite').DatabaseSync)(${JSON.stringify(written)}).close()`,
  ],
  [
    'listen as an inspector',
    `export default ({ load }) => { const at = load('inspector'); at.open(0); const url = at.url(); at.close(); return url; }`,
  ],
  [
    'inspect itself',
    `export default ({ load }) => { const it = new (load('inspector').Session)(); it.connect(); it.disconnect(); }`,
  ],
  [
    'start a thread without its limits',
    threadFrom(`process.getBuiltinModule('worker_threads').parentPort.postMessage(${reading})`),
  ],
  [
    'read a file in a hook of the module loader',
    hooksFrom(`const source = 'export default ' + JSON.stringify(${reading});
      export const resolve = (name, at, next) =>
        name === 'held:text' ? { url: name, shortCircuit: true } : next(name, at);
      export const load = (url, at, next) =>
        url === 'held:text' ? { format: 'module', shortCircuit: true, source } : next(url, at);`),
  ],
  ['use WASI', `export default ({ load }) => new (load('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } })`],
  ['reach the bindings of the runtime', `export default () => Object.keys(process.binding('fs'))`],
  ['write a report', `export default () => process.report.writeReport(${JSON.stringify(written)})`],
  ['write its heap', `export default ({ load }) => load('v8').writeHeapSnapshot(${JSON.stringify(written)})`],
];
const linuxDeeds: readonly (readonly [string, string])[] = [
  [
    'load an addon',
    `export default () => { const held = { exports: {} }; process.dlopen(held, ${JSON.stringify(addon)}); }`,
  ],
  [
    "read its parent's environment",
    `export default ({ load }) => load('fs').readFileSync('/proc/' + process.ppid + '/environ').length > 0`,
  ],
  ['read its own memory', `export default ({ load }) => load('fs').closeSync(load('fs').openSync('/proc/self/mem'))`],
];

describe('a thread of the evaluator that was taken over', () => {
  let hostile: HostileEvaluator;
  let server: Server;
  beforeAll(async () => {
    writeFileSync(secret, 'the key');
    hostile = openHostileEvaluator();
    server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(async () => {
    await hostile.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it.each([...deeds, ...(onLinux ? linuxDeeds : [])])('cannot %s, as a free thread can', async (_name, code) => {
    expect(await attemptFreely(code)).toMatch(/^did: /);
    rmSync(written, { force: true });
    expect(await hostile.attempt(code)).toMatch(/^refused: /);
    expect(existsSync(written)).toBe(false);
  });

  it('finds an empty environment and no arguments', async () => {
    const code = `export default () => JSON.stringify([Object.keys(process.env), process.argv.slice(2)])`;
    expect(await hostile.attempt(code)).toBe('did: [[],[]]');
  });

  it('finds nothing but its own program in its working folder', async () => {
    const code = `export default ({ load }) => load('fs').readdirSync(process.cwd()).sort().join()`;
    expect(await hostile.attempt(code)).toBe('did: evaluator.js,package.json,prelude.json,worker.js');
  });

  it(`cannot reach the network${isolation.network ? '' : ' (not tried: this machine offers no network namespace)'}`, async () => {
    const { port } = server.address() as AddressInfo;
    const code = `export default ({ load }) => new Promise((resolve, reject) => {
      const socket = load('net').connect(${port}, '127.0.0.1');
      socket.on('data', (bytes) => resolve(String(bytes)));
      socket.on('error', reject);
    })`;
    expect(await attemptFreely(code)).toBe('did: hello');
    if (isolation.network) expect(await hostile.attempt(code)).toBe('refused: ENETUNREACH');
  });

  it(`cannot signal another process${isolation.signals ? '' : ' (not tried: this machine offers no process namespace)'}`, async () => {
    const victim = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    try {
      const signal = (pid: number | string): string =>
        `export default () => { try { process.kill(${pid}, 'SIGTERM') } catch (error) { if (${pid} !== 0) throw error; } return 'sent'; }`;
      if (isolation.signals) {
        expect(await hostile.attempt(signal(victim.pid ?? 0))).toBe('refused: ESRCH');
        // No parent is to be seen; a signal to its own group must not reach this process.
        await hostile.attempt(`export default () => process.kill(process.ppid, 'SIGWINCH')`);
        expect(await hostile.attempt('export default () => process.ppid')).toBe('did: 0');
      }
      expect(await attemptFreely(signal(victim.pid ?? 0))).toBe('did: sent');
    } finally {
      victim.kill('SIGKILL');
    }
  });
});
