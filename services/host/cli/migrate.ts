/** `meerkat migrate`: moves an installation to another event store, with the settings that the target will be started with. */
import type { Command } from 'commander';
import { ConfigError, readConfigWith, type Config } from '#runtime/config';
import { encodingFault } from '#runtime/address-credentials';
import { parseEngineAddress } from '#runtime/engine-address';
import { eventStoreSchemes } from '#runtime/event-store-address';
import { refuseEmptyFolder } from './data-folder.js';
import type { Migrated, MigrationProgress, Product } from './product.js';
import { exitCodes, plain, printJson, printNote, printResult, Refused } from './terminal.js';

interface MigrateOptions {
  readonly from: string;
  readonly to: string;
  readonly fromInstallation?: string;
  readonly json?: true;
}

const schemes: readonly string[] = eventStoreSchemes;
const barWidth = 28;
const showEveryMs = 100;
const noteEveryMs = 10_000;

const number = (value: number): string => Math.round(value).toLocaleString('en-US');
const perSecond = (events: number, tookMs: number): number => (tookMs <= 0 ? 0 : (events * 1_000) / tookMs);
const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

/** The settings that a side means; null where the words mean none. */
function settingsOf(side: string): Readonly<Record<string, string>> | null {
  if (side === 'sqlite') return { EVENT_STORE_URL: 'sqlite' };
  const folder = /^sqlite:(?!\/\/[^/])(?:\/\/)?(.+)$/.exec(side)?.[1];
  if (folder !== undefined) return { EVENT_STORE_URL: 'sqlite', DATA_DIR: folder };
  const address = parseEngineAddress(side);
  return address !== null && schemes.includes(address.scheme) ? { EVENT_STORE_URL: side } : null;
}

/** Faults of an address name the option it came by. */
function readSide(option: '--from' | '--to', values: Readonly<Record<string, string>>): Config {
  try {
    return readConfigWith(values);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message } = new ConfigError(error.faults.map((fault) => fault.replace(/^EVENT_STORE_URL:/, `${option}:`)));
    throw new Refused('unusable_settings', message, exitCodes.unusableSettings);
  }
}

const phaseNames = { copy: 'copying', verify: 'reading back, building views' } as const;

/** On a terminal one line that is written over; elsewhere a line now and then. */
function createDisplay(isQuiet: boolean) {
  const isTerminal = process.stderr.isTTY;
  let phase: MigrationProgress['phase'] | null = null;
  let begunMs = 0;
  let begunEvents = 0;
  let shownMs = 0;
  const clear = (): void => {
    if (!isQuiet && isTerminal) process.stderr.write('\r\u001b[K');
  };
  return {
    show(progress: MigrationProgress): void {
      const nowMs = performance.now();
      if (progress.phase !== phase) {
        ({ phase } = progress);
        [begunMs, begunEvents, shownMs] = [nowMs, progress.events, nowMs];
      }
      if (isQuiet || nowMs - shownMs < (isTerminal ? showEveryMs : noteEveryMs)) return;
      shownMs = nowMs;
      const { share, events } = progress;
      const rate = number(perSecond(events - begunEvents, nowMs - begunMs));
      const told = `${String(Math.floor(share * 100)).padStart(3)} %  ${phaseNames[progress.phase]}: ${number(events)} events  ${rate}/s`;
      if (!isTerminal) return printNote(told.trimStart());
      const full = Math.floor(Math.min(1, share) * barWidth);
      process.stderr.write(`\r\u001b[K${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${told}`);
    },
    note(text: string): void {
      clear();
      if (!isQuiet) printNote(plain(text));
    },
    clear,
  };
}

function tell(migrated: Migrated, isJson: boolean): void {
  const { from, to, viewsAt, events, streams, hash, copied, copyMs, verifyMs, views } = migrated;
  const failed = views.filter(({ error }) => error !== null);
  if (isJson) {
    return printJson({
      from,
      to,
      viewsAt,
      events,
      streams,
      hash,
      copied,
      alreadyThere: events - copied,
      copyMs: Math.round(copyMs),
      copiedPerSecond: Math.round(perSecond(copied, copyMs)),
      verifyMs: Math.round(verifyMs),
      verifiedPerSecond: Math.round(perSecond(events, verifyMs)),
      views,
    });
  }
  const there = copied === events ? '' : `, ${number(events - copied)} were there already`;
  printResult(
    [
      `from     ${from}`,
      `to       ${to}`,
      `events   ${number(events)} in ${number(streams)} streams, the same at both sides`,
      `sha256   ${hash}`,
      `copied   ${number(copied)} in ${seconds(copyMs)} (${number(perSecond(copied, copyMs))}/s)${there}`,
      `views    ${views.length - failed.length} in ${viewsAt}, built while all was read back in ${seconds(verifyMs)} (${number(perSecond(events, verifyMs))}/s)`,
    ].join('\n'),
  );
  for (const { view, error } of failed) printNote(`The view ${view} cannot be built: ${plain(error ?? '')}`);
  printNote(
    'Start the target with these settings and the same SECRET_KEY. Do not start the source again: both would send.',
  );
}

export function addMigrate(program: Command, product: Product, end: (exitCode: number) => void): void {
  program
    .command('migrate')
    .description('move a stopped installation to another event store; run again, it goes on where it stopped')
    .requiredOption('--from <where>', '`sqlite:<DATA_DIR>` or an address such as esdb://host:2113')
    .requiredOption('--to <where>', 'the same; all other settings are those that the target will be started with')
    .option('--from-installation <name>', 'INSTALLATION of the source on EventStoreDB, where it is another')
    .option('--json', 'answer as one JSON document')
    .action(async ({ from, to, fromInstallation, json }: MigrateOptions, command: Command) => {
      const [fromSettings, toSettings] = [settingsOf(from), settingsOf(to)];
      // Not repeated: an address may hold a password.
      if (fromSettings === null || toSettings === null) {
        const [option, side] = fromSettings === null ? ['--from', from] : ['--to', to];
        const usual = 'must be sqlite:<folder> or an address such as esdb://host:2113?tls=true';
        command.error(`error: ${option} ${encodingFault(side, 'options') ?? usual}`);
        return;
      }
      if (fromInstallation !== undefined && fromSettings['EVENT_STORE_URL'] === 'sqlite') {
        command.error('error: --from-installation is for a source on EventStoreDB; a folder holds one installation');
      }
      const onlyEvents = { BUS_URL: 'sqlite', READ_STORE_URL: 'sqlite', ROLES: 'all' };
      const named = fromInstallation === undefined ? {} : { INSTALLATION: fromInstallation };
      const source = readSide('--from', { ...onlyEvents, ...named, ...fromSettings });
      const target = readSide('--to', { ROLES: 'all', ...toSettings });
      refuseEmptyFolder(source);
      const { show, note, clear } = createDisplay(json === true);
      const migrated = await product
        .migrate({ source, target, show, note })
        .catch((error: unknown) => {
          if (!(error instanceof ConfigError)) throw error;
          throw new Refused('unusable_settings', error.message, exitCodes.unusableSettings);
        })
        .finally(clear);
      tell(migrated, json === true);
      if (migrated.views.some(({ error }) => error !== null)) end(exitCodes.refused);
    });
}
