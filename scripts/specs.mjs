// What `npm test` and `npm run test:distributed` share: programs in process groups of their own, runs of Jest, one verdict.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './launch.mjs';

const stepTimeoutMs = 20 * 60_000;
const running = new Set();
/** Exit code of a run that was told to stop; null: it was not. */
let stopCode = null;

export const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
export const print = (text) => process.stdout.write(`${text}\n`);

/** Given on the command line, these replace the configuration's own. */
export const neverSpecs = ['/node_modules/', '/test/architecture/planted/'];
export const ignoring = (patterns) => patterns.map((pattern) => `--testPathIgnorePatterns=${pattern}`);

/** Runs a program in a process group of its own, so that what it started ends with it. Never rejects. */
export function run(program, args, { capture, env = {} }) {
  if (stopCode !== null) return Promise.resolve({ ok: false, note: 'not begun', output: '', took: '0.0 s' });
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(program, args, {
      cwd: root,
      detached: true,
      stdio: capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        ...env,
        PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
      },
    });
    const output = [];
    let ending = null;
    const endGroup = (signal) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // It is gone already.
      }
    };
    const timer = setTimeout(() => {
      ending = `stopped after ${stepTimeoutMs / 60_000} minutes`;
      endGroup('SIGKILL');
    }, stepTimeoutMs);
    running.add(endGroup);
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    const finish = (ok, note) => {
      clearTimeout(timer);
      running.delete(endGroup);
      const told = Buffer.concat(output).toString('utf8');
      // A linter that sees CI=true colours its report for any reader.
      resolve({
        ok,
        note,
        output: process.stdout.isTTY ? told : stripVTControlCharacters(told),
        took: seconds(startedAt),
      });
    };
    child.on('error', (error) => finish(false, error.message));
    child.on('close', (code, signal) => finish(code === 0, ending ?? (signal === null ? `exit code ${code}` : signal)));
  });
}

/** One run of Jest, its report streamed. Its own exit counts as one failure where its counts do not explain it. */
export async function runJest(title, args, { folder, failures, env }) {
  print(`\n${title}`);
  const report = join(folder, `${title.replace(/\W+/g, '-')}.json`);
  const jest = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const { ok, note } = await run(
    process.execPath,
    [...jest, ...args, '--passWithNoTests', '--json', `--outputFile=${report}`],
    { capture: false, env },
  );
  const counts = JSON.parse(await readFile(report, 'utf8').catch(() => 'null'));
  if (counts === null) {
    failures.push(`${title}: Jest told no result (${note})`);
    return { passed: 0, failed: 1, suites: 1 };
  }
  for (const suite of counts.testResults) {
    const path = suite.name.slice(root.length + 1);
    const failed = suite.assertionResults.filter(({ status }) => status === 'failed');
    for (const test of failed) failures.push(`${path} › ${test.fullName}`);
    if (suite.status === 'failed' && failed.length === 0) failures.push(`${path} could not be run`);
  }
  const explained = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
  const unexplained = !ok && explained === 0 ? 1 : 0;
  if (unexplained === 1) failures.push(`${title}: Jest ended with ${note}`);
  return { passed: counts.numPassedTests, failed: explained + unexplained, suites: counts.numTotalTestSuites };
}

/** Calls `work` with a scratch folder and a list for failures, and prints the verdict: its last line is the counts, alone. */
export async function judge(work) {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-test-'));
  // What runs ends, nothing more begins, and `work` puts its things away as it always does.
  const stop = (signal) => {
    stopCode = signal === 'SIGINT' ? 130 : 143;
    for (const endGroup of running) endGroup('SIGKILL');
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const startedAt = performance.now();
  const failures = [];
  try {
    const parts = await work({ folder, failures });
    const passed = parts.reduce((sum, part) => sum + part.passed, 0);
    const failed = parts.reduce((sum, part) => sum + part.failed, 0);
    print('');
    for (const failure of failures) print(`FAILED ${failure}`);
    print(`in ${seconds(startedAt)}`);
    print(`${passed} passed, ${failed} failed`);
    process.exitCode = stopCode ?? (failed === 0 ? 0 : 1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
