// `npm run bench -- [name…] [--json] [--seed N] [--case TEXT] [--seconds N] [--offered N] [--tasks N]
// [--events N] [--servers] [--profile]`: measures on the machine it runs on, beside its baselines.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isOnOwnNode } from '../../scripts/launch.mjs';
import { removeFolders } from './processes.mjs';
import { tellProfiles } from './profile.mjs';
import { toLine, toRecord } from './report.mjs';

/** A benchmark yields figures as they are measured. Loaded when it is its turn. */
const benches = {
  start: async () => (await import('./start.mjs')).start,
  create: async () => (await import('./create.mjs')).create,
  list: async () => (await import('./list.mjs')).list,
  runs: async () => (await import('./runs.mjs')).runs,
  evaluate: async () => (await import('./evaluate.mjs')).evaluate,
  pipeline: async () => (await import('./pipeline.mjs')).pipeline,
  checks: async () => (await import('./checks.mjs')).checks,
  deliver: async () => (await import('./deliver.mjs')).deliver,
  lateness: async () => (await import('./lateness.mjs')).lateness,
  'api-under-load': async () => (await import('./api-under-load.mjs')).apiUnderLoad,
  replay: async () => (await import('./replay.mjs')).replay,
  migrate: async () => (await import('./migrate.mjs')).migrate,
  fold: async () => (await import('./fold.mjs')).fold,
  backtest: async () => (await import('./backtest.mjs')).backtest,
  audit: async () => (await import('./audit.mjs')).auditBench,
  backup: async () => (await import('./backup.mjs')).backupBench,
  keys: async () => (await import('./keys.mjs')).keysBench,
  console: async () => (await import('./console.mjs')).consoleBench,
  render: async () => (await import('./render.mjs')).render,
  neighbours: async () => (await import('./neighbours.mjs')).neighbours,
};
const usage = `Usage: npm run bench -- [${Object.keys(benches).join('|')}…] [--json] [--seed N] [--case TEXT…] [--seconds N] [--offered N] [--tasks N] [--events N] [--servers] [--profile]\n`;

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        seed: { type: 'string', default: '1' },
        case: { type: 'string', multiple: true, default: [] },
        seconds: { type: 'string', default: '20' },
        offered: { type: 'string' },
        tasks: { type: 'string' },
        events: { type: 'string' },
        servers: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(benches, name));
    if (unknown !== undefined) throw new Error(`There is no benchmark named ${unknown}.`);
    if (!/^\d{1,9}$/.test(values.seed)) throw new Error('--seed takes a whole number.');
    if (!/^[1-9]\d{0,3}$/.test(values.seconds)) throw new Error('--seconds takes a whole number from 1 on.');
    const { json, seed, case: cases, seconds, offered, tasks, events, servers } = values;
    if (!/^[1-9]\d{0,5}$/.test(offered ?? '1')) throw new Error('--offered takes a whole number from 1 on.');
    if (!/^[1-9]\d{3,6}$/.test(tasks ?? '1000')) throw new Error('--tasks takes a whole number from 1,000 on.');
    if (!/^[1-9]\d{4,6}$/.test(events ?? '10000')) throw new Error('--events takes a whole number from 10,000 on.');
    const load = offered === undefined ? {} : { offered: Number(offered) };
    const many = tasks === undefined ? {} : { tasks: Number(tasks) };
    const long = events === undefined ? {} : { events: Number(events) };
    const asked = { json, cases, servers, names: positionals };
    return { ...asked, seed: Number(seed), seconds: Number(seconds), ...load, ...many, ...long };
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}`);
    return null;
  }
}

async function main() {
  const settings = readArguments();
  if (settings === null) return 2;
  const names = settings.names.length === 0 ? Object.keys(benches) : settings.names;
  let failed = false;
  try {
    for (const name of names) {
      process.stderr.write(`${name}: measuring (load of this machine: ${loadavg()[0].toFixed(1)})\n`);
      try {
        const bench = await benches[name]();
        for await (const figure of bench(settings)) {
          const record = toRecord(figure);
          process.stdout.write(`${settings.json ? JSON.stringify(record) : toLine(record)}\n`);
        }
      } catch (error) {
        failed = true;
        process.stderr.write(`${name}: could not be measured: ${error.stack ?? error}\n`);
      }
    }
  } finally {
    await removeFolders();
    tellProfiles();
  }
  return failed ? 1 : 0;
}

// A missed target is a figure, not a failure: only what could not be measured is.
if (await isOnOwnNode(import.meta.url)) process.exitCode = await main();
