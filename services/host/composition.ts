/** Settings become parts: the only importer of adapters, each loaded when it is chosen and not before. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { BUS, BUS_ADMIN, type Bus, type BusAdmin } from '#bus/bus';
import { createAuditSigner, HEAD_LINES, AUDIT_SIGNER, LOG_DOUBTS, type KeepHeadLine } from '#eventing/audit-heads';
import type { KeyRing } from '#eventing/key-ring';
import { recordDeadLetters } from '#eventing/record-dead-letters';
import { KEY_PEPPER, LINK_PEPPER, pepperOf } from '#contracts/api-key';
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
import { BROWSER_SUPPORT, PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { APPEND_HEALTH, watchAppends, type AppendHealth } from '#event-store/append-health';
import { BUILT_VIEWS, type BuiltViews } from '#read-store/built-views';
import type { LateViews } from '#read-store/late-views';
import { READ_STORE, type ReadStore, type ViewStore } from '#read-store/read-store';
import { rememberDocuments } from '#read-store/remembered-documents';
import type { BackfillSource } from '#read-store/sqlite-backfill';
import { CLOCK, systemClock } from '#runtime/clock';
import { findBuiltScript } from '#runtime/built-script';
import { CONFIG, ConfigError, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { parseKafkaAddress } from '#runtime/engine-address';
import { IDS, createIds } from '#runtime/ids';
import { LOGGER, type Logger } from '#runtime/logger';
import { setPageParserInfo } from '#runtime/metrics';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { DISK_SPACE, type DiskSpace } from '#runtime/disk-space';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import type { LogFolding } from '#sqlite/log-folding';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { createLinkSigner, LINK_SIGNER } from '#vault/link-signer';
import { CONTENT_PURGER, type ContentEraser, type ContentPurger } from '#vault/content-eraser';
import { EVENT_OPENER, type EventOpener } from '#vault/sealed-events';
import type { OwnerKeys } from '#vault/owner-keys';
import { VAULT, type Vault } from '#vault/vault';
import type { StoredHistory } from '#event-store/event-chain';
import { isInUse } from './cli/data-folder.js';
import { enterDataFolder, findSecretKey, keepHeadLineIn, knownSecretKey, refuseHalfRestored } from './data-folder.js';
import { adoptRotatedKey } from './rotated-key.js';
import { refusingUnwritable, watchDiskSpace, watchedFolder } from './disk-guard.js';
import { checkEventsAtStart, type StartCheck } from './integrity.js';
import { trackVerified } from './verified-mark.js';
import { waitForServer } from './wait-for-server.js';
import { createPageThread } from './page-calls.js';
import {
  browserSupport,
  embedded,
  fromDataFolder,
  openOutbound,
  openPageParts,
  openSnapshots,
  pageParserOf,
} from './page-parts.js';
import { CHECKS, type Checks } from '../execution/checks.js';
import { refuseUnfinishedMigration } from './unfinished-migration.js';

const pageThreadPlaces = ['../../page-thread.js', '../../dist/page-thread.js'];

type OpenPages = Pick<Ports, 'pageLoader' | 'sandbox' | 'snapshots' | 'checks'> & { close(): Promise<void> };

export interface Ports {
  readonly eventStore: EventStore;
  readonly storedEvents: EventArchive;
  readonly opener: EventOpener;
  readonly keepHeadLine: KeepHeadLine;
  readonly logDoubts: readonly string[];
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
  /** null: checks are done by the execution service itself. */
  readonly checks: Checks | null;
  readonly keyRing: KeyRing;
  readonly disk: DiskSpace;
  readonly appends: AppendHealth;
  close(): Promise<void>;
}

/** How a process uses the ports that it opens. */
export interface OpenOptions {
  /** Backfill views in a worker thread: for a process with nothing else to do. A server builds them between its other work. */
  readonly backfillInWorker?: boolean;
  /** It puts a backup back, and is the one that may open the folder meanwhile. */
  readonly isRestore?: true;
}

type OpenBus = Pick<Ports, 'bus' | 'busAdmin'>;
type Stores = Pick<Ports, 'readStore' | 'sharedState' | 'keyRing'> & OpenBus & { readonly eventStore: EventArchive };

export interface EventStoreUse {
  /** Check the file first, as after a process that did not end in order. */
  readonly checked: boolean;
  /** Called before that, once it is sure that nobody else is at work on the folder. */
  readonly onCheck?: () => void;
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
  /** The same by now. */
  newest(): Promise<number | null>;
  close(): Promise<void>;
}

/** The events as they are stored, to look at; a server may run meanwhile. Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openHistory(config: Config, logger: Logger): Promise<OpenHistory> {
  if (config.eventStoreUrl === 'sqlite') {
    const { openStoredHistory } = await import('#event-store/sqlite-stored');
    const opened = await fromDataFolder(config, async (file) => openStoredHistory(file('events.db')));
    const { stored, lastPosition, newest, close } = opened;
    return { history: stored, lastPosition, newest: async () => newest(), close: async () => close() };
  }
  const eventStore = await openEventStore(config, logger, { checked: false, secretKey: null });
  try {
    const lastPosition = await eventStore.lastPosition();
    const newest = (): Promise<number | null> => eventStore.lastPosition();
    return { history: eventStore.stored, lastPosition, newest, close: () => eventStore.close() };
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

/** The keys of an installation, by the one that is set. Rejects with `ConfigError` where that is not its newest. */
export async function keyRingAt(history: Pick<StoredHistory, 'at'>, secretKey: Uint8Array): Promise<KeyRing> {
  const { OtherSecretKey, readKeyRing } = await import('#eventing/key-ring');
  try {
    return await readKeyRing(history, secretKey);
  } catch (error) {
    throw error instanceof OtherSecretKey ? new ConfigError([error.message]) : error;
  }
}

/** Opens what the installation has sealed in its events. */
export async function openerOf(eventStore: EventStore, keyRing: KeyRing): Promise<EventOpener> {
  const [{ createOwnerKeys }, { createEventOpener }] = await Promise.all([
    import('#vault/owner-keys'),
    import('#vault/sealed-events'),
  ]);
  return createEventOpener(createOwnerKeys(eventStore, keyRing));
}

/** On the connection of the views: the same file or database holds both. */
export const openSharedState = (readStore: ReadStore): SharedState => createDocumentState(readStore);

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
interface StoreCheck extends Pick<StartCheck, 'extent' | 'left'> {
  /** The file itself. */
  readonly checked: boolean;
}

/** What was opened before a part that cannot be is closed again. */
async function openStores(
  config: Config,
  logger: Logger,
  secretKey: Uint8Array,
  { checked, extent, left, ...options }: OpenOptions & StoreCheck,
): Promise<Stores> {
  const onCheck = (): void => logger.warn({}, 'the last process did not end in order; checking the event store');
  const eventStore = await openEventStore(config, logger, { checked, onCheck, secretKey });
  let readStore: ViewStore | null = null;
  try {
    readStore = await openReadStore(config, logger, options);
    // Who holds the file of the events keeps the views alone.
    if (config.eventStoreUrl === 'sqlite' && config.readStoreUrl === 'sqlite') readStore = rememberDocuments(readStore);
    const sharedState = openSharedState(readStore);
    await refuseUnfinishedMigration(sharedState);
    const keyRing = await keyRingAt(eventStore.stored, secretKey);
    if (!keyRing.isSettled) {
      logger.warn(
        {},
        'some keys are still sealed with a former SECRET_KEY; `meerkat secret-key rotate` goes on with that',
      );
    }
    await checkEventsAtStart({ eventStore, secretKey, logger, extent, left });
    // Looked at here, so that a fault of it ends the start; it is opened again by what keeps pages.
    await (await openSnapshots(config, logger, checked)).close();
    return { eventStore, readStore, sharedState, keyRing, ...(await openBus(config, logger, eventStore, secretKey)) };
  } catch (error) {
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

async function forgetDroppedKeys(eventStore: EventStore, keys: OwnerKeys, logger: Logger) {
  const { followDroppedKeys } = await import('#vault/dropped-keys');
  return followDroppedKeys({ eventStore, keys, logger }, await eventStore.lastPosition());
}

/** In a thread where that is wanted and built, and pages are checked at all; else here. */
async function openPages(config: Config, logger: Logger, { current, former }: KeyRing): Promise<OpenPages> {
  const { snapshotKeyOf } = await import('#snapshots/snapshot-macs');
  const snapshotKeys = [current, ...former.map(({ key }) => key)].map(snapshotKeyOf);
  const script = config.pageThread ? findBuiltScript(import.meta.url, pageThreadPlaces) : null;
  const checksPages = config.roles.includes('execution') || config.roles.includes('rendering');
  if (script !== null && checksPages) return createPageThread(script, config, snapshotKeys);
  return { ...(await openPageParts(config, logger, snapshotKeys)), checks: null };
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
  for (const name of ['events', 'views', 'bus', 'snapshots', 'screenshots'])
    giveBackFreePages(join(dataDir, `${name}.db`));
}

/** Of the files that several connections may open. */
async function startFolding({ dataDir }: Config, logger: Logger): Promise<LogFolding> {
  const { startLogFolding } = await import('#sqlite/log-folding');
  const files = ['events', 'views', 'snapshots', 'screenshots'].map((name) => join(dataDir, `${name}.db`));
  return startLogFolding(files, logger);
}

/** Opens every part that the settings name. Rejects with `ConfigError` where one cannot be used. */
export async function openPorts(config: Config, logger: Logger, options: OpenOptions = {}): Promise<Ports> {
  const pageParser = pageParserOf(config);
  if (options.isRestore !== true) refuseHalfRestored(config);
  await refuseArchive(config);
  const folder = embedded(config) ? enterDataFolder(config, logger) : null;
  await adoptRotatedKey(config);
  const secretKey = findSecretKey(config);
  const verified =
    folder === null
      ? null
      : trackVerified(config, secretKey, { wasUnclean: folder.wasUnclean, isRestore: options.isRestore === true });
  const checked = folder?.wasUnclean === true;
  if (folder !== null && !checked) await giveBackPages(config);
  const { extent, left } = verified ?? { extent: 'none' as const, left: null };
  const opened = await openStores(config, logger, secretKey, { checked, extent, left, ...options }).catch(
    (error: unknown) => {
      if (isInUse(error)) folder?.giveBack();
      throw error;
    },
  );
  const logDoubts = (await verified?.checked(opened.eventStore, opened.keyRing, logger)) ?? [];
  const appends = watchAppends(opened.eventStore);
  const stores = { ...opened, eventStore: appends.eventStore };
  const disk = folder === null ? null : await watchDiskSpace(await watchedFolder(config.dataDir), logger);
  const { eventStore, readStore, sharedState, keyRing, ...openedBus } =
    disk === null ? stores : refusingUnwritable(stores, disk);
  const leases = await openLeases(config, logger, sharedState);
  const [{ createVault }, { createOwnerKeys }, { createEventOpener, createSealedEvents }] = await Promise.all([
    import('#vault/event-vault'),
    import('#vault/owner-keys'),
    import('#vault/sealed-events'),
  ]);
  const ownerKeys = createOwnerKeys(eventStore, keyRing);
  // Who is alone drops every key itself.
  const dropped = leases.isAlone ? null : await forgetDroppedKeys(stores.eventStore, ownerKeys, logger);
  const [{ createContentEraser }, { sealMessages }] = await Promise.all([
    import('#vault/content-eraser'),
    import('#vault/sealed-messages'),
  ]);
  const opener = createEventOpener(ownerKeys);
  const outbound = await openOutbound(config);
  const probeRefusal = config.networkProbeUrl === null ? null : outbound.refusalOf(config.networkProbeUrl);
  if (probeRefusal !== null) throw new ConfigError([`NETWORK_PROBE_URL: ${probeRefusal}`]);
  setPageParserInfo(pageParser);
  const { isolationOf } = await import('#sandbox/quickjs');
  logger.info({ ...isolationOf(config.evaluatorSockets) }, 'containment of the evaluator process');
  const pages = await openPages(config, logger, keyRing);
  const folding = folder === null ? null : await startFolding(config, logger);
  return {
    eventStore: createSealedEvents(eventStore, ownerKeys, opener),
    storedEvents: stores.eventStore,
    opener,
    eraser: createContentEraser(stores.eventStore, ownerKeys),
    keepHeadLine: folder === null ? null : keepHeadLineIn(config),
    logDoubts,
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
    ...pages,
    outbound,
    vault: createVault(ownerKeys),
    keyRing,
    disk: disk ?? { state: 'ok' },
    appends: appends.health,
    async close() {
      disk?.stop();
      await folding?.stop();
      await Promise.all([pages.close(), outbound.close(), dropped?.stop()]);
      await leases.close();
      await openedBus.busAdmin.close();
      await readStore.close();
      const lastPosition = verified === null ? null : await eventStore.lastPosition().catch(() => null);
      await eventStore.close();
      verified?.ended(lastPosition);
      folder?.leave();
    },
  };
}

/** The parts as providers, the same for every service of the process. */
export function portsModule(
  config: Config,
  logger: Logger,
  ports: Ports & { readonly builtViews: BuiltViews & LateViews; readonly purger: ContentPurger },
  address: PublicAddress,
): DynamicModule {
  const { current, former } = ports.keyRing;
  const keys = [current, ...former.map(({ key }) => key)] as const;
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
    { provide: AUDIT_SIGNER, useValue: createAuditSigner(...keys) },
    { provide: HEAD_LINES, useValue: ports.keepHeadLine },
    { provide: LOG_DOUBTS, useValue: ports.logDoubts },
    { provide: STORED_STREAMS, useValue: ports.storedStreams },
    { provide: BUS, useValue: ports.bus },
    { provide: BUS_ADMIN, useValue: ports.busAdmin },
    { provide: READ_STORE, useValue: ports.readStore },
    { provide: SHARED_STATE, useValue: ports.sharedState },
    { provide: LEASES, useValue: ports.leases },
    { provide: SANDBOX, useValue: ports.sandbox },
    { provide: BROWSER_SUPPORT, useValue: browserSupport(config) },
    { provide: OUTBOUND, useValue: ports.outbound },
    { provide: PAGE_LOADER, useValue: ports.pageLoader },
    { provide: VAULT, useValue: ports.vault },
    { provide: LINK_SIGNER, useValue: createLinkSigner(current, ports.keyRing.first) },
    { provide: SNAPSHOTS, useValue: ports.snapshots },
    { provide: CHECKS, useValue: ports.checks },
    { provide: DISK_SPACE, useValue: ports.disk },
    { provide: APPEND_HEALTH, useValue: ports.appends },
    { provide: BUILT_VIEWS, useValue: ports.builtViews },
    { provide: LINK_PEPPER, useValue: pepperOf(current) },
    { provide: KEY_PEPPER, useValue: pepperOf(ports.keyRing.first) },
  ];
  class PortsModule {}
  return { module: PortsModule, global: true, providers, exports: providers.map(({ provide }) => provide) };
}
