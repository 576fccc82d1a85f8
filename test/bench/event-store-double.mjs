// The double of EventStoreDB as a process of a benchmark, which tells how often something was read of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeFolder } from './processes.mjs';

const program = fileURLToPath(new URL('../servers/eventstoredb/main.ts', import.meta.url));

/** On the cores that are named, by their numbers. */
export async function startEventStoreDouble(cores) {
  const words = [process.execPath, program, '--port', '0', '--control', '0', '--data', await makeFolder()];
  const child = spawn('taskset', ['-c', cores, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const addressOn = async (stream) => {
    const [line] = await once(createInterface(stream), 'line');
    return line.slice(line.indexOf('=') + 1);
  };
  const ended = once(child, 'exit');
  const early = ended.then(() => Promise.reject(new Error('the double of the event store ended')));
  early.catch(() => undefined);
  const [url, controlUrl] = await Promise.race([
    Promise.all([addressOn(child.stdout), addressOn(child.stderr)]),
    early,
  ]);
  return {
    url,
    /** So far; subscriptions are none. */
    async reads() {
      const answer = await fetch(new URL('/state', controlUrl));
      return (await answer.json()).reads;
    },
    async stop() {
      process.off('exit', kill);
      child.kill('SIGTERM');
      await ended;
    },
  };
}
