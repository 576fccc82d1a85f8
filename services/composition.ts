/** Settings become parts: the only importer of adapters, each loaded when it is chosen and not before. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { pepperOf } from '#contracts/api-key';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { KEY_PEPPER } from '#http/api-key';
import { LEASES, type Leases } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, systemClock } from '#runtime/clock';
import { CONFIG, ConfigError, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { IDS, createIds } from '#runtime/ids';
import { LOGGER, type Logger } from '#runtime/logger';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';

export interface Ports {
  readonly eventStore: EventStore;
  readonly bus: Bus;
  readonly readStore: ReadStore;
  readonly leases: Leases;
  readonly sandbox: Sandbox;
  readonly outbound: Outbound;
  readonly pageLoader: PageLoader;
  readonly vault: Vault;
  readonly secretKey: Uint8Array;
  close(): Promise<void>;
}

export const version = '0.1.0';

const embedded = ({ eventStoreUrl, busUrl, readStoreUrl }: Config): boolean =>
  [eventStoreUrl, busUrl, readStoreUrl].includes('sqlite');

/** The folder of embedded parts. `unclean` stands in it while a process runs, so that the next one knows how it ended. */
interface DataFolder {
  readonly path: string;
  readonly wasUnclean: boolean;
  leave(): void;
}

/** Makes a folder and those above it. Not by `recursive`: that never returns where a file system answers ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it at the same time.
    if (!existsSync(path)) throw error;
  }
}

function enterDataFolder({ dataDir }: Config): DataFolder {
  const marker = join(dataDir, 'unclean');
  try {
    makeFolder(dataDir);
    const wasUnclean = existsSync(marker);
    writeFileSync(marker, `${process.pid}\n`);
    return { path: dataDir, wasUnclean, leave: () => rmSync(marker, { force: true }) };
  } catch (error) {
    throw new ConfigError([`DATA_DIR: ${dataDir} cannot be written (${String(error)}); set another folder.`]);
  }
}

/** SECRET_KEY, or one that is made once and kept in the data folder, readable by its owner alone. */
function findSecretKey(config: Config): Uint8Array {
  if (config.secretKey !== null) return config.secretKey;
  const file = join(config.dataDir, 'secret.key');
  if (!existsSync(file)) {
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length === 32) return key;
  throw new ConfigError([`SECRET_KEY: ${file} does not hold 32 bytes in base64; restore it from a backup.`]);
}

async function openStores(
  config: Config,
  logger: Logger,
  checked: boolean,
): Promise<Pick<Ports, 'eventStore' | 'bus' | 'readStore'>> {
  const { DatabaseInUse, DatabaseDamaged } = await import('#sqlite/database');
  const file = (name: string): string => join(config.dataDir, name);
  const notBuilt = (variable: string): never => {
    throw new ConfigError([`${variable}: this version has no adapter for it yet; set it to sqlite.`]);
  };
  try {
    const eventStore =
      config.eventStoreUrl === 'sqlite'
        ? (await import('#event-store/sqlite')).createSqliteEventStore(file('events.db'), { checked })
        : notBuilt('EVENT_STORE_URL');
    const bus =
      config.busUrl === 'sqlite'
        ? (await import('#bus/sqlite')).createSqliteBus(file('bus.db'), logger)
        : notBuilt('BUS_URL');
    const readStore =
      config.readStoreUrl === 'sqlite'
        ? (await import('#read-store/sqlite')).createSqliteReadStore(file('views.db'))
        : notBuilt('READ_STORE_URL');
    return { eventStore, bus, readStore };
  } catch (error) {
    if (error instanceof DatabaseInUse) {
      throw new ConfigError([
        `DATA_DIR: ${config.dataDir} is in use by another Meerkat; stop it, or set DATA_DIR to another folder.`,
      ]);
    }
    if (error instanceof DatabaseDamaged) throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
}

/** The operator's mail server may stand at an inner address: it was named on purpose. */
function trustedHosts({ smtpUrl }: Config): readonly string[] {
  if (smtpUrl === null) return [];
  const { hostname, port, protocol } = new URL(smtpUrl);
  const standardPort = protocol === 'smtps:' ? '465' : '587';
  return [`${hostname}:${port === '' ? standardPort : port}`];
}

/** Opens every part that the settings name. Rejects with `ConfigError` where one cannot be used. */
export async function openPorts(config: Config, logger: Logger): Promise<Ports> {
  const folder = embedded(config) ? enterDataFolder(config) : null;
  if (folder?.wasUnclean === true) logger.warn({}, 'the last process did not end in order; checking the event store');
  const { eventStore, bus, readStore } = await openStores(config, logger, folder?.wasUnclean === true);
  const secretKey = findSecretKey(config);
  const [{ createEventVault }, { createOutbound }, { createHttpPageLoader }, { createQuickJsSandbox }] =
    await Promise.all([
      import('#vault/event-vault'),
      import('#outbound/undici'),
      import('#page-loader/http'),
      import('#sandbox/quickjs'),
    ]);
  const outbound = createOutbound({
    egressAllow: config.egressAllow,
    egressProxyUrl: config.egressProxyUrl,
    trustedHosts: trustedHosts(config),
    userAgent: `Meerkat/${version}`,
  });
  const pageLoader = createHttpPageLoader(outbound);
  const sandbox = createQuickJsSandbox();
  const leases = createSoleLeases();
  return {
    eventStore,
    bus,
    readStore,
    leases,
    sandbox,
    outbound,
    pageLoader,
    vault: createEventVault(eventStore, secretKey),
    secretKey,
    async close() {
      await Promise.all([sandbox.close(), pageLoader.close(), outbound.close()]);
      await leases.close();
      await bus.close();
      await readStore.close();
      await eventStore.close();
      folder?.leave();
    },
  };
}

/** The parts as providers, the same for every service of the process. */
export function portsModule(config: Config, logger: Logger, ports: Ports, address: PublicAddress): DynamicModule {
  const providers = [
    { provide: CONFIG, useValue: config },
    { provide: PUBLIC_ADDRESS, useValue: address },
    { provide: LOGGER, useValue: logger },
    { provide: CLOCK, useValue: systemClock },
    { provide: IDS, useValue: createIds() },
    { provide: EVENT_STORE, useValue: ports.eventStore },
    { provide: BUS, useValue: ports.bus },
    { provide: READ_STORE, useValue: ports.readStore },
    { provide: LEASES, useValue: ports.leases },
    { provide: SANDBOX, useValue: ports.sandbox },
    { provide: OUTBOUND, useValue: ports.outbound },
    { provide: PAGE_LOADER, useValue: ports.pageLoader },
    { provide: VAULT, useValue: ports.vault },
    { provide: KEY_PEPPER, useValue: pepperOf(ports.secretKey) },
  ];
  class PortsModule {}
  return { module: PortsModule, global: true, providers, exports: providers.map(({ provide }) => provide) };
}
