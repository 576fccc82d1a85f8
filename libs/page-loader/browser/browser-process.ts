/** Browser processes: each holds one organisation at a time, two visits of it at once, and is replaced after a number of pages. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, BrowserType } from 'playwright-core';
import { createSemaphore } from '#concurrency/semaphore';
import { browserEnvironment, quietFlags } from './browser-flags.js';
import type { BrowserPlace, InstalledBrowser } from './find-browser.js';
import type { IdleHandlers } from './idle-handlers.js';
import { killBelow, privateBytesBelow, processesBelow, yieldBelow } from './process-tree.js';

/** What Playwright sets besides is for tests of pages and kept, but for what lets popups through. */
const leftOutDefaults = ['--disable-popup-blocking'];

const pagesPerProcess = 50;
const visitsAtOnce = 2;
const idleMs = 60_000;
const launchMs = 30_000;

function findProcess(mark: string): number | null {
  try {
    const own = processesBelow(process.pid).slice(1);
    const found = own.find((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
    return found ?? null;
  } catch {
    return null;
  }
}

export class BrowserProcess {
  readonly browser: Browser;
  readonly #pid: number | null;
  pages = 0;
  /** Under way. */
  visits = 0;

  constructor(browser: Browser, pid: number | null) {
    this.browser = browser;
    this.#pid = pid;
  }

  /** What its processes hold for themselves; 0 where that cannot be told. */
  get memoryBytes(): number {
    return this.#pid === null ? 0 : privateBytesBelow(this.#pid);
  }

  /** To what is not rendered; its new threads too. One elsewhere does so by itself. */
  yield(): void {
    if (this.#pid !== null) yieldBelow(this.#pid);
  }

  /** At once, whatever it is doing. One elsewhere ends with its connection. */
  kill(): void {
    if (this.#pid !== null) killBelow(this.#pid);
  }

  async close(): Promise<void> {
    const late = setTimeout(() => this.kill(), 3_000);
    await this.browser.close().catch(() => undefined);
    clearTimeout(late);
  }
}

export interface BrowserPoolOptions {
  readonly place: BrowserPlace & { readonly ok: true };
  /** Of the filtering proxy: without credentials it lets nothing through. */
  readonly proxyUrl: string;
  readonly handlers: IdleHandlers;
  /** Visits at once. */
  readonly processes: number;
}

async function start(
  chromium: BrowserType,
  { executablePath, hasSandbox }: InstalledBrowser,
  proxyUrl: string,
  handlers: IdleHandlers,
): Promise<BrowserProcess> {
  const mark = `--meerkat-process=${randomBytes(12).toString('hex')}`;
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: hasSandbox,
    args: [...quietFlags(['127.0.0.1']), mark],
    ignoreDefaultArgs: leftOutDefaults,
    proxy: { server: proxyUrl },
    timeout: launchMs,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    env: browserEnvironment(handlers),
  });
  const launched = new BrowserProcess(browser, findProcess(mark));
  launched.yield();
  return launched;
}

interface IdleProcess {
  readonly owner: string;
  readonly process: BrowserProcess;
  readonly timer: NodeJS.Timeout;
}

/** One that is started or used. */
interface LentProcess {
  readonly owner: string;
  readonly started: Promise<BrowserProcess>;
  /** Nobody else is let in. */
  readonly isAlone: boolean;
  visits: number;
  /** It is not used again. */
  isSpent: boolean;
}

export interface Done<Result> {
  readonly result: Result;
  /** Whether the process may be used again. */
  readonly isFit: boolean;
}

/** What ended was ended by the visit beside it. */
const endedByOther = Symbol('ended by the visit beside it');

export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #turns: ReturnType<typeof createSemaphore>;
  readonly #idle = new Set<IdleProcess>();
  readonly #lent = new Set<LentProcess>();
  readonly #open = new Set<BrowserProcess>();
  #isClosed = false;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#turns = createSemaphore(options.processes);
  }

  /** Rejects where the browser cannot be started. One that the visit beside it ended is done again, alone. */
  run<Result>(
    owner: string,
    isAlone: boolean,
    work: (process: BrowserProcess) => Promise<Done<Result>>,
  ): Promise<Result> {
    return this.#turns.run(async () => {
      const result = await this.#runOnce(owner, isAlone, work);
      return result === endedByOther ? this.#alone(owner, work) : result;
    });
  }

  async #alone<Result>(owner: string, work: (process: BrowserProcess) => Promise<Done<Result>>): Promise<Result> {
    const result = await this.#runOnce(owner, true, work);
    if (result === endedByOther) throw new Error('a browser was ended by a visit that it did not have');
    return result;
  }

  async #runOnce<Result>(
    owner: string,
    isAlone: boolean,
    work: (process: BrowserProcess) => Promise<Done<Result>>,
  ): Promise<Result | typeof endedByOther> {
    const lent = this.#lend(owner, isAlone);
    let process: BrowserProcess;
    try {
      process = await lent.started;
    } catch (error) {
      this.#lent.delete(lent);
      throw error;
    }
    let isFit = false;
    try {
      process.pages += 1;
      process.visits += 1;
      const done = await work(process);
      isFit = done.isFit;
      return done.result;
    } catch (error) {
      if (lent.isSpent && !this.#isClosed && !process.browser.isConnected()) return endedByOther;
      throw error;
    } finally {
      process.visits -= 1;
      await this.#giveBack(lent, process, isFit);
    }
  }

  #lend(owner: string, isAlone: boolean): LentProcess {
    const shared = [...this.#lent].find(
      (one) => !isAlone && !one.isAlone && !one.isSpent && one.owner === owner && one.visits < visitsAtOnce,
    );
    const lent = shared ?? { owner, isAlone, started: this.#take(owner), visits: 0, isSpent: false };
    lent.visits += 1;
    this.#lent.add(lent);
    return lent;
  }

  async #take(owner: string): Promise<BrowserProcess> {
    for (const idle of this.#idle) {
      if (idle.owner !== owner) continue;
      this.#idle.delete(idle);
      clearTimeout(idle.timer);
      if (idle.process.browser.isConnected()) return idle.process;
      this.#open.delete(idle.process);
    }
    // One that served another organisation makes room.
    if (this.#open.size >= this.#options.processes) {
      const [other] = this.#idle;
      if (other !== undefined) await this.#end(other);
    }
    return this.#launch();
  }

  async #launch(): Promise<BrowserProcess> {
    if (this.#isClosed) throw new Error('the browser pool is closed');
    const { chromium } = await import('playwright-core');
    const { place, proxyUrl, handlers } = this.#options;
    const launched =
      'endpoint' in place
        ? new BrowserProcess(await chromium.connectOverCDP(place.endpoint, { timeout: launchMs }), null)
        : await start(chromium, place, proxyUrl, handlers);
    this.#open.add(launched);
    return launched;
  }

  async #giveBack(lent: LentProcess, process: BrowserProcess, isFit: boolean): Promise<void> {
    lent.visits -= 1;
    const isUsedUp = process.pages >= pagesPerProcess;
    if (this.#isClosed || !isFit || isUsedUp || !process.browser.isConnected()) lent.isSpent = true;
    if (!isFit) process.kill();
    if (lent.visits > 0) return;
    this.#lent.delete(lent);
    if (lent.isSpent) {
      this.#open.delete(process);
      await process.close();
      return;
    }
    const idle: IdleProcess = {
      owner: lent.owner,
      process,
      timer: setTimeout(() => void this.#end(idle), idleMs).unref(),
    };
    this.#idle.add(idle);
  }

  async #end(idle: IdleProcess): Promise<void> {
    this.#idle.delete(idle);
    clearTimeout(idle.timer);
    this.#open.delete(idle.process);
    await idle.process.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#idle].map((idle) => this.#end(idle)));
    for (const process of this.#open) process.kill();
    await Promise.all([...this.#open].map((process) => process.close()));
  }
}
