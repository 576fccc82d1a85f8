// `npm run servers -- up|down|status`: the servers of the distributed mode, without containers. See test/servers.
import { join } from 'node:path';
import { isOnOwnNode, root, runToEnd } from './launch.mjs';

if (await isOnOwnNode(import.meta.url)) {
  const command = join(root, 'test', 'servers', 'command.ts');
  process.exitCode = await runToEnd(process.execPath, [command, ...process.argv.slice(2)]);
}
