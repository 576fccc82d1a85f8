// `npm run test:browser`: what a person does, in a real Chromium (the package `chromium`, or where CHROMIUM says). The last line
// printed is `N passed, N failed`.
import { buildIfStale, isOnOwnNode } from './launch.mjs';
import { ignoring, judge, neverSpecs, runJest } from './specs.mjs';

async function main(jestArgs) {
  await judge(async ({ folder, failures }) => {
    await buildIfStale();
    const patterns = [...neverSpecs, '^(?!.*\\.browser\\.spec\\.ts$)'];
    const title = 'Specs in a real browser';
    return [await runJest(title, [...ignoring(patterns), '--maxWorkers=2', ...jestArgs], { folder, failures })];
  });
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
