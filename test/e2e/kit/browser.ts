/** A real Chromium, for what a person does in it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import { ownerEmail, ownerPassword, type Installation } from './installation.js';

/** Where Debian, Chrome and Edge have theirs; `CHROMIUM` names another. */
const places = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/microsoft-edge'];

export function launchChromium(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? places.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error('No Chromium is here: install the package `chromium`, or set CHROMIUM to where one is.');
  }
  // Its sandbox asks for an unprivileged user; build servers run as root. What it opens here are our own pages.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const quiet = ['--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({ executablePath, args: [...asRoot, ...quiet] });
}

export interface Seat {
  readonly page: Page;
  /** What the console of the browser said of errors, refusals of the policy among them. */
  readonly faults: readonly string[];
  /** What the page asked for and has no whole answer to, or none at all. */
  readonly unanswered: ReadonlyMap<Request, string>;
}

/** A window of somebody who was never here; what goes wrong in it is kept for the spec to look at. */
export async function openSeat(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Seat> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (said) => {
    // A browser logs every answer that is no 2xx; what the API answers is the spec's own affair.
    if (said.type() === 'error' && !said.text().startsWith('Failed to load resource')) faults.push(said.text());
  });
  const unanswered = new Map<Request, string>();
  page.on('request', (request) => unanswered.set(request, 'pending'));
  page.on('requestfinished', (request) => unanswered.delete(request));
  page.on('requestfailed', (request) => unanswered.set(request, request.failure()?.errorText ?? 'failed'));
  return { page, faults, unanswered };
}

/** What is to be known of a page that does not show what it should. */
async function stateOf({ page, faults, unanswered }: Seat): Promise<string> {
  const shown = await page.locator('body').innerText({ timeout: 5_000 });
  const asked = [...unanswered].map(([request, state]) => `${request.method()} ${request.url()} (${state})`);
  return JSON.stringify({ address: page.url(), shown, unanswered: asked, faults }, null, 2);
}

/** Opens an address as the owner: led to sign in first, and back. */
export async function openAsOwner(seat: Seat, installation: Installation, path: string): Promise<void> {
  const { page } = seat;
  await page.goto(new URL(path, installation.url).href);
  const email = page.getByLabel('Your e-mail address');
  await email.waitFor().catch(async (cause: unknown) => {
    throw new Error(`nowhere to sign in: ${await stateOf(seat)}`, { cause });
  });
  await email.fill(ownerEmail);
  await page.getByLabel('Password').fill(ownerPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
}

/** Closes the window; what the browser complained of meanwhile fails the spec. */
export async function leave({ page, faults }: Seat): Promise<void> {
  await page.context().close();
  if (faults.length > 0) throw new Error(`the browser complained:\n${faults.join('\n')}`);
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What a page breaks of WCAG 2.2 A and AA, each with its place. */
export async function violations(page: Page): Promise<readonly string[]> {
  // The policy of the pages lets no script in; the one that looks at them comes past it, as a debugger does.
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(async () => {
    interface Axe {
      run(options: object): Promise<{
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
      }>;
    }
    const { axe: looker } = globalThis as unknown as { readonly axe: Axe };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations: found } = await looker.run({ runOnly: { type: 'tag', values: tags } });
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
  });
}
