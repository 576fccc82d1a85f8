/** What is done on a page before it is read. A failure names the step, its selector and why, never what was filled in. */
import type { Page } from 'playwright-core';
import type { PageStep } from '../page-loader.js';

export class StepFailed extends Error {
  /** From 1. */
  readonly number: number;

  constructor(number: number, step: PageStep, why: string) {
    const selector = 'selector' in step && step.selector !== null ? ` ${JSON.stringify(step.selector)}` : '';
    super(`Step ${number} (${step.do}${selector}) failed: ${why}`);
    this.number = number;
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

const selectorOf = (step: PageStep): string | null => ('selector' in step ? step.selector : null);

/** What shows on a page with a kept session that steps were not needed: a later step's element, or `end`, which is waited for. */
export interface Evidence {
  readonly end: string | null;
}

const mostLookMs = 5_000;

/** The number of the step to go on with: this one, or a later one whose element is there in place of this one's. */
async function neededFrom(
  page: Page,
  steps: readonly PageStep[],
  at: number,
  { end }: Evidence,
  timeout: number,
): Promise<number> {
  const own = steps[at] === undefined ? null : selectorOf(steps[at]);
  if (own === null) return at;
  const later = steps.map((step, index) => ({ index, selector: selectorOf(step) })).slice(at + 1);
  const shown = [...later, { index: steps.length, selector: end }].flatMap(({ index, selector }) =>
    selector === null ? [] : [{ index, selector }],
  );
  const any = shown.reduce((sum, { selector }) => sum.or(page.locator(selector)), page.locator(own));
  await any.first().waitFor({ state: 'attached', timeout: Math.min(timeout, mostLookMs) });
  if ((await page.locator(own).count()) > 0) return at;
  for (const { index, selector } of shown) if ((await page.locator(selector).count()) > 0) return index;
  return at;
}

/** `evidence`: of a page with a kept session, on which steps may be needed no more; null: all are taken. Throws `StepFailed`. */
export async function takeSteps(
  page: Page,
  steps: readonly PageStep[],
  leftMs: () => number,
  evidence: Evidence | null = null,
): Promise<void> {
  let from = 0;
  for (const [at, step] of steps.entries()) {
    if (at < from) continue;
    const timeout = Math.min(mostStepMs, leftMs());
    if (timeout <= 0) throw new StepFailed(at + 1, step, 'the time of the whole load was over.');
    try {
      if (evidence !== null) from = await neededFrom(page, steps, at, evidence, timeout);
      if (at < from) continue;
      await take(page, step, timeout);
      // A click may lead to another page.
      await page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, Math.min(mostStepMs, leftMs())) });
    } catch (error) {
      if (page.isClosed()) throw error;
      throw new StepFailed(at + 1, step, whyOf(error, step));
    }
  }
}
