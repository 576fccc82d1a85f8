/** An installation in one process, in a data folder of its own. */
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createOwnerKeys } from '#vault/owner-keys';
import { createSealedEvents } from '#vault/sealed-events';
import { createApi } from './api.js';
import { runCommand, startCommand } from './command-line.js';
import { fillDisk, freeDisk } from './full-disk.js';
import {
  appendTo,
  commonSettings,
  endOf,
  ownerApiKey,
  scratchFolder,
  type Installation,
  type InstallationOptions,
} from './installation.js';
import { startProduct, type Product } from './product.js';

export interface EmbeddedInstallation extends Installation {
  readonly pid: number;
  readonly dataDir: string;
}

/** Everything in one process, in a data folder of its own. */
export async function embeddedInstallation(options: InstallationOptions = {}): Promise<EmbeddedInstallation> {
  const folder = await scratchFolder();
  const dataDir = join(folder, 'data');
  let settings: Readonly<Record<string, string>> = { DATA_DIR: dataDir, PORT: '0', ...commonSettings(options) };
  const lines: string[] = [];
  let product: Product | null = null;
  let url = '';
  const current = (): Product => {
    if (product === null) throw new Error('the installation was not started');
    return product;
  };
  return {
    apiKey: ownerApiKey,
    api: createApi(() => url, ownerApiKey),
    get url() {
      return url;
    },
    get urls() {
      return [url];
    },
    get lines() {
      return [...lines, ...(product?.lines ?? [])];
    },
    dataDir,
    get pid() {
      return current().pid;
    },
    breakEventStore: () => fillDisk(current().pid),
    mendEventStore: () => freeDisk(current().pid),
    async start() {
      product = startProduct(settings, folder);
      url = await product.ready();
    },
    async kill(signal) {
      const ending = current();
      ending.signal(signal);
      const how = await endOf(ending);
      lines.push(...ending.lines);
      product = null;
      return how;
    },
    async recordedEvents() {
      // A copy: what is looked at must not change by being looked at.
      const copy = await mkdtemp(join(tmpdir(), 'meerkat-e2e-events-'));
      try {
        for (const name of await readdir(dataDir)) {
          if (name.startsWith('events.db')) await cp(join(dataDir, name), join(copy, name));
        }
        return await allEvents(join(copy, 'events.db'), await secretKeyIn(dataDir, settings));
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    },
    async appendEvents(events) {
      const secretKey = await secretKeyIn(dataDir, settings);
      await appendTo(createSqliteEventStore(join(dataDir, 'events.db'), { secretKey }), events);
    },
    set: (more) => void (settings = { ...settings, ...more }),
    secretKey: () => secretKeyIn(dataDir, settings),
    command: (words) => runCommand(words, settings, folder),
    startCommand: (words) => startCommand(words, settings, folder),
    rotateSecretKey: () => runCommand(['secret-key', 'rotate'], settings, folder),
    openReadStore: async () => createSqliteReadStore(join(dataDir, 'views.db')),
    async stored() {
      const entries = await readdir(dataDir, { recursive: true, withFileTypes: true }).catch(() => []);
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return Promise.all(files.map(async (name) => ({ name, bytes: await readFile(name) })));
    },
    async remove() {
      if (product !== null) {
        product.signal('SIGKILL');
        await product.ended;
        product = null;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function secretKeyIn(dataDir: string, settings: Readonly<Record<string, string>>): Promise<Uint8Array> {
  return Buffer.from(settings['SECRET_KEY'] ?? (await readFile(join(dataDir, 'secret.key'), 'utf8')), 'base64');
}

async function allEvents(copiedFile: string, secretKey: Uint8Array): Promise<readonly RecordedEvent[]> {
  const store = createSqliteEventStore(copiedFile, { checked: true });
  try {
    return await everyEvent(createSealedEvents(store, createOwnerKeys(store, secretKey)));
  } finally {
    await store.close();
  }
}
