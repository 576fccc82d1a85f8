/** What can happen to one process and its folder. */
import { canFillDisk } from '../e2e/kit/full-disk.js';
import { embeddedInstallation } from '../e2e/kit/embedded.js';
import type { World } from '../e2e/kit/watch.js';
import { between, lasting, type Fault } from './fault.js';
import type { Scene } from './scene.js';

export async function embeddedScene({ mails }: World): Promise<Scene> {
  const installation = await embeddedInstallation({ smtpUrl: mails.url });
  await installation.start();

  const endAndStart = async (signal: NodeJS.Signals, downMs: number): Promise<void> => {
    await installation.kill(signal);
    await lasting(downMs);
    await installation.start();
  };
  const faults: Fault[] = [
    {
      name: 'kill -9',
      isKill: true,
      weight: 8,
      happen: (random) => endAndStart('SIGKILL', between(random, 0, 1_500)),
    },
    {
      name: 'kill -9 while it starts',
      isKill: true,
      weight: 2,
      async happen(random) {
        await installation.kill('SIGKILL');
        const starting = installation.start().catch(() => undefined);
        await lasting(between(random, 50, 600));
        await installation.kill('SIGKILL');
        await starting;
        await installation.start();
      },
    },
    { name: 'SIGTERM', isKill: false, weight: 1, happen: () => endAndStart('SIGTERM', 0) },
    {
      name: 'SIGSTOP, SIGCONT',
      isKill: false,
      weight: 1,
      async happen(random) {
        process.kill(installation.pid, 'SIGSTOP');
        await lasting(between(random, 500, 6_000));
        process.kill(installation.pid, 'SIGCONT');
      },
    },
  ];
  if (canFillDisk) {
    faults.push({
      name: 'full disk',
      isKill: false,
      weight: 2,
      async happen(random) {
        await installation.breakEventStore();
        await lasting(between(random, 500, 4_000));
        await installation.mendEventStore();
      },
    });
  }
  return {
    name: 'embedded',
    installation,
    faults,
    isReady: async () => (await fetch(`${installation.url}/readyz`)).ok,
    close: () => installation.remove(),
  };
}
