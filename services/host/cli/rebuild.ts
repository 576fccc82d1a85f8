/** `meerkat rebuild`: builds views anew from the events, beside the live ones, whether a server runs or not. */
import type { Command } from 'commander';
import { sleep } from '#concurrency/sleep';
import { rebuildOf, requestRebuild, type Rebuild } from '#eventing/rebuild/requests';
import { readConfig } from '#runtime/config';
import { noPrimary } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { refuseEmptyFolder } from './data-folder.js';
import type { OpenViews, Product } from './product.js';
import { exitCodes, plain, printJson, printNote, printResult, Refused, table } from './terminal.js';

const lookEveryMs = 200;
/** The process that projects a view looks for requests every two seconds. */
const slowToBeginMs = 15_000;
const neverBeginsMs = 60_000;
const outageMs = 60_000;
const barWidth = 28;

interface Progress {
  readonly rebuilds: readonly Rebuild[];
  readonly tookMs: number;
}

const isOver = ({ state }: Rebuild): boolean => state === 'done' || state === 'failed';
const total = (rebuilds: readonly Rebuild[], of: (rebuild: Rebuild) => number): number =>
  rebuilds.reduce((sum, rebuild) => sum + of(rebuild), 0);
const number = (value: number): string => Math.round(value).toLocaleString('en-US');
const perSecond = (events: number, tookMs: number): number => (tookMs <= 0 ? 0 : (events * 1_000) / tookMs);

/** Of one view: how much of it is built, from 0 to 1. */
function shareOf(rebuild: Rebuild): number {
  if (isOver(rebuild)) return 1;
  return rebuild.total === 0 ? 0 : Math.min(1, rebuild.done / rebuild.total);
}

function bar({ rebuilds, tookMs }: Progress): string {
  const share = total(rebuilds, shareOf) / rebuilds.length;
  const full = Math.floor(share * barWidth);
  const events = total(rebuilds, (rebuild) => rebuild.events);
  const ready = rebuilds.filter(isOver).length;
  const filled = `${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`;
  return `${filled} ${String(Math.floor(share * 100)).padStart(3)} %  ${ready}/${rebuilds.length} views  ${number(events)} events  ${number(perSecond(events, tookMs))}/s`;
}

/** On a terminal one line that is written over; elsewhere a line per view that is ready. */
function createDisplay(isQuiet: boolean): { show(progress: Progress): void; end(): void } {
  const isTerminal = process.stderr.isTTY;
  const told = new Set<string>();
  return {
    show(progress) {
      if (isQuiet) return;
      if (isTerminal) {
        process.stderr.write(`\r\u001b[K${bar(progress)}`);
        return;
      }
      for (const rebuild of progress.rebuilds) {
        if (!isOver(rebuild) || told.has(rebuild.view)) continue;
        told.add(rebuild.view);
        printNote(`${rebuild.view}: ${rebuild.state}, ${number(rebuild.events)} events`);
      }
    },
    end() {
      if (!isQuiet && isTerminal) process.stderr.write('\r\u001b[K');
    },
  };
}

/** The read store may be away for a while: what is asked of it is asked again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof AppError && ['read_store_unavailable', noPrimary].includes(error.reason);
      if (!isAway || performance.now() - startedMs > outageMs) throw error;
      await sleep(lookEveryMs);
    }
  }
}

/** Asks for the views and looks on until each is over. */
async function follow(
  { sharedState }: OpenViews,
  views: readonly string[],
  show: (progress: Progress) => void,
): Promise<Progress> {
  const startedMs = performance.now();
  const requestedAt = new Date().toISOString();
  for (const view of views) await patiently(() => requestRebuild(sharedState, view, requestedAt));
  let isNoted = false;
  for (;;) {
    const found = await patiently(() => Promise.all(views.map((view) => rebuildOf(sharedState, view))));
    const rebuilds = found.filter((rebuild) => rebuild !== null);
    const tookMs = performance.now() - startedMs;
    const progress = { rebuilds, tookMs };
    show(progress);
    if (rebuilds.length === views.length && rebuilds.every(isOver)) return progress;
    const waiting = rebuilds.filter(({ state }) => state === 'requested').map(({ view }) => view);
    if (waiting.length > 0 && tookMs > neverBeginsMs) {
      throw new Refused(
        'not_begun',
        `Nobody keeps ${waiting.join(', ')} now. The request stands: the service that does carries it out once it runs.`,
      );
    }
    if (waiting.length > 0 && tookMs > slowToBeginMs && !isNoted) {
      printNote(`Still waiting for the service that keeps ${waiting.join(', ')}.`);
      isNoted = true;
    }
    await sleep(lookEveryMs);
  }
}

function tell({ rebuilds, tookMs }: Progress, isJson: boolean): void {
  const events = total(rebuilds, (rebuild) => rebuild.events);
  const whole = { tookMs: Math.round(tookMs), events, eventsPerSecond: Math.round(perSecond(events, tookMs)) };
  if (isJson) {
    const views = rebuilds.map((rebuild) => ({
      view: rebuild.view,
      state: rebuild.state,
      events: rebuild.events,
      tookMs: rebuild.tookMs,
      eventsPerSecond: Math.round(perSecond(rebuild.events, rebuild.tookMs)),
      error: rebuild.error,
    }));
    return printJson({ views, ...whole });
  }
  const rows = rebuilds.map((rebuild) => [
    rebuild.view,
    rebuild.state,
    number(rebuild.events),
    `${(rebuild.tookMs / 1_000).toFixed(1)} s`,
    `${number(perSecond(rebuild.events, rebuild.tookMs))}/s`,
    rebuild.error === null ? '' : plain(rebuild.error),
  ]);
  printResult(table(['view', 'state', 'events', 'took', 'rate', ''], rows));
  printNote(`${number(events)} events in ${(tookMs / 1_000).toFixed(1)} s`);
}

export function addRebuild(program: Command, product: Product, end: (exitCode: number) => void): void {
  program
    .command('rebuild')
    .description('build views anew from the events, beside the live ones; a running server goes on')
    .argument('[view]', 'one of the views, or `all`', 'all')
    .option('--json', 'answer as one JSON document')
    .action(async (view: string, { json }: { readonly json?: true }, command: Command) => {
      const names = await product.viewNames();
      if (view !== 'all' && !names.includes(view)) {
        command.error(`error: there is no view ${plain(view)}; views are ${names.join(', ')}, or all of them: all`);
      }
      const config = readConfig();
      refuseEmptyFolder(config);
      const views = await product.openViews(config);
      const display = createDisplay(json === true);
      try {
        const progress = await follow(views, view === 'all' ? names : [view], display.show);
        display.end();
        tell(progress, json === true);
        if (progress.rebuilds.some(({ state }) => state === 'failed')) end(exitCodes.refused);
      } finally {
        display.end();
        await views.close();
      }
    });
}
