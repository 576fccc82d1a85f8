/** An installation whose events can be copied aside and put back under everything that was made of later ones. */
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEventStore } from '../../servers/servers.ts';
import { scratchFolder, type Installation, type InstallationOptions } from './installation.js';
import { serversOfThisRun, type ServerAddresses } from './servers.js';

export interface CopiedInstallation {
  readonly installation: Installation;
  /** While nothing of it runs. */
  copyEvents(): Promise<void>;
  /** While nothing of it runs. */
  putEventsBack(): Promise<void>;
  remove(): Promise<void>;
}

/** The files of a database in SQLite, its -wal and -shm files included. */
async function copyDatabase(name: string, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const isOfIt = (file: string): boolean => [name, `${name}-wal`, `${name}-shm`].includes(file);
  for (const file of (await readdir(to)).filter(isOfIt)) await rm(join(to, file));
  for (const file of (await readdir(from)).filter(isOfIt)) await cp(join(from, file), join(to, file));
}

async function embedded(options: InstallationOptions): Promise<CopiedInstallation> {
  const { embeddedInstallation } = await import('./embedded.js');
  const installation = await embeddedInstallation(options);
  const copy = join(installation.dataDir, '..', 'copy');
  return {
    installation,
    copyEvents: () => copyDatabase('events.db', installation.dataDir, copy),
    putEventsBack: () => copyDatabase('events.db', copy, installation.dataDir),
    remove: () => installation.remove(),
  };
}

/** On a server of events of its own: what is put back must be nobody else's. */
async function distributed(servers: ServerAddresses, options: InstallationOptions): Promise<CopiedInstallation> {
  const { distributedInstallation } = await import('./distributed.js');
  const folder = await scratchFolder();
  const [dataFolder, copy] = [join(folder, 'events'), join(folder, 'copy')];
  let server = await startEventStore({ dataFolder });
  const { port } = server;
  const installation = await distributedInstallation({ ...servers, eventStoreUrl: server.url }, options);
  const move = async (from: string, to: string): Promise<void> => {
    await server.stop();
    await copyDatabase('eventstoredb.db', from, to);
    server = await startEventStore({ dataFolder, port });
  };
  return {
    installation,
    copyEvents: () => move(dataFolder, copy),
    putEventsBack: () => move(copy, dataFolder),
    async remove() {
      await installation.remove();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** In the mode of this run. */
export function createCopiedInstallation(options: InstallationOptions): Promise<CopiedInstallation> {
  const servers = serversOfThisRun();
  return servers === null ? embedded(options) : distributed(servers, options);
}
