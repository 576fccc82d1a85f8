/** Which browser there is to render pages with, or what to do about there being none. */
import { accessSync, constants } from 'node:fs';

export interface InstalledBrowser {
  readonly executablePath: string;
  readonly hasSandbox: boolean;
}

export type BrowserPlace =
  | ({ readonly ok: true } & InstalledBrowser)
  /** Elsewhere: `ws://…`, where each connection is a browser. */
  | { readonly ok: true; readonly endpoint: string }
  /** `why`: words that follow "Pages cannot be rendered: ". */
  | { readonly ok: false; readonly why: string };

/**
 * Where Debian, Chrome and Edge have theirs. First Chromium without a window (Debian: `chromium-headless-shell`), which takes
 * half the processor time and two thirds of the memory. By its program: the script in /usr/bin stays between it and its signals.
 */
const places = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/usr/bin/microsoft-edge',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Those of this machine, the one that is used first. */
export function installedBrowsers(): readonly string[] {
  return places.filter(isExecutable);
}

const isEndpoint = (browser: string): boolean => /^wss?:\/\//.test(browser);

export interface BrowserChoice {
  /** `off`, `auto`, a path, or `ws://…`. */
  readonly browser: string;
  /** The operator takes responsibility for Chromium without its own sandbox. */
  readonly browserNoSandbox: boolean;
}

/** `isRoot`: Chromium refuses its sandbox to root. */
export function findBrowser(
  { browser, browserNoSandbox }: BrowserChoice,
  isRoot: boolean = process.getuid?.() === 0,
): BrowserPlace {
  if (browser === 'off') return { ok: false, why: 'BROWSER is off' };
  if (isEndpoint(browser)) return { ok: true, endpoint: browser };
  const executablePath = browser === 'auto' ? installedBrowsers()[0] : browser;
  if (executablePath === undefined) {
    return { ok: false, why: 'no browser is installed: install Chromium, or set BROWSER to the path of one' };
  }
  if (!isExecutable(executablePath)) {
    return { ok: false, why: `BROWSER names ${executablePath}, which cannot be run` };
  }
  if (isRoot && !browserNoSandbox) {
    const advice = 'run this service as another user, or set BROWSER_NO_SANDBOX=true';
    return { ok: false, why: `the sandbox of the browser needs a user other than root: ${advice}` };
  }
  return { ok: true, executablePath, hasSandbox: !browserNoSandbox };
}
