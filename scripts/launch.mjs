// What `npm start`, `npx meerkat` and `npm test` share: the Node.js that came with the dependencies, and a build that is
// not older than its sources. Itself it must run on any Node.js ≥ 20.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// A signal would else open the inspector of Node.js, to anybody who may send one.
if (process.platform !== 'win32') process.on('SIGUSR1', () => undefined);

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const ownNodeMajor = 24;
const oldestWithSqlite = [22, 13];

/** The runtime among the dependencies, a package for each kind of machine; null where there is none for this one. */
function ownNode() {
  const [platform, name] = process.platform === 'win32' ? ['win', 'node.exe'] : [process.platform, 'node'];
  const path = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', name);
  return existsSync(path) ? path : null;
}

/**
 * True: this process is fit to run the product. Otherwise the same script was run to its end by the Node.js among the
 * dependencies, signals were passed on, and `process.exitCode` is its exit code.
 */
export async function isOnOwnNode(scriptUrl, args = process.argv.slice(2)) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major >= ownNodeMajor) {
    // Compiled code is kept beside the dependencies, so that a second start need not compile it again.
    nodeModule.enableCompileCache(join(root, 'node_modules', '.cache', 'compiled'));
    return true;
  }
  const path = ownNode();
  if (path === null) {
    const [oldestMajor, oldestMinor] = oldestWithSqlite;
    if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return true;
    process.stderr.write(
      `Meerkat needs Node.js ${ownNodeMajor}; this is ${process.version} and node_modules holds none.\n` +
        'Run `npm ci` with optional dependencies (they bring the runtime for Linux and Windows), or install Node.js 24 yourself.\n',
    );
    process.exitCode = 1;
    return false;
  }
  process.exitCode = await runToEnd(path, [fileURLToPath(scriptUrl), ...args]);
  return false;
}

/** Runs a program in this terminal and passes signals on. Resolves to its exit code, as a shell would tell it. */
export function runToEnd(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' });
    const passOn = (signal) => {
      // A terminal gives Ctrl-C to the whole group: passed on, the child would get it twice.
      if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal);
    };
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'];
    for (const signal of signals) process.on(signal, passOn);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, passOn);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The file in dist/ that a source becomes, or null for what scripts/build.mjs leaves out. */
function outputOf(source) {
  if (/(\.(spec|contract|kit|d)|eventing\/given)\.ts$/.test(source)) return null;
  if (source.endsWith('.ts')) return source.replace(/\.ts$/, '.js');
  return /\.(css|html|svg|json|js|tsx)$/.test(source) ? source : null;
}

/** Whether a source is newer than what was built from it. An installation without sources is as built as it gets. */
export function isStale() {
  if (modifiedAt(join(root, 'dist', 'product.js')) === 0) return true;
  return ['services', 'libs'].some((folder) => {
    const path = join(root, folder);
    if (!existsSync(path)) return false;
    return readdirSync(path, { recursive: true }).some((name) => {
      const output = outputOf(name);
      if (output === null || name.includes('node_modules')) return false;
      const built = name.startsWith('console/') ? join('console', 'index.html') : join(folder, output);
      return modifiedAt(join(root, 'dist', built)) < modifiedAt(join(path, name));
    });
  });
}

/** Builds what is not built. Rejects where the build fails. */
export async function buildIfStale() {
  if (!isStale()) return;
  if (!existsSync(join(root, 'node_modules', '@swc', 'core'))) {
    process.stderr.write(
      'Meerkat is not built, or older than its sources, and what builds it is not installed.\n' +
        'Run `npm ci && npm run build` first; `npm ci --omit=dev` and `npm start` work from then on.\n',
    );
    process.exit(1);
  }
  const code = await runToEnd(process.execPath, [join(root, 'scripts', 'build.mjs'), '--if-stale']);
  if (code !== 0) throw new Error(`The build ended with code ${code}.`);
}
