/** A real Chromium, for what a person does in it. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
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
  return { page, faults };
}

/** Opens an address as the owner: led to sign in first, and back. */
export async function openAsOwner(seat: Seat, installation: Installation, path: string): Promise<void> {
  const { page } = seat;
  await page.goto(new URL(path, installation.url).href);
  await page.getByLabel('Your e-mail address').fill(ownerEmail);
  await page.getByLabel('Password').fill(ownerPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
}
