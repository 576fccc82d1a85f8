/** What a page looks like: as wide as its window, as tall as it is within reason. */
import type { Page } from 'playwright-core';
import { createSemaphore } from '#concurrency/semaphore';
import type { PageStep, RenderSettings } from '../page-loader.js';
import { secretFills } from './filled-secrets.js';

const screenshotMs = 3_000;
const largestScreenshot = 8 * 1024 * 1024;
/** Of a page that never seems to end: the browser holds its picture several times over while it is made, 20 MB each. */
const tallestScreenshotPx = 4_000;

/** A picture of a long page takes some hundred MB while it is made: one after the other. */
const pictures = createSemaphore(1);

/** PNG; null where none can be taken in time, or all are too large. `taken`: steps whose secrets are covered. */
export function screenshotOf(
  page: Page,
  render: RenderSettings,
  taken: readonly PageStep[],
): Promise<Uint8Array | null> {
  return pictures.run(() => pictureOf(page, render, taken));
}

async function pictureOf(
  page: Page,
  { viewport }: RenderSettings,
  taken: readonly PageStep[],
): Promise<Uint8Array | null> {
  const mask = secretFills(taken).map(({ selector }) => page.locator(selector));
  const covered = mask.length === 0 ? {} : { mask, maskColor: '#888888' };
  const quick = { type: 'png', timeout: screenshotMs, animations: 'disabled', caret: 'initial', ...covered } as const;
  const upTo = { x: 0, y: 0, width: viewport.width, height: tallestScreenshotPx };
  const whole = await page.screenshot({ ...quick, fullPage: true, clip: upTo }).catch(() => null);
  if (whole !== null && whole.byteLength <= largestScreenshot) return whole;
  const clip = { x: 0, y: 0, ...viewport };
  const part = await page.screenshot({ ...quick, clip }).catch(() => null);
  return part !== null && part.byteLength <= largestScreenshot ? part : null;
}
