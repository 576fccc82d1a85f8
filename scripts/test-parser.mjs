// `npm run test:parser`: builds the fast page parser, runs the specs that need it, a differential fuzz of both parsers, and the
// end-to-end specs about pages with it.
// The last line printed is `N passed, N failed`, where the build and the fuzz count as one each.
import { isOnOwnNode } from './launch.mjs';
import { ignoring, judge, neverSpecs, print, run, runJest } from './specs.mjs';

const steps = [
  { name: 'build', args: ['scripts/build.mjs', '--if-stale'] },
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
    const options = { folder, failures };
    const title = 'Specs of the fast page parser';
    parts.push(await runJest(title, [...ignoring(patterns), '--maxWorkers=2', ...jestArgs], options));
    // Once built the product takes it by itself: the stories that are about pages, told again.
    const stories = [...neverSpecs, '^(?!.*/test/e2e/(bad-pages|create-to-delivery)\\.spec\\.ts$)'];
    const told = 'End-to-end specs with the fast page parser';
    parts.push(await runJest(told, [...ignoring(stories), '--maxWorkers=2', ...jestArgs], options));
    return parts;
  });
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
