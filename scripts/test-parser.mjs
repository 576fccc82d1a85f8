// `npm run test:parser`: builds the fast page parser, runs the specs that need it, and a differential fuzz of both parsers.
// The last line printed is `N passed, N failed`, where the build and the fuzz count as one each.
import { isOnOwnNode } from './launch.mjs';
import { ignoring, judge, neverSpecs, print, run, runJest } from './specs.mjs';

const steps = [
  { name: 'build:parser', args: ['scripts/build-parser.mjs'] },
  { name: 'fuzz of both parsers', args: ['test/conformance/fuzz.mjs'] },
];

async function runStep({ name, args }, failures) {
  const { ok, note, output, took } = await run(process.execPath, args, { capture: true });
  print(`${ok ? 'ok    ' : 'FAILED'} ${name} (${took}${ok ? '' : `, ${note}`})`);
  if (ok) return { passed: 1, failed: 0 };
  print(output.trimEnd());
  failures.push(name);
  return { passed: 0, failed: 1 };
}

async function main(jestArgs) {
  await judge(async ({ folder, failures }) => {
    const parts = [];
    for (const step of steps) parts.push(await runStep(step, failures));
    const patterns = [...neverSpecs, '^(?!.*\\.lexbor\\.spec\\.ts$)'];
    parts.push(
      await runJest('Specs of the fast page parser', [...ignoring(patterns), '--maxWorkers=2', ...jestArgs], {
        folder,
        failures,
      }),
    );
    return parts;
  });
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
