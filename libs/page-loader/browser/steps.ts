/** What is done on a page before it is read. A failure names the step, its selector and why, never what was filled in. */
import type { Page } from 'playwright-core';
import type { PageStep } from '../page-loader.js';

export class StepFailed extends Error {
  constructor(number: number, step: PageStep, why: string) {
    const selector = 'selector' in step && step.selector !== null ? ` ${JSON.stringify(step.selector)}` : '';
    super(`Step ${number} (${step.do}${selector}) failed: ${why}`);
  }
}

/** Of what Playwright says, the first line, without the call that it names; it may hold what was filled in. */
function whyOf(error: unknown, step: PageStep): string {
  const [first = ''] = String(error instanceof Error ? error.message : error).split('\n');
  if (/Timeout .* exceeded/.test(first)) return 'it was not there, or could not be used, in time.';
  const said = first.replace(/^[\w.]+: /, '').slice(0, 300);
  const secret = step.do === 'fill' || step.do === 'select' ? step.value : '';
  return secret === '' ? said : said.replaceAll(secret, '********');
}

const mostStepMs = 15_000;

async function take(page: Page, step: PageStep, timeout: number): Promise<void> {
  switch (step.do) {
    case 'goto':
      await page.goto(new URL(step.value, page.url()).href, { waitUntil: 'load', timeout });
      return;
    case 'click':
      await page.locator(step.selector).first().click({ timeout });
      return;
    case 'fill':
      await page.locator(step.selector).first().fill(step.value, { timeout });
      return;
    case 'select':
      await page.locator(step.selector).first().selectOption(step.value, { timeout });
      return;
    case 'press':
      if (step.selector === null) await page.keyboard.press(step.value);
      else await page.locator(step.selector).first().press(step.value, { timeout });
      return;
    case 'wait':
      if (step.selector !== null) await page.locator(step.selector).first().waitFor({ state: 'visible', timeout });
      else await page.waitForTimeout(Math.min(timeout, Number(step.value ?? '0') * 1_000));
      return;
  }
}

/** Throws `StepFailed`. */
export async function takeSteps(page: Page, steps: readonly PageStep[], leftMs: () => number): Promise<void> {
  for (const [at, step] of steps.entries()) {
    const timeout = Math.min(mostStepMs, leftMs());
    if (timeout <= 0) throw new StepFailed(at + 1, step, 'the time of the whole load was over.');
    try {
      await take(page, step, timeout);
      // A click may lead to another page.
      await page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, Math.min(mostStepMs, leftMs())) });
    } catch (error) {
      if (page.isClosed()) throw error;
      throw new StepFailed(at + 1, step, whyOf(error, step));
    }
  }
}
