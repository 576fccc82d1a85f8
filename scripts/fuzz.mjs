// `npm run fuzz -- [--minutes N] [--runs N] [--seed S] [--parser parse5|lexbor]`: generated code on generated pages, through
// the sandbox as it is built. Exit 1 where it did not keep what it promises.
import { join } from 'node:path';
import { buildIfStale, isOnOwnNode, root, runToEnd } from './launch.mjs';

if (await isOnOwnNode(import.meta.url)) {
  await buildIfStale();
  const program = join(root, 'test', 'fuzz', 'main.ts');
  process.exitCode = await runToEnd(process.execPath, [program, ...process.argv.slice(2)]);
}
