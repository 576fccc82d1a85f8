/** Browser processes: each holds one organisation and one visit at a time, and is replaced after a number of pages. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import type { Browser } from 'playwright-core';
import { createSemaphore } from '#concurrency/semaphore';

/**
 * Nothing goes around the proxy, to names, to the vendor or ahead of a click. What Playwright sets besides is for tests of
 * pages and kept, but for what lets popups through.
 */
const quietFlags = [
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-gpu',
  '--disable-file-system',
  '--disable-notifications',
  '--disable-speech-api',
  '--disable-features=DnsOverHttps,AsyncDns,MediaRouter,OptimizationHints,Prerender2,SpeculationRulesPrefetchFuture,NetworkTimeServiceQuerying,AutofillServerCommunication,Translate,InterestFeedContentSuggestions,PrivateStateTokens,FedCm,WebUSB,WebBluetooth,DirectSockets',
  '--js-flags=--max-old-space-size=384',
  '--mute-audio',
];

const leftOutDefaults = ['--disable-popup-blocking'];

const pagesPerProcess = 50;
const idleMs = 60_000;
const launchMs = 30_000;
const pageBytes = 4_096;

/** The processes below one, itself first; by what the kernel shows, else none. */
function processesBelow(rootPid: number): readonly number[] {
  const below: number[] = [rootPid];
  try {
    for (let at = 0; at < below.length && below.length < 500; at += 1) {
      const pid = below[at] ?? 0;
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
        below.push(...children.map(Number));
      }
    }
  } catch {
    // One has ended meanwhile.
  }
  return below;
}

function privateBytesOf(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return Math.max(0, resident - shared) * pageBytes;
  } catch {
    return 0;
  }
}

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

  constructor(browser: Browser, pid: number | null) {
    this.browser = browser;
    this.#pid = pid;
  }

  /** What its processes hold for themselves; 0 where that cannot be told. */
  get memoryBytes(): number {
    return this.#pid === null ? 0 : processesBelow(this.#pid).reduce((sum, pid) => sum + privateBytesOf(pid), 0);
  }

  /** Pages that are rendered wait for those that are not: what its processes fork later yields as they do. */
  yieldToOthers(): void {
    if (this.#pid === null) return;
    for (const pid of processesBelow(this.#pid)) {
      try {
        setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** At once, whatever it is doing. */
  kill(): void {
    if (this.#pid === null) return;
    for (const pid of processesBelow(this.#pid).toReversed()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  async close(): Promise<void> {
    const late = setTimeout(() => this.kill(), 3_000);
    await this.browser.close().catch(() => undefined);
    clearTimeout(late);
  }
}

export interface BrowserPoolOptions {
  readonly executablePath: string;
  readonly hasSandbox: boolean;
  /** Of the filtering proxy: without credentials it lets nothing through. */
  readonly proxyUrl: string;
  /** Visits at once. */
  readonly processes: number;
}

interface IdleProcess {
  readonly owner: string;
  readonly process: BrowserProcess;
  readonly timer: NodeJS.Timeout;
}

export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #turns: ReturnType<typeof createSemaphore>;
  readonly #idle = new Set<IdleProcess>();
  readonly #open = new Set<BrowserProcess>();
  #isClosed = false;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#turns = createSemaphore(options.processes);
  }

  /** Rejects where the browser cannot be started. `work` says whether the process may be used again. */
  run<Result>(
    owner: string,
    work: (process: BrowserProcess) => Promise<{ readonly result: Result; readonly isFit: boolean }>,
  ): Promise<Result> {
    return this.#turns.run(async () => {
      const process = await this.#take(owner);
      let isFit = false;
      try {
        process.pages += 1;
        const done = await work(process);
        isFit = done.isFit;
        return done.result;
      } finally {
        await this.#giveBack(owner, process, isFit);
      }
    });
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
    const { executablePath, hasSandbox, proxyUrl } = this.#options;
    const mark = `--meerkat-process=${randomBytes(12).toString('hex')}`;
    const browser = await chromium.launch({
      executablePath,
      chromiumSandbox: hasSandbox,
      args: [...quietFlags, mark],
      ignoreDefaultArgs: leftOutDefaults,
      proxy: { server: proxyUrl },
      timeout: launchMs,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      env: {
        HOME: '/nonexistent',
        PATH: '/usr/bin:/bin',
        LANG: 'en_US.UTF-8',
        TMPDIR: tmpdir(),
      },
    });
    const launched = new BrowserProcess(browser, findProcess(mark));
    launched.yieldToOthers();
    this.#open.add(launched);
    return launched;
  }

  async #giveBack(owner: string, process: BrowserProcess, isFit: boolean): Promise<void> {
    const isUsedUp = process.pages >= pagesPerProcess;
    if (this.#isClosed || !isFit || isUsedUp || !process.browser.isConnected()) {
      this.#open.delete(process);
      if (!isFit) process.kill();
      await process.close();
      return;
    }
    const idle: IdleProcess = {
      owner,
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
