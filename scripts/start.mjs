// `npm start`: builds what is not built and runs the whole product in this very process, so that a start costs no second
// Node.js and signals need no passing on.
import { buildIfStale, isOnOwnNode } from './launch.mjs';

if (await isOnOwnNode(import.meta.url)) {
  await buildIfStale();
  const { start } = await import('../dist/product.js');
  await start();
}
