/** Settings become parts: the only importer of adapters, each loaded when it is chosen and not before. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DynamicModule } from '@nestjs/common';
import { BUS, BUS_ADMIN, type Bus, type BusAdmin } from '#bus/bus';
import { createHeadSigner, HEAD_LINES, HEAD_SIGNER, type KeepHeadLine } from '#eventing/audit-heads';
import { recordDeadLetters } from '#eventing/record-dead-letters';
import { KEY_PEPPER, pepperOf } from '#contracts/api-key';
import {
  EVENT_STORE,
  STORED_EVENTS,
  STORED_STREAMS,
  type EventArchive,
  type EventStore,
  type StoredStreams,
} from '#event-store/event-store';
import { LEASES, type Leases } from '#leases/leases';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { BUILT_VIEWS, type BuiltViews } from '#read-store/built-views';
import { READ_STORE, type ReadStore, type ViewStore } from '#read-store/read-store';
import { rememberDocuments } from '#read-store/remembered-documents';
import type { BackfillSource } from '#read-store/sqlite-backfill';
import { CLOCK, systemClock } from '#runtime/clock';
import { findBuiltScript } from '#runtime/built-script';
import { CONFIG, ConfigError, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { parseEngineAddress, parseKafkaAddress } from '#runtime/engine-address';
import { IDS, createIds } from '#runtime/ids';
import { LOGGER, type Logger } from '#runtime/logger';
import { setPageParserInfo } from '#runtime/metrics';
import { choosePageParser, isLexborBuilt } from '#sandbox/parsers/lexbor-place';
import type { PageParserName } from '#sandbox/parsers/page-parser';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { DISK_SPACE, type DiskSpace } from '#runtime/disk-space';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { SNAPSHOTS, type Retention, type Snapshots } from '#snapshots/snapshots';
import { createLinkSigner, LINK_SIGNER } from '#vault/link-signer';
import { CONTENT_PURGER, type ContentEraser, type ContentPurger } from '#vault/content-eraser';
import { EVENT_OPENER, type EventOpener } from '#vault/sealed-events';
import { VAULT, type Vault } from '#vault/vault';
import type { StoredHistory } from '#event-store/event-chain';
import { enterDataFolder, findSecretKey, keepHeadLineIn, knownSecretKey } from './data-folder.js';
import { freeBytesOf, refusingWhenFull, watchDiskSpace } from './disk-guard.js';
import { checkEventsAtStart, type StartCheck } from './integrity.js';
import { trackVerified } from './verified-mark.js';
import { waitForServer } from './wait-for-server.js';
import { refuseUnfinishedMigration } from './unfinished-migration.js';

export interface Ports {
  readonly eventStore: EventStore;
  readonly storedEvents: EventArchive;
  readonly opener: EventOpener;
  readonly keepHeadLine: KeepHeadLine;
  readonly storedStreams: StoredStreams;
  readonly eraser: ContentEraser;
  readonly bus: Bus;
  readonly busAdmin: BusAdmin;
  readonly readStore: ViewStore;
  readonly sharedState: SharedState;
  readonly leases: Leases;
  readonly sandbox: Sandbox;
  readonly outbound: Outbound;
  readonly pageLoader: PageLoader;
  readonly vault: Vault;
  readonly snapshots: Snapshots;
  readonly secretKey: Uint8Array;
  readonly disk: DiskSpace;
  close(): Promise<void>;
}

export const version = '0.1.0';

export const embedded = ({ eventStoreUrl, busUrl, readStoreUrl }: Config): boolean =>
  [eventStoreUrl, busUrl, readStoreUrl].includes('sqlite');

/** How a process uses the ports that it opens. */
export interface OpenOptions {
  /** Backfill views in a worker thread: for a process with nothing else to do. A server builds them between its other work. */
  readonly backfillInWorker?: boolean;
}

type OpenBus = Pick<Ports, 'bus' | 'busAdmin'>;
type Stores = Pick<Ports, 'readStore' | 'sharedState' | 'snapshots'> & OpenBus & { readonly eventStore: EventArchive };

/** A file that another process holds, or that is damaged, is said as a fault of DATA_DIR. */
async function fromDataFolder<Part>(
  { dataDir }: Config,
  open: (file: (name: string) => string) => Promise<Part>,
): Promise<Part> {
  const { DatabaseInUse, DatabaseDamaged } = await import('#sqlite/database');
  try {
    return await open((name) => join(dataDir, name));
  } catch (error) {
    if (error instanceof DatabaseInUse) {
      throw new ConfigError([
        `DATA_DIR: ${dataDir} is in use by another Meerkat; stop it, or set DATA_DIR to another folder.`,
      ]);
    }
    if (error instanceof DatabaseDamaged) throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
}

export interface EventStoreUse {
  /** Check the file first, as after a process that did not end in order. */
  readonly checked: boolean;
  /** null: nothing will be appended. */
  readonly secretKey: Uint8Array | null;
}

/** Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openEventStore(config: Config, logger: Logger, use: EventStoreUse): Promise<EventArchive> {
  const { eventStoreUrl: url, installation } = config;
  if (url === 'sqlite') {
    const { createSqliteEventStore } = await import('#event-store/sqlite');
    return fromDataFolder(config, async (file) => createSqliteEventStore(file('events.db'), use));
  }
  const { createEventStoreDbEventStore } = await import('#event-store/eventstoredb');
  const { secretKey } = use;
  return waitForServer({ variable: 'EVENT_STORE_URL', url, logger }, () =>
    createEventStoreDbEventStore({ url, installation, logger, secretKey }),
  );
}

export interface OpenHistory {
  readonly history: StoredHistory;
  readonly lastPosition: number | null;
  close(): Promise<void>;
}

/** The events as they are stored, to look at; a server may run meanwhile. Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openHistory(config: Config, logger: Logger): Promise<OpenHistory> {
  if (config.eventStoreUrl === 'sqlite') {
    const { openStoredHistory } = await import('#event-store/sqlite-stored');
    const opened = await fromDataFolder(config, async (file) => openStoredHistory(file('events.db')));
    return { history: opened.stored, lastPosition: opened.lastPosition, close: async () => opened.close() };
  }
  const eventStore = await openEventStore(config, logger, { checked: false, secretKey: null });
  try {
    const lastPosition = await eventStore.lastPosition();
    return { history: eventStore.stored, lastPosition, close: () => eventStore.close() };
  } catch (error) {
    await eventStore.close();
    throw error;
  }
}

function viewsThread(config: Config, eventsFile: string): BackfillSource | null {
  if (config.eventStoreUrl !== 'sqlite') return null;
  const script = findBuiltScript(import.meta.url, ['./views-thread.js', '../../dist/services/host/views-thread.js']);
  return script === null ? null : { script, eventsFile, secretKey: knownSecretKey(config) };
}

/** Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openReadStore(
  config: Config,
  logger: Logger,
  { backfillInWorker }: OpenOptions = {},
): Promise<ViewStore> {
  const { readStoreUrl: url, installation } = config;
  if (url === 'sqlite') {
    const { createSqliteReadStore } = await import('#read-store/sqlite');
    return fromDataFolder(config, async (file) =>
      createSqliteReadStore(
        file('views.db'),
        backfillInWorker === true ? viewsThread(config, file('events.db')) : null,
      ),
    );
  }
  const { createMongoReadStore } = await import('#read-store/mongo');
  return waitForServer({ variable: 'READ_STORE_URL', url, logger }, () =>
    createMongoReadStore({ url, installation, logger }),
  );
}

/** Whether a key is the one that an installation seals with, told by the events of its vault. */
export const vaultKeyCheck = async () => (await import('#vault/owner-keys')).opensVault;

/** Opens what the installation has sealed in its events. */
export async function openerOf(eventStore: EventStore, secretKey: Uint8Array): Promise<EventOpener> {
  const [{ createOwnerKeys }, { createEventOpener }] = await Promise.all([
    import('#vault/owner-keys'),
    import('#vault/sealed-events'),
  ]);
  return createEventOpener(createOwnerKeys(eventStore, secretKey));
}

/** On the connection of the views: the same file or database holds both. */
export const openSharedState = (readStore: ReadStore): SharedState => createDocumentState(readStore);

/** Rejects with `ConfigError` or `ServerUnreachable`. */
async function openSnapshots(config: Config, logger: Logger, checked: boolean): Promise<Snapshots> {
  const { snapshotUrl, readStoreUrl: url, installation } = config;
  const retention: Retention = { keepCount: config.snapshotKeepCount, keepDays: config.snapshotKeepDays };
  if (snapshotUrl === 'file') {
    const { createSqliteSnapshots } = await import('#snapshots/sqlite');
    return fromDataFolder(config, async (file) => createSqliteSnapshots(file('snapshots.db'), retention, { checked }));
  }
  if (snapshotUrl !== 'mongodb') {
    const { createFileSnapshots } = await import('#snapshots/file');
    return createFileSnapshots(fileURLToPath(snapshotUrl), retention);
  }
  const { createMongoSnapshots } = await import('#snapshots/mongo');
  return waitForServer({ variable: 'READ_STORE_URL', url, logger }, () =>
    createMongoSnapshots({ url, installation, retention, logger }),
  );
}

async function openBus(
  config: Config,
  logger: Logger,
  eventStore: EventStore,
  secretKey: Uint8Array,
): Promise<OpenBus> {
  const { busUrl: url, installation } = config;
  const recordDeadLetter = recordDeadLetters(eventStore);
  if (url === 'sqlite') {
    const { createSqliteBus } = await import('#bus/sqlite');
    const bus = await fromDataFolder(config, async (file) =>
      createSqliteBus(file('bus.db'), logger, { recordDeadLetter, relays: true }),
    );
    return { bus, busAdmin: bus };
  }
  const address = parseKafkaAddress(url);
  if (address === null) throw new ConfigError(['BUS_URL: must be an address such as kafka://host:9092.']);
  const [{ createKafkaBus }, { sealBus }] = await Promise.all([import('#bus/kafka'), import('#bus/sealed-bus')]);
  const processName = `${config.roles.join('-')}-${process.pid}`;
  const bus = await waitForServer({ variable: 'BUS_URL', url, logger }, () =>
    createKafkaBus({ ...address, installation, processName, logger, recordDeadLetter }),
  );
  return { bus: sealBus(bus, secretKey, logger), busAdmin: bus };
}

/** What of the event store is checked when it is opened. */
interface StoreCheck extends Pick<StartCheck, 'extent'> {
  /** The file itself. */
  readonly checked: boolean;
}

/** What was opened before a part that cannot be is closed again. */
async function openStores(
  config: Config,
  logger: Logger,
  secretKey: Uint8Array,
  { checked, extent, ...options }: OpenOptions & StoreCheck,
): Promise<Stores> {
  const eventStore = await openEventStore(config, logger, { checked, secretKey });
  let readStore: ViewStore | null = null;
  let snapshots: Snapshots | null = null;
  try {
    readStore = await openReadStore(config, logger, options);
    // Who holds the file of the events keeps the views alone.
    if (config.eventStoreUrl === 'sqlite' && config.readStoreUrl === 'sqlite') readStore = rememberDocuments(readStore);
    const sharedState = openSharedState(readStore);
    await refuseUnfinishedMigration(sharedState);
    await checkEventsAtStart({ eventStore, secretKey, logger, extent });
    snapshots = await openSnapshots(config, logger, checked);
    return { eventStore, readStore, sharedState, snapshots, ...(await openBus(config, logger, eventStore, secretKey)) };
  } catch (error) {
    await snapshots?.close();
    await readStore?.close();
    await eventStore.close();
    throw error;
  }
}

/** Alone where the events are in a file that is locked for as long as the process lives; else shared by the processes that share the views. */
async function openLeases(config: Config, logger: Logger, sharedState: SharedState): Promise<Leases> {
  if (config.eventStoreUrl === 'sqlite') return (await import('#leases/sole')).createSoleLeases();
  const { startSharedLeases } = await import('#leases/shared');
  return startSharedLeases({ sharedState, memberId: randomUUID(), logger, monotonicMs: () => performance.now() });
}

/** The operator's mail server may stand at an inner address: it was named on purpose. */
function trustedHosts({ smtpUrl }: Config): readonly string[] {
  if (smtpUrl === null) return [];
  const { hostname, port, protocol } = new URL(smtpUrl);
  const standardPort = protocol === 'smtps:' ? '465' : '587';
  return [`${hostname}:${port === '' ? standardPort : port}`];
}

const standardPorts: ReadonlyMap<string, number> = new Map([
  ['esdb', 2113],
  ['kafka', 9092],
  ['mongodb', 27017],
]);

/** The servers that hold this installation's data: never a target, as many of them ask for no password. */
function ownServers({ eventStoreUrl, busUrl, readStoreUrl }: Config): readonly string[] {
  return [eventStoreUrl, busUrl, readStoreUrl].flatMap((url) => {
    const { scheme = '', hosts = [] } = parseEngineAddress(url) ?? {};
    const port = standardPorts.get(scheme.replace('+discover', ''));
    return hosts.flatMap((host) => (/:[0-9]+$/.test(host) ? [host] : port === undefined ? [] : [`${host}:${port}`]));
  });
}

/** Throws `ConfigError` where the parser that the settings name is not there. */
export function pageParserOf({ pageParser }: Config): PageParserName {
  if (pageParser !== 'lexbor' || isLexborBuilt()) return choosePageParser(pageParser);
  throw new ConfigError(['PAGE_PARSER: lexbor is not built; run `npm run build:parser`, or set it to auto.']);
}

/** The one door to the network, as the settings have it. */
export async function openOutbound(config: Config): Promise<Outbound> {
  const { createOutbound } = await import('#outbound/undici');
  return createOutbound({
    egressAllow: config.egressAllow,
    egressProxyUrl: config.egressProxyUrl,
    trustedHosts: trustedHosts(config),
    refusedHosts: ownServers(config),
    authorities: config.egressAuthorities,
    userAgent: `Meerkat/${version}`,
  });
}

/** Where days go must be there before any is folded. */
async function refuseArchive({ archiveDir, roles }: Config): Promise<void> {
  if (archiveDir === null || !roles.includes('execution')) return;
  const { archiveFault } = await import('../execution/retention/archive.js');
  const fault = await archiveFault(archiveDir);
  if (fault !== null) throw new ConfigError([`ARCHIVE_DIR: ${fault}.`]);
}

/** Files of earlier versions that give nothing back; not those of a process that ended in the middle of something. */
async function giveBackPages({ dataDir }: Config): Promise<void> {
  const { giveBackFreePages } = await import('#sqlite/database');
  for (const name of ['events', 'views', 'bus', 'snapshots']) giveBackFreePages(join(dataDir, `${name}.db`));
}

/** Opens every part that the settings name. Rejects with `ConfigError` where one cannot be used. */
export async function openPorts(config: Config, logger: Logger, options: OpenOptions = {}): Promise<Ports> {
  const pageParser = pageParserOf(config);
  await refuseArchive(config);
  const folder = embedded(config) ? enterDataFolder(config, logger) : null;
  if (folder?.wasUnclean === true) logger.warn({}, 'the last process did not end in order; checking the event store');
  const secretKey = findSecretKey(config);
  const verified = folder === null ? null : trackVerified(config, folder.wasUnclean, secretKey);
  const checked = folder?.wasUnclean === true;
  if (folder !== null && !checked) await giveBackPages(config);
  const extent = verified?.extent ?? 'none';
  const stores = await openStores(config, logger, secretKey, { checked, extent, ...options });
  await verified?.checked(stores.eventStore);
  const disk = folder === null ? null : await watchDiskSpace(() => freeBytesOf(config.dataDir), logger);
  const { eventStore, readStore, sharedState, snapshots, ...openedBus } =
    disk === null ? stores : refusingWhenFull(stores, disk);
  const leases = await openLeases(config, logger, sharedState);
  const [{ createVault }, { createOwnerKeys }, { createEventOpener, createSealedEvents }] = await Promise.all([
    import('#vault/event-vault'),
    import('#vault/owner-keys'),
    import('#vault/sealed-events'),
  ]);
  const ownerKeys = createOwnerKeys(eventStore, secretKey);
  const [{ createContentEraser }, { sealMessages }] = await Promise.all([
    import('#vault/content-eraser'),
    import('#vault/sealed-messages'),
  ]);
  const opener = createEventOpener(ownerKeys);
  const [{ createHttpPageLoader }, { createQuickJsSandbox }] = await Promise.all([
    import('#page-loader/http'),
    import('#sandbox/quickjs'),
  ]);
  const outbound = await openOutbound(config);
  const probeRefusal = config.networkProbeUrl === null ? null : outbound.refusalOf(config.networkProbeUrl);
  if (probeRefusal !== null) throw new ConfigError([`NETWORK_PROBE_URL: ${probeRefusal}`]);
  const pageLoader = createHttpPageLoader(outbound, {
    networkProbeUrl: config.networkProbeUrl,
    onOwnNetwork: (isDown) =>
      isDown
        ? logger.error({}, 'nearly all sites are out of reach: the network of this machine is the likely cause')
        : logger.info({}, 'sites can be reached again'),
  });
  setPageParserInfo(pageParser);
  const sandbox = createQuickJsSandbox({
    pageParser,
    evaluatorSockets: config.evaluatorSockets,
    onDeath: (why) => logger.warn({ why }, 'an evaluator process ended and is replaced'),
  });
  logger.info({ ...sandbox.isolation }, 'containment of the evaluator process');
  return {
    eventStore: createSealedEvents(eventStore, ownerKeys, opener),
    storedEvents: stores.eventStore,
    opener,
    eraser: createContentEraser(stores.eventStore, ownerKeys),
    keepHeadLine: folder === null ? null : keepHeadLineIn(config),
    storedStreams: {
      read: (stream, fromRevision) => eventStore.read(stream, fromRevision),
      truncate: (stream, before) => stores.eventStore.truncate(stream, before),
      open: (events) => opener.open(events, true),
    },
    bus: sealMessages(openedBus.bus, ownerKeys),
    busAdmin: openedBus.busAdmin,
    readStore,
    sharedState,
    leases,
    sandbox,
    outbound,
    pageLoader,
    vault: createVault(ownerKeys),
    snapshots,
    secretKey,
    disk: disk ?? { state: 'ok' },
    async close() {
      disk?.stop();
      await Promise.all([sandbox.close(), pageLoader.close(), outbound.close()]);
      await leases.close();
      await openedBus.busAdmin.close();
      await snapshots.close();
      await readStore.close();
      const lastPosition = verified === null ? null : await eventStore.lastPosition().catch(() => null);
      await eventStore.close();
      verified?.left(lastPosition);
      folder?.leave();
    },
  };
}

/** The parts as providers, the same for every service of the process. */
export function portsModule(
  config: Config,
  logger: Logger,
  ports: Ports & { readonly builtViews: BuiltViews; readonly purger: ContentPurger },
  address: PublicAddress,
): DynamicModule {
  const providers = [
    { provide: CONFIG, useValue: config },
    { provide: PUBLIC_ADDRESS, useValue: address },
    { provide: LOGGER, useValue: logger },
    { provide: CLOCK, useValue: systemClock },
    { provide: IDS, useValue: createIds() },
    { provide: EVENT_STORE, useValue: ports.eventStore },
    { provide: STORED_EVENTS, useValue: ports.storedEvents },
    { provide: CONTENT_PURGER, useValue: ports.purger },
    { provide: EVENT_OPENER, useValue: ports.opener },
    { provide: HEAD_SIGNER, useValue: createHeadSigner(ports.secretKey) },
    { provide: HEAD_LINES, useValue: ports.keepHeadLine },
    { provide: STORED_STREAMS, useValue: ports.storedStreams },
    { provide: BUS, useValue: ports.bus },
    { provide: BUS_ADMIN, useValue: ports.busAdmin },
    { provide: READ_STORE, useValue: ports.readStore },
    { provide: SHARED_STATE, useValue: ports.sharedState },
    { provide: LEASES, useValue: ports.leases },
    { provide: SANDBOX, useValue: ports.sandbox },
    { provide: OUTBOUND, useValue: ports.outbound },
    { provide: PAGE_LOADER, useValue: ports.pageLoader },
    { provide: VAULT, useValue: ports.vault },
    { provide: LINK_SIGNER, useValue: createLinkSigner(ports.secretKey) },
    { provide: SNAPSHOTS, useValue: ports.snapshots },
    { provide: DISK_SPACE, useValue: ports.disk },
    { provide: BUILT_VIEWS, useValue: ports.builtViews },
    { provide: KEY_PEPPER, useValue: pepperOf(ports.secretKey) },
  ];
  class PortsModule {}
  return { module: PortsModule, global: true, providers, exports: providers.map(({ provide }) => provide) };
}
