// `npm test`: the gate, then every spec. A step that fails does not stop the others; the last line printed is
// `N passed, N failed`, where each step of the gate counts as one beside the tests. What follows `--` goes to Jest.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { isOnOwnNode, root } from './launch.mjs';

/** Scripts of package.json, two at a time in this order. The build comes last: nothing before it needs dist/. */
const gate = ['format:check', 'lint', 'typecheck', 'boundaries', 'build'];
const stepTimeoutMs = 10 * 60_000;
const running = new Set();

const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
const print = (text) => process.stdout.write(`${text}\n`);

/** Runs a program in a process group of its own, so that what it started ends with it. Never rejects. */
function run(program, args, { capture }) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(program, args, {
      cwd: root,
      detached: true,
      stdio: capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
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

/** Two steps at once, told in their order as soon as they and all before them have ended. */
async function runGate(failures) {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const waiting = [...gate];
  const results = new Map();
  let told = 0;
  const tell = () => {
    for (let name = gate[told]; name !== undefined && results.has(name); told += 1, name = gate[told]) {
      const { ok, note, output, took } = results.get(name);
      print(`${ok ? 'ok    ' : 'FAILED'} ${name} (${took}${ok ? '' : `, ${note}`})`);
      if (!ok) {
        print(output.trimEnd().replace(/^/gm, '       '));
        failures.push(name);
      }
    }
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      results.set(name, await run('/bin/sh', ['-c', scripts[name]], { capture: true }));
      tell();
    }
  };
  await Promise.all([lane(), lane()]);
  return { passed: gate.length - failures.length, failed: failures.length };
}

/** One run of Jest, its report streamed. Its own exit counts as one failure where its counts do not explain it. */
async function runJest(title, args, folder, failures) {
  print(`\n${title}`);
  const report = join(folder, `${title.replace(/\W+/g, '-')}.json`);
  const jest = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const { ok, note } = await run(
    process.execPath,
    [...jest, ...args, '--passWithNoTests', '--json', `--outputFile=${report}`],
    { capture: false },
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

async function main(jestArgs) {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-test-'));
  const stop = (signal) => {
    for (const endGroup of running) endGroup('SIGKILL');
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const startedAt = performance.now();
  const failures = [];
  try {
    const parts = [await runGate(failures)];
    const ignore = (pattern) => `--testPathIgnorePatterns=${pattern}`;
    // Given on the command line, these replace the configuration's own; specs that need servers have a run of their own.
    const never = ['/node_modules/', '/test/architecture/planted/', '\\.int\\.spec\\.ts$'].map(ignore);
    const specs = await runJest(
      'Unit, contract and architecture specs',
      [...never, ignore('/test/e2e/'), '--maxWorkers=2', ...jestArgs],
      folder,
      failures,
    );
    // Each starts the built product on ports and in folders of its own.
    const endToEnd = await runJest(
      'End-to-end specs',
      [...never, ignore('^(?!.*/test/e2e/)'), '--maxWorkers=2', ...jestArgs],
      folder,
      failures,
    );
    parts.push(specs, endToEnd);
    if (specs.suites + endToEnd.suites === 0) {
      failures.push('no spec was found');
      parts.push({ passed: 0, failed: 1 });
    }
    const passed = parts.reduce((sum, part) => sum + part.passed, 0);
    const failed = parts.reduce((sum, part) => sum + part.failed, 0);
    print('');
    for (const failure of failures) print(`FAILED ${failure}`);
    print(`in ${seconds(startedAt)}`);
    print(`${passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
