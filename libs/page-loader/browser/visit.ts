/** One visit of a page in a browser context of its own: opened, waited for, read and photographed within its limits. */
import { hash } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page, Response } from 'playwright-core';
import type { FilteringProxy, Visit } from '#outbound/filtering-proxy';
import { failureOf, isAccepted, reasonOf, statusMessage, type AttemptFailure } from '../attempt.js';
import type { LoadedPage, PageRequest, Rendering, RenderSettings } from '../page-loader.js';
import type { BrowserProcess } from './browser-process.js';
import { filledSecrets, type FilledSecrets } from './filled-secrets.js';
import { screenshotOf } from './screenshot.js';
import { openPage, type Opened } from './open-page.js';
import { authorityOf } from './shown-certificate.js';
import { StepFailed, takeSteps } from './steps.js';
import { BrowserGone, createEnding, VisitFailed, type VisitBounds } from './visit-end.js';
import { DocumentExceeds, writeDocument } from './write-document.js';

type RenderedPage = Omit<LoadedPage, 'attempts' | 'fetchMs'>;
export type VisitResult = RenderedPage | (AttemptFailure & { readonly rendering: Rendering });

const memoryLookMs = 250;
/** For what the browser does at the end of its time. */
const graceMs = 3_000;

const certificateFault = /ERR_(?:CERT|SSL|BAD_SSL)/;

/** What the network says of a navigation that came to nothing. */
function navigationFailure(message: string, visit: Visit, url: string): VisitFailed {
  const fault = visit.failureOf(authorityOf(url));
  if (fault !== null) {
    const reason = reasonOf[fault.reason];
    return new VisitFailed(reason, fault.message, null, reason === 'connect_failed' || reason === 'dns_failed');
  }
  const code = /net::(ERR_[A-Z_]+)/.exec(message)?.[1] ?? '';
  if (/Download is starting/.test(message))
    return new VisitFailed('not_a_page', 'The address answers with a download.');
  if (certificateFault.test(code)) {
    return new VisitFailed('tls_failed', `The browser does not trust the certificate of the site (${code}).`);
  }
  if (code === 'ERR_TOO_MANY_REDIRECTS') {
    return new VisitFailed('too_many_redirects', 'The site redirects more than 20 times.');
  }
  if (/Timeout .* exceeded/.test(message)) {
    return new VisitFailed('timed_out', 'The site did not answer in time.', null, true);
  }
  const said = code === '' ? 'The page could not be opened.' : `The page could not be opened (${code}).`;
  return new VisitFailed(code === '' ? 'protocol_error' : 'connect_failed', said, null, true);
}

async function waitUntilThere(page: Page, { waitFor, waitMs }: RenderSettings, leftMs: () => number): Promise<void> {
  const timeout = Math.max(1, leftMs());
  try {
    if (waitFor === 'load' || waitFor === 'networkidle') await page.waitForLoadState(waitFor, { timeout });
    else await page.locator(waitFor).first().waitFor({ state: 'attached', timeout });
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (page.isClosed()) throw error;
    if (!/Timeout .* exceeded/.test(message)) {
      throw new VisitFailed(
        'wait_failed',
        `What is waited for cannot be read: ${message.split('\n')[0]?.slice(0, 300)}`,
      );
    }
    const never: Readonly<Record<string, string>> = {
      load: 'The page never finished loading (waitFor: load).',
      networkidle: 'The page never stopped asking its server (waitFor: networkidle).',
    };
    throw new VisitFailed('wait_failed', never[waitFor] ?? `Nothing came that matches ${JSON.stringify(waitFor)}.`);
  }
  if (waitMs > leftMs()) throw new VisitFailed('wait_failed', 'waitSeconds is longer than the time that was left.');
  if (waitMs > 0) await page.waitForTimeout(waitMs);
}

/** Cookies and local storage, for the next visit. */
async function sessionAfter({ page }: Opened, { session }: RenderSettings): Promise<Pick<Rendering, 'session'>> {
  return session === undefined ? {} : { session: JSON.stringify(await page.context().storageState()) };
}

/** What was kept is of this product's own making; what cannot be read any more is as good as nothing. */
function storageOf({ session }: RenderSettings): Pick<BrowserContextOptions, 'storageState'> {
  if (typeof session !== 'string') return {};
  try {
    return { storageState: JSON.parse(session) as Exclude<BrowserContextOptions['storageState'], string | undefined> };
  } catch {
    return {};
  }
}

async function read(
  opened: Opened,
  request: PageRequest,
  render: RenderSettings,
  visit: Visit,
  secrets: FilledSecrets,
): Promise<RenderedPage> {
  const { page, session, answer } = opened;
  const response = answer();
  const status = response?.status() ?? 200;
  const headers = response === null ? {} : await response.allHeaders();
  const html = await writeDocument(page, session, request.maxBytes, render.boxAttribute, secrets.values);
  const body = Buffer.from(html);
  if (body.byteLength > request.maxBytes) throw new DocumentExceeds('size');
  const screenshot = render.takesScreenshot ? await screenshotOf(page, render, render.steps) : null;
  const kept = await sessionAfter(opened, render);
  return {
    ok: true,
    url: request.url,
    finalUrl: secrets.inAddress(page.url()),
    status,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    contentKind: 'html',
    certificate: opened.certificates.of(page.url()),
    encoding: 'UTF-8',
    body,
    contentHash: `sha256:${hash('sha256', body, 'hex')}`,
    rendering: { refused: visit.refusals.list, screenshot, ...kept },
  };
}

function statusFailure(status: number, { followRedirects }: PageRequest): VisitFailed {
  const mayRepeat = [502, 503, 504].includes(status);
  return new VisitFailed('http_status', statusMessage(status, followRedirects), status, mayRepeat);
}

async function goTo(opened: Opened, request: PageRequest, visit: Visit, leftMs: () => number): Promise<void> {
  const { page } = opened;
  let response: Response | null;
  try {
    response = await page.goto(request.url, { waitUntil: 'commit', timeout: Math.max(1, leftMs()) });
  } catch (error) {
    if (page.isClosed()) throw error;
    const status = opened.answer()?.status() ?? 200;
    // An answer without a body is no page to a browser.
    if (status >= 400 && visit.failureOf(authorityOf(opened.answer()?.url() ?? '')) === null)
      throw statusFailure(status, request);
    const tried = [opened.asked(), page.url(), request.url].find((url) => visit.failureOf(authorityOf(url)) !== null);
    throw navigationFailure(error instanceof Error ? error.message : '', visit, tried ?? request.url);
  }
  const url = response?.url() ?? request.url;
  const status = response?.status() ?? 200;
  if (visit.failureOf(authorityOf(url)) !== null && status === 403) throw navigationFailure('', visit, url);
  const isRedirected = response !== null && response.request().redirectedFrom() !== null;
  if (isRedirected && !request.followRedirects) throw new VisitFailed('http_status', statusMessage(302, false), 302);
}

/** The page may have gone on by itself to where it must not, or to a status that is not taken. */
function checkAnswer({ page, answer }: Opened, request: PageRequest, visit: Visit): void {
  const response = answer();
  const fault = visit.failureOf(authorityOf(page.url()));
  if (page.url().startsWith('chrome-error:')) {
    throw navigationFailure('', visit, response?.url() ?? request.url);
  }
  if (fault !== null && (response === null || response.status() === 403))
    throw navigationFailure('', visit, page.url());
  const status = response?.status() ?? 200;
  if (!isAccepted(status, request.acceptStatus)) throw statusFailure(status, request);
}

function failureFor(error: unknown): VisitFailed | null {
  if (error instanceof VisitFailed) return error;
  if (error instanceof StepFailed) return new VisitFailed('step_failed', error.message);
  if (!(error instanceof DocumentExceeds)) return null;
  if (error.what === 'size')
    return new VisitFailed('too_large', 'The document is larger than fetch.maxBytes once it is rendered.');
  return new VisitFailed('browser_limit', 'The document is nested too deeply, or has too many elements.');
}

/** Looks again and again at what the browser holds; returns how to stop. */
function watchMemory(process: BrowserProcess, mostBytes: number, exceed: () => void): () => void {
  const timer = setInterval(() => {
    if (process.memoryBytes > mostBytes) exceed();
  }, memoryLookMs).unref();
  return () => clearInterval(timer);
}

async function within(
  opened: Opened,
  request: PageRequest,
  render: RenderSettings,
  visit: Visit,
  secrets: FilledSecrets,
  leftMs: () => number,
): Promise<RenderedPage> {
  await goTo(opened, request, visit, leftMs);
  const { page, certificates } = opened;
  await certificates.note(page.url());
  if (render.steps.length > 0) {
    await page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, leftMs()) }).catch(() => undefined);
    const { waitFor, session } = render;
    const isLoadState = waitFor === 'load' || waitFor === 'networkidle';
    const evidence = typeof session === 'string' ? { end: isLoadState ? null : waitFor } : null;
    await takeSteps(page, render.steps, leftMs, evidence);
  }
  await waitUntilThere(page, render, leftMs);
  checkAnswer(opened, request, visit);
  return read(opened, request, render, visit, secrets);
}

/** Rejects with `BrowserGone`. `isFit`: whether the process may serve again. */
export async function visitPage(
  process: BrowserProcess,
  proxy: FilteringProxy,
  request: PageRequest,
  render: RenderSettings,
  timeoutMs: number,
  bounds: VisitBounds,
): Promise<{ readonly result: VisitResult; readonly isFit: boolean }> {
  const ending = createEnding();
  const secrets = filledSecrets(render.steps);
  const deadline = performance.now() + timeoutMs;
  const leftMs = (): number => Math.floor(deadline - performance.now());
  const { mostBytes, mostRequests, mostMemoryBytes } = bounds;
  const visit = proxy.admit({
    mostBytes,
    mostRequests,
    proxyUrl: request.proxyUrl,
    trust: request.trust === undefined ? null : { hostname: new URL(request.url).hostname, settings: request.trust },
    onLimit: (what) => ending.fail(new VisitFailed('browser_limit', `The page took more ${what} than it may.`)),
  });
  const onGone = (): void => ending.fail(new BrowserGone('The browser ended.'));
  const onAbort = (): void => ending.fail(new VisitFailed('timed_out', 'The load was given up.'));
  process.browser.on('disconnected', onGone);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  let isFit = true;
  const stopWatching = watchMemory(process, mostMemoryBytes, () => {
    isFit = false;
    // Of two, nobody can tell which took it; each shows alone.
    if (process.visits > 1) return ending.fail(new BrowserGone('Two pages together took more memory than one may.'));
    ending.fail(new VisitFailed('browser_limit', 'The page took more memory than it may.'));
  });
  const timer = setTimeout(() => {
    isFit = false;
    ending.fail(new VisitFailed('timed_out', 'The page was not there in time.'));
  }, timeoutMs + graceMs).unref();
  let opened: Opened | null = null;
  let context: BrowserContext | null = null;
  try {
    const { username, password } = visit;
    context = await Promise.race([
      process.browser.newContext({
        proxy: { server: proxy.url, username, password },
        viewport: render.viewport,
        ...(request.userAgent === null ? {} : { userAgent: request.userAgent }),
        acceptDownloads: false,
        ...storageOf(render),
        serviceWorkers: 'block',
        permissions: [],
        ignoreHTTPSErrors: visit.judgesCertificates,
        locale: 'en-US',
      }),
      ending.signal,
    ]);
    opened = await Promise.race([openPage(context, request, render, visit, secrets, ending, bounds), ending.signal]);
    // Its page has a process and threads of its own by now.
    process.yield();
    return {
      result: await Promise.race([within(opened, request, render, visit, secrets, leftMs), ending.signal]),
      isFit,
    };
  } catch (error) {
    const failure = failureFor(error);
    // What a page comes to while its browser dies says nothing about the page.
    if (failure === null || !(await answers(process)) || opened?.hasCrashed() === true) {
      isFit = false;
      throw error instanceof BrowserGone
        ? error
        : new BrowserGone(error instanceof Error ? error.message : String(error));
    }
    const isReadable = render.takesScreenshot && isFit && failure.reason !== 'browser_limit';
    const taken = error instanceof StepFailed ? render.steps.slice(0, error.number - 1) : render.steps;
    const screenshot = isReadable && opened !== null ? await screenshotOf(opened.page, render, taken) : null;
    const { reason, message, mayRepeat } = failure;
    // What ran out of time after its site had answered says so.
    const status = failure.status ?? (reason === 'timed_out' ? (opened?.answer()?.status() ?? null) : null);
    const failed = { ...failureOf(request, reason, secrets.inText(message)), status, mayRepeat };
    return { result: { ...failed, rendering: { refused: visit.refusals.list, screenshot } }, isFit };
  } finally {
    clearTimeout(timer);
    stopWatching();
    visit.end();
    process.browser.off('disconnected', onGone);
    request.signal?.removeEventListener('abort', onAbort);
    isFit = (await closed(context)) && isFit;
  }
}

/** Whether it is still there: of one that was killed the parts end one after the other. */
async function answers({ browser }: BrowserProcess): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), graceMs).unref();
  const asking = browser.newBrowserCDPSession().then(
    async (session) => {
      await session.detach().catch(() => undefined);
      return browser.isConnected();
    },
    () => false,
  );
  const isThere = await Promise.race([asking, promise]);
  clearTimeout(timer);
  return isThere;
}

/** Whether it closed in time. */
async function closed(context: BrowserContext | null): Promise<boolean> {
  if (context === null) return false;
  const closing = context.close().then(
    () => true,
    () => false,
  );
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), graceMs).unref();
  const isClosed = await Promise.race([closing, promise]);
  clearTimeout(timer);
  return isClosed;
}
