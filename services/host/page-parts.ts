/** Settings become the parts that load pages, evaluate them and keep them, in whichever thread that is. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outbound } from '#outbound/outbound';
import { findBrowser } from '#page-loader/browser/find-browser';
import type { BrowserSupport, PageLoader } from '#page-loader/page-loader';
import { ConfigError, type Config } from '#runtime/config';
import { parseEngineAddress } from '#runtime/engine-address';
import type { Logger } from '#runtime/logger';
import { choosePageParser, isLexborBuilt } from '#sandbox/parsers/lexbor-place';
import type { PageParserName } from '#sandbox/parsers/page-parser';
import type { Sandbox } from '#sandbox/sandbox';
import { withMacs } from '#snapshots/snapshot-macs';
import type { Retention, Snapshots } from '#snapshots/snapshots';
import { withScreenshots } from '#snapshots/with-screenshots';
import { snapshotsRefusingUnwritable, watchDiskSpace, watchedFolder } from './disk-guard.js';
import { version } from './version.js';
import { waitForServer } from './wait-for-server.js';

export const embedded = ({ eventStoreUrl, busUrl, readStoreUrl }: Config): boolean =>
  [eventStoreUrl, busUrl, readStoreUrl].includes('sqlite');

/** A file that another process holds, or that is damaged, is said as a fault of DATA_DIR. */
export async function fromDataFolder<Part>(
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

/** Where the second cannot be opened, the first is closed again. */
async function bothOf(
  openPages: () => Promise<Snapshots>,
  openScreenshots: () => Promise<Snapshots>,
): Promise<Snapshots> {
  const pages = await openPages();
  try {
    return withScreenshots(pages, await openScreenshots());
  } catch (error) {
    await pages.close();
    throw error;
  }
}

/** Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openSnapshots(config: Config, logger: Logger, checked: boolean): Promise<Snapshots> {
  const { snapshotUrl, readStoreUrl: url, installation } = config;
  const retention: Retention = { keepCount: config.snapshotKeepCount, keepDays: config.snapshotKeepDays };
  if (snapshotUrl === 'file') {
    const { createSqliteSnapshots } = await import('#snapshots/sqlite');
    const opened = (name: string): Promise<Snapshots> =>
      fromDataFolder(config, async (file) => createSqliteSnapshots(file(name), retention, { checked }));
    return bothOf(
      () => opened('snapshots.db'),
      () => opened('screenshots.db'),
    );
  }
  if (snapshotUrl !== 'mongodb') {
    const { createFileSnapshots } = await import('#snapshots/file');
    const folder = fileURLToPath(snapshotUrl);
    return bothOf(
      () => createFileSnapshots(folder, retention),
      () => createFileSnapshots(join(folder, 'screenshots'), retention),
    );
  }
  const { createMongoSnapshots } = await import('#snapshots/mongo');
  const opened = (kind: 'snapshot' | 'screenshot'): Promise<Snapshots> =>
    waitForServer({ variable: 'READ_STORE_URL', url, logger }, () =>
      createMongoSnapshots({ url, installation, kind, retention, logger }),
    );
  return bothOf(
    () => opened('snapshot'),
    () => opened('screenshot'),
  );
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

/** What may be reached, by ourselves and by a browser alike. */
const doorOf = (config: Config) => ({
  egressAllow: config.egressAllow,
  egressProxyUrl: config.egressProxyUrl,
  refusedHosts: ownServers(config),
  authorities: config.egressAuthorities,
});

/** Whether pages can be rendered, as the settings and this machine have it. */
export function browserSupport(config: Config): BrowserSupport {
  const place = findBrowser(config);
  return { why: place.ok ? null : place.why };
}

/** Loads pages that need a browser in one, where there is one. */
async function withBrowser(http: PageLoader, config: Config, logger: Logger): Promise<PageLoader> {
  const place = findBrowser(config);
  if (!place.ok) return http;
  const { createBrowserPageLoader } = await import('#page-loader/browser/browser');
  const processes = config.browserConcurrency;
  return createBrowserPageLoader({ http, place, door: doorOf(config), logger, processes });
}

/** The one door to the network, as the settings have it. */
export async function openOutbound(config: Config): Promise<Outbound> {
  const { createOutbound } = await import('#outbound/undici');
  return createOutbound({
    ...doorOf(config),
    trustedHosts: trustedHosts(config),
    userAgent: `Meerkat/${version}`,
  });
}

export interface PagePorts {
  readonly pageLoader: PageLoader;
  readonly sandbox: Sandbox;
  readonly snapshots: Snapshots;
  close(): Promise<void>;
}

/** `snapshotKeys`: what kept pages are signed with. Rejects with `ConfigError` or `ServerUnreachable`. */
export async function openPageParts(
  config: Config,
  logger: Logger,
  snapshotKeys: readonly Uint8Array[],
): Promise<PagePorts> {
  const [{ createHttpPageLoader }, { createQuickJsSandbox }] = await Promise.all([
    import('#page-loader/http'),
    import('#sandbox/quickjs'),
  ]);
  const disk = embedded(config) ? await watchDiskSpace(await watchedFolder(config.dataDir), logger) : null;
  const opened = withMacs(await openSnapshots(config, logger, false), snapshotKeys);
  const outbound = await openOutbound(config);
  const httpLoader = createHttpPageLoader(outbound, {
    networkProbeUrl: config.networkProbeUrl,
    onOwnNetwork: (isDown) =>
      isDown
        ? logger.error({}, 'nearly all sites are out of reach: the network of this machine is the likely cause')
        : logger.info({}, 'sites can be reached again'),
  });
  const pageLoader = await withBrowser(httpLoader, config, logger);
  const sandbox = createQuickJsSandbox({
    pageParser: pageParserOf(config),
    evaluatorSockets: config.evaluatorSockets,
    onDeath: (why) => logger.warn({ why }, 'an evaluator process ended and is replaced'),
  });
  return {
    pageLoader,
    sandbox,
    snapshots: disk === null ? opened : snapshotsRefusingUnwritable(opened, disk),
    async close() {
      disk?.stop();
      await Promise.all([sandbox.close(), pageLoader.close(), outbound.close()]);
      await opened.close();
    },
  };
}
