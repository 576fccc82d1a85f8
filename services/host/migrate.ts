/**
 * Moves an installation from one event store to another. The events are all that moves: they are copied and read back, and
 * everything that stores positions is made anew at the target, because positions are each engine's own.
 *
 * - Views are built from the target's events while those are read back.
 * - Publications begin behind the last event. What the source had not handed over by its bus is handed over by the sweeps,
 *   as after a bus that was wiped; publishing a whole history again would do things again that were undone since.
 * - Schedules are held against their tasks from the first event on, which is what the messages on the source's bus were for.
 * - What is in views that are not made of events stays behind: leases, quota, idempotency keys, sign-in attempts.
 *
 * Until all of it is done a note in the target's read store keeps servers from starting on what has come so far.
 */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { checkEvent, UnreadableEvent } from '#eventing/codec';
import { brokenSource, copyEvents, verifyCopy } from '#event-store/copy-events';
import type { EventArchive, RecordedEvent } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { ViewStore } from '#read-store/read-store';
import type { ViewBuilder } from '#eventing/rebuild/view-builder';
import { ConfigError, type Config } from '#runtime/config';
import { parseEngineAddress, shownAddress } from '#runtime/engine-address';
import { AppError, reject } from '#runtime/errors';
import { silentLogger, type Logger } from '#runtime/logger';
import type { SharedState } from '#shared-state/shared-state';
import { unfinishedIn } from '../gateway/configuration/journal.js';
import { isInUse } from './cli/data-folder.js';
import { keepSecretKey, knownSecretKey, makeDataFolder } from './data-folder.js';
import type { Migrated, MigrationRequest } from './cli/product.js';
import { exitCodes, Refused } from './cli/terminal.js';
import { keyRingAt, openEventStore, openReadStore, openerOf, openSharedState, vaultKeyCheck } from './composition.js';
import { embedded } from './page-parts.js';
import { EventsAltered, refuseAltered } from './integrity.js';
import { refuseSomebodyThere } from './processes-at-work.js';
import { keptViews, lookedThroughAgain, publications } from './projections.js';
import { ServerUnreachable } from './wait-for-server.js';
import { beginMigration, finishMigration } from './unfinished-migration.js';
import { checkWholeNext } from './verified-mark.js';

const isOnSqlite = ({ eventStoreUrl }: Config): boolean => eventStoreUrl === 'sqlite';

/** As it may be shown. */
function shownSide({ eventStoreUrl, dataDir, installation }: Config): string {
  return eventStoreUrl === 'sqlite' ? `sqlite:${dataDir}` : `${shownAddress(eventStoreUrl)} (${installation})`;
}

function shownViews({ readStoreUrl, dataDir, installation }: Config): string {
  return readStoreUrl === 'sqlite' ? `sqlite:${dataDir}` : `${shownAddress(readStoreUrl)} (${installation})`;
}

function realFolder({ dataDir }: Config): string {
  try {
    return realpathSync(dataDir);
  } catch {
    return dataDir;
  }
}

function isSameStore(source: Config, target: Config): boolean {
  if (isOnSqlite(source) !== isOnSqlite(target)) return false;
  if (isOnSqlite(source)) return realFolder(source) === realFolder(target);
  const [one, other] = [source, target].map(({ eventStoreUrl }) => parseEngineAddress(eventStoreUrl)?.hosts ?? []);
  return source.installation === target.installation && (one ?? []).some((host) => (other ?? []).includes(host));
}

/** What can be said before anything is opened. */
function refuseSides(source: Config, target: Config): void {
  if (isSameStore(source, target)) throw reject('same_sides', `Source and target are the same: ${shownSide(source)}.`);
  if (isOnSqlite(source) && target.readStoreUrl === 'sqlite' && realFolder(source) === realFolder(target)) {
    throw new ConfigError([
      `READ_STORE_URL: the target's views would take the place of the source's in ${source.dataDir}; set READ_STORE_URL as the target will have it, or DATA_DIR to another folder.`,
    ]);
  }
}

/** Says once that a part is waited for, so that nobody thinks it hangs. */
const noting = (note: (text: string) => void): Logger => ({
  ...silentLogger,
  warn: (fields, message) => note(`${message} ${'address' in fields ? String(fields.address) : ''}`.trimEnd()),
});

/** By its code: an error of the engine is no instance of this realm's Error under a test runner. */
const isOfEngine = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SQLITE_ERROR';

/** Checked as after a crash: what is damaged must not be moved, nor a damaged target gone on with. */
async function openSide(
  config: Config,
  side: 'source' | 'target',
  logger: Logger,
  secretKey: Uint8Array | null,
): Promise<EventArchive> {
  const { dataDir } = config;
  try {
    return await openEventStore(config, logger, { checked: true, secretKey });
  } catch (error) {
    if (isInUse(error)) {
      throw reject(
        `${side}_in_use`,
        `A server, or another command, is at work on the ${side} in ${dataDir}; stop it first.`,
      );
    }
    const isDamaged = isOnSqlite(config) && error instanceof ConfigError;
    const why = error instanceof ConfigError ? error.faults.join(' ') : String(error);
    if (!isDamaged && !isOfEngine(error)) throw error;
    throw reject(`${side}_broken`, `The ${side} in ${dataDir} cannot be used (${why}); restore it from a backup.`);
  }
}

async function openViews(config: Config, logger: Logger): Promise<ViewStore> {
  try {
    return await openReadStore(config, logger);
  } catch (error) {
    const isDamaged = isOnSqlite(config) && error instanceof ConfigError && !isInUse(error);
    if (!isDamaged && !isOfEngine(error)) throw error;
    throw reject(
      'views_broken',
      `The views in ${config.dataDir} cannot be used (${String(error)}); delete views.db there.`,
    );
  }
}

/** The key that the target will have, once it is known to open what the source has sealed. */
async function findKey(source: EventArchive, sides: MigrationRequest): Promise<Uint8Array> {
  const known = knownSecretKey(sides.target);
  const key = known ?? (isOnSqlite(sides.source) ? knownSecretKey({ ...sides.source, secretKey: null }) : null);
  if (key === null) {
    throw new ConfigError([
      'SECRET_KEY: must be set to that of the source (its SECRET_KEY, or what its DATA_DIR/secret.key holds).',
    ]);
  }
  const opened = await opensSource(source, key).catch((error: unknown) => {
    throw brokenSource(error);
  });
  if (opened !== null && !opened.opens) {
    throw reject(
      'other_secret_key',
      `The SECRET_KEY of the target is not the one that the source has sealed its secrets with (tried on ${opened.stream}): ` +
        'nobody could sign in there, and no secret could be read. Set SECRET_KEY to the source’s, or to what its DATA_DIR/secret.key holds.',
    );
  }
  return key;
}

/** At the target every event gets a MAC anew, and what was changed at the source would look as if it had been written so. */
async function refuseAlteredSource(source: EventArchive, secretKey: Uint8Array): Promise<void> {
  try {
    await refuseAltered({ history: source.stored, lastPosition: await source.lastPosition(), secretKey });
  } catch (error) {
    if (!(error instanceof EventsAltered)) throw brokenSource(error);
    throw reject('source_altered', error.message);
  }
}

/**
 * The rest of a configuration file that was being written stays behind with the views, and who sent it was told that it is written by
 * itself. What views of a source on servers hold is not known here.
 */
async function refuseUnfinishedFile(from: Config, logger: Logger): Promise<void> {
  if (!isOnSqlite(from) || !existsSync(join(from.dataDir, 'views.db'))) return;
  const views = await openReadStore({ ...from, readStoreUrl: 'sqlite' }, logger).catch(() => null);
  // Damaged views hold nothing that could be finished.
  if (views === null) return;
  try {
    if ((await unfinishedIn(openSharedState(views))).length === 0) return;
  } finally {
    await views.close();
  }
  throw reject(
    'source_unfinished',
    `A configuration file is not written whole yet on the source in ${from.dataDir}: start it once, wait for ` +
      '"finished a configuration file" in its log, stop it, and migrate then.',
  );
}

/** null: nothing was ever sealed there. */
async function opensSource(
  source: EventArchive,
  key: Uint8Array,
): Promise<{ readonly opens: boolean; readonly stream: string } | null> {
  const opensVault = await vaultKeyCheck();
  for await (const { events } of readThrough(source, { end: await source.lastPosition() })) {
    for (const event of events) {
      const opens = opensVault(key, event);
      if (opens !== null) return { opens, stream: event.stream };
    }
  }
  return null;
}

interface BuiltView {
  readonly view: string;
  readonly builder: ViewBuilder;
  error: string | null;
}

/** A view that cannot be made leaves the others alone, as on a server. An outage ends it all: it is run again. */
async function unlessBroken(built: BuiltView, work: (builder: ViewBuilder) => Promise<void>): Promise<void> {
  if (built.error !== null) return;
  try {
    await work(built.builder);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SERVER_ERROR') throw error;
    built.error = String(error);
  }
}

async function beginViews(readStore: ViewStore): Promise<readonly BuiltView[]> {
  for (const view of [...publications, ...lookedThroughAgain]) await readStore.reset(view);
  const views: BuiltView[] = [];
  for (const { name, build } of keptViews) {
    views.push({ view: name, builder: await build(readStore), error: null });
  }
  return views;
}

async function finishViews(readStore: ViewStore, views: readonly BuiltView[], end: number | null): Promise<void> {
  if (end === null) return;
  for (const built of views) await unlessBroken(built, (builder) => builder.flush(end));
  for (const view of publications) await readStore.save(view, [], end);
}

const namedEvents = 10;

/** Checks events that another installation wrote. Those that cannot be read are moved all the same; the first ones are named. */
function createEventCheck(note: (text: string) => void): (event: RecordedEvent) => void {
  let named = 0;
  return (event) => {
    if (named >= namedEvents) return;
    try {
      checkEvent(event);
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      named += 1;
      note(error.message);
    }
  };
}

interface Opened {
  readonly source: EventArchive;
  readonly secretKey: Uint8Array;
  readonly readStore: ViewStore;
  readonly sharedState: SharedState;
  /** Opens the target's event store, again where it was closed. */
  openTarget(): Promise<EventArchive>;
  /** Called once the target is known to be a beginning of the source, before anything is changed there. */
  begin(): Promise<void>;
}

async function move(
  { source, secretKey, readStore, sharedState, openTarget, begin }: Opened,
  { show, note }: MigrationRequest,
) {
  let target = await openTarget();
  try {
    const startedMs = performance.now();
    const { history, copied } = await copyEvents({
      source,
      target,
      progress: ({ share, events }) => show({ phase: 'copy', share, events }),
      beforeWriting: begin,
    });
    const copyMs = performance.now() - startedMs;
    // Opened again, so that nothing is read back from memory.
    await target.close();
    target = await openTarget();
    const views = await beginViews(readStore);
    const check = createEventCheck(note);
    const opener = await openerOf(target, await keyRingAt(target.stored, secretKey));
    await verifyCopy({
      target,
      history,
      look: async (events: readonly RecordedEvent[]) => {
        const opened = await opener.open(events);
        opened.forEach(check);
        for (const built of views) await unlessBroken(built, (builder) => builder.apply(opened));
      },
      progress: (share, events) => show({ phase: 'verify', share, events }),
    });
    await finishViews(readStore, views, await target.lastPosition());
    await finishMigration(sharedState);
    return {
      ...history.summary(),
      copied,
      copyMs,
      verifyMs: performance.now() - startedMs - copyMs,
      views: views.map(({ view, error }) => ({ view, error })),
    };
  } finally {
    await target.close();
  }
}

async function openAndMove(request: MigrationRequest): Promise<Migrated> {
  const { source: from, target: to, note } = request;
  const logger = noting(note);
  refuseSides(from, to);
  const source = await openSide(from, 'source', logger, null);
  try {
    await refuseUnfinishedFile(from, logger);
    const key = await findKey(source, request);
    await refuseAlteredSource(source, key);
    if (embedded(to)) makeDataFolder(to);
    const readStore = await openViews(to, logger);
    const sharedState = openSharedState(readStore);
    try {
      await refuseSomebodyThere(
        sharedState,
        'target_in_use',
        'Processes are at work with the views of the target (READ_STORE_URL, INSTALLATION); stop them first.',
      );
      const openTarget = () => openSide(to, 'target', logger, key);
      const begin = async (): Promise<void> => {
        // What is written into the folder is looked at whole by its first start.
        checkWholeNext(to, key);
        await beginMigration(sharedState, { from: shownSide(from), begunAt: new Date().toISOString() });
        if (knownSecretKey(to) !== null) return;
        keepSecretKey(to, key);
        note(`The source's key was copied to ${to.dataDir}.`);
      };
      const moved = await move({ source, secretKey: key, readStore, sharedState, openTarget, begin }, request);
      return { ...moved, from: shownSide(from), to: shownSide(to), viewsAt: shownViews(to) };
    } finally {
      await readStore.close();
    }
  } finally {
    await source.close();
  }
}

const onceMore = 'Run the same command again: it goes on where it stopped.';

/** Rejects with `Refused`, `ConfigError`, or an `AppError` that says why not. */
export async function migrate(request: MigrationRequest): Promise<Migrated> {
  try {
    return await openAndMove(request);
  } catch (error) {
    if (error instanceof ServerUnreachable) {
      throw new Refused('part_unreachable', error.message, exitCodes.unreachableServer);
    }
    if (error instanceof AppError && error.code === 'SERVER_ERROR') {
      throw new Refused(error.reason, `${error.message} ${onceMore}`, exitCodes.unreachableServer);
    }
    throw error;
  }
}
