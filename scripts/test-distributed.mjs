// `npm run test:distributed`: real servers, the contract suites of their adapters, and the end-to-end suite on services in
// processes of their own, two of each. Where EVENT_STORE_URL, BUS_URL and READ_STORE_URL are set, those servers are used;
// else servers are started in a scratch folder and stopped afterwards. The last line printed is `N passed, N failed`.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOnOwnNode, root } from './launch.mjs';
import { ignoring, judge, neverSpecs, print, run, runJest } from './specs.mjs';

const variables = ['EVENT_STORE_URL', 'BUS_URL', 'READ_STORE_URL'];

function servers(...args) {
  return promisify(execFile)(process.execPath, [join(root, 'test', 'servers', 'command.ts'), ...args]);
}

/** Addresses by variable, and how to stop what was started for them. */
async function reachServers(folder) {
  const given = variables.filter((name) => (process.env[name] ?? '') !== '');
  if (given.length === variables.length) return { env: {}, stop: async () => undefined };
  if (given.length > 0) throw new Error(`Set all of ${variables.join(', ')}, or none.`);
  const data = ['--data', join(folder, 'servers')];
  print('Starting the servers');
  const { stdout, stderr } = await servers('up', ...data);
  print(stderr.trimEnd());
  const lines = stdout.trim().split('\n');
  return {
    env: Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
    stop: () => servers('down', ...data),
  };
}

/** SQLite's writer is a thread of the built product, and the suites that copy between engines need it. */
async function build() {
  const { ok, output, note } = await run(process.execPath, [join(root, 'scripts', 'build.mjs'), '--if-stale'], {
    capture: true,
  });
  if (!ok) throw new Error(`The product cannot be built (${note}):\n${output}`);
}

async function main(jestArgs) {
  await judge(async ({ folder, failures }) => {
    await build();
    const { env, stop } = await reachServers(folder);
    try {
      const options = { folder, failures, env };
      const specs = await runJest(
        'Contract suites on servers',
        [...ignoring([...neverSpecs, '/test/e2e/', '^(?!.*\\.int\\.spec\\.ts$)']), '--maxWorkers=2', ...jestArgs],
        options,
      );
      // Two installations at a time: one waits for what takes its time, as for the sessions of processes that were killed,
      // while the other is at work.
      const endToEnd = await runJest(
        'End-to-end specs on services and replicas',
        [...ignoring([...neverSpecs, '/test/e2e/one-process/', '^(?!.*/test/e2e/)']), '--maxWorkers=2', ...jestArgs],
        options,
      );
      return [specs, endToEnd];
    } finally {
      await stop();
    }
  });
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
