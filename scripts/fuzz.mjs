// `npm run fuzz -- [--minutes N] [--runs N] [--seed S] [--parser parse5|lexbor]`: generated code on generated pages, through
// the sandbox as it is built. Exit 1 where it did not keep what it promises.
import { buildIfStale, isOnOwnNode } from './launch.mjs';

if (await isOnOwnNode(import.meta.url)) {
  await buildIfStale();
  await import('../test/fuzz/main.ts');
}
