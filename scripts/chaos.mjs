// `npm run chaos -- --minutes N --seed S [--mode embedded|distributed | --bursts [--kills N]]`: breaks the product for so long, then judges it by its
// events, its views and what receivers saw. Without a mode, half of the time goes to each; with --bursts
// one process is killed so many times in the middle of deliveries, without a pause to recover. Exit 1 where a promise was broken.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isOnOwnNode, root, runToEnd } from './launch.mjs';

const usage =
  'Usage: npm run chaos -- [--minutes <n>] [--seed <n>] [--mode embedded|distributed | --bursts [--kills <n>]]\n';
const modes = ['embedded', 'distributed'];

function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      mode: { type: 'string' },
      bursts: { type: 'boolean', default: false },
      kills: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes ?? '4');
  const seed = Number(values.seed ?? String(Date.now() % 1_000_000));
  if (!(minutes > 0) || minutes > 1_440) throw new Error('--minutes must be a number from above 0 to 1440.');
  if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number.');
  if (values.mode !== undefined && !modes.includes(values.mode))
    throw new Error(`--mode must be ${modes.join(' or ')}.`);
  const kills = Number(values.kills ?? '1000');
  if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills must be a whole number from 1 on.');
  if (values.bursts && values.mode === 'distributed') throw new Error('--bursts kill an embedded installation.');
  if (!values.bursts && values.kills !== undefined) throw new Error('--kills goes with --bursts.');
  return { minutes, seed, kills, bursts: values.bursts, modes: values.mode === undefined ? modes : [values.mode] };
}

async function main() {
  let options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}`);
    process.exitCode = 2;
    return;
  }
  process.env.CHAOS_MINUTES = String(options.minutes);
  process.env.CHAOS_SEED = String(options.seed);
  process.env.CHAOS_MODES = options.modes.join(',');
  process.env.CHAOS_KILLS = String(options.kills);
  const what = options.bursts ? `up to ${options.kills} kills in bursts of deliveries` : options.modes.join(', ');
  process.stdout.write(`chaos for ${options.minutes} min, seed ${options.seed}: ${what}\n`);
  process.exitCode = await runToEnd(process.execPath, [
    '--experimental-vm-modules',
    '--no-warnings=ExperimentalWarning',
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--rootDir',
    root,
    '--config',
    join(root, 'test', 'chaos', 'jest.config.mjs'),
    '--runInBand',
    options.bursts ? 'bursts.run.ts' : 'chaos.run.ts',
  ]);
}

if (await isOnOwnNode(import.meta.url)) await main();
