#!/usr/bin/env node
// `npx meerkat …`: the command line, on the Node.js that came with the dependencies, built where it is not.
import { buildIfStale, isOnOwnNode } from '../scripts/launch.mjs';

if (await isOnOwnNode(import.meta.url)) {
  await buildIfStale();
  const { main } = await import('../dist/services/host/cli.js');
  process.exitCode = await main(process.argv.slice(2));
}
