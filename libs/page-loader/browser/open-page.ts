/** The page of a visit, opened in its context: what it asks for is counted, blocked and refused from its first request on. */
import type { BrowserContext, CDPSession, Frame, Page, Request, Response } from 'playwright-core';
import type { Refusals, Visit } from '#outbound/filtering-proxy';
import type { PageRequest, RenderSettings } from '../page-loader.js';
import type { FilledSecrets } from './filled-secrets.js';
import { watchCertificates, type ShownCertificates } from './shown-certificate.js';
import { isTracker } from './trackers.js';
import { BrowserGone, VisitFailed, type Ending, type VisitBounds } from './visit-end.js';

const blockedTypes: Readonly<Record<string, string>> = { image: 'images', media: 'media', font: 'fonts' };

/** null: a window's first request comes before its frame. */
function frameOf(request: Request): Frame | null {
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** Of another page than this one: it is closed, and asks for nothing before. */
function isOfWindow(request: Request, page: Page): boolean {
  const frame = frameOf(request);
  return frame === null ? request.isNavigationRequest() : frame.page() !== page;
}

function isBlocked({ block }: RenderSettings, page: Page, request: Request): boolean {
  const kind = blockedTypes[request.resourceType()];
  if (kind !== undefined && block.some((one) => one === kind)) return true;
  const isMain = request.isNavigationRequest() && frameOf(request) === page.mainFrame();
  return !isMain && block.includes('trackers') && isTracker(URL.parse(request.url())?.hostname ?? '');
}

const unforwarded = new Set(['content-length', 'host', 'connection']);

/** The task's own headers and body go to its own origin alone: each request is looked at anew, those of redirects too. */
async function sendOwnHeaders(session: CDPSession, request: PageRequest): Promise<void> {
  const { origin } = new URL(request.url);
  const own = Object.entries(request.headers).filter(([name]) => !unforwarded.has(name.toLowerCase()));
  const isPlain = request.method.toUpperCase() === 'GET' && request.body === null;
  if (own.length === 0 && isPlain) return;
  let isFirst = true;
  session.on('Fetch.requestPaused', ({ requestId, request: asked, resourceType }) => {
    const opens = isFirst && resourceType === 'Document' && !isPlain;
    isFirst = isFirst && resourceType !== 'Document';
    const isOwn = URL.parse(asked.url)?.origin === origin;
    const names = new Set(own.map(([name]) => name.toLowerCase()));
    const others = Object.entries(asked.headers).filter(([name]) => !names.has(name.toLowerCase()));
    const headers = [...others, ...own].map(([name, value]) => ({ name, value }));
    const body = opens && request.body !== null ? { postData: Buffer.from(request.body).toString('base64') } : {};
    const changed = isOwn ? { headers, ...(opens ? { method: request.method, ...body } : {}) } : {};
    session.send('Fetch.continueRequest', { requestId, ...changed }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Request' }] });
}

/** The browser's own words about where a page must not lead. */
const refusedNavigation =
  /^(?:Not allowed to (?:load local resource|navigate top frame to data URL): (.+)|(?:Launched external handler for|Not allowed to launch) '(.+?)'.*)$/s;

async function noteNavigations(session: CDPSession, refusals: Refusals, secrets: FilledSecrets): Promise<void> {
  session.on('Log.entryAdded', ({ entry: { text } }) => {
    const [, denied, handedOn] = refusedNavigation.exec(text) ?? [];
    const address = denied ?? handedOn;
    if (address !== undefined) refusals.note(secrets.inAddress(address), 'navigation');
  });
  await session.send('Log.enable');
}

export interface Opened {
  readonly page: Page;
  readonly session: CDPSession;
  /** The last answer to a navigation of the main frame. */
  readonly answer: () => Response | null;
  /** Where the main frame wanted to go the last time. */
  readonly asked: () => string;
  readonly certificates: ShownCertificates;
  readonly hasCrashed: () => boolean;
}

export async function openPage(
  context: BrowserContext,
  request: PageRequest,
  render: RenderSettings,
  visit: Visit,
  secrets: FilledSecrets,
  ending: Ending,
  { mostRequests, mostPopups }: VisitBounds,
): Promise<Opened> {
  const page = await context.newPage();
  let requests = 0;
  let popups = 0;
  let hasCrashed = false;
  let answer: Response | null = null;
  let lastAsked = request.url;
  context.on('page', (popup) => {
    if (popup === page) return;
    // What it asked for is noted where that was refused.
    if (!/^(?:https?|chrome-error):/.test(popup.url())) visit.refusals.note(popup.url() || 'about:blank', 'popup');
    popups += 1;
    popup.close().catch(() => undefined);
    if (popups > mostPopups)
      ending.fail(new VisitFailed('browser_limit', `The page opened more than ${mostPopups} windows.`));
  });
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  page.on('download', (download) => {
    visit.refusals.note(secrets.inAddress(download.url()), 'download');
    download.cancel().catch(() => undefined);
  });
  page.on('crash', () => {
    hasCrashed = true;
    ending.fail(new BrowserGone('The page crashed in the browser.'));
  });
  page.on('request', (one) => {
    requests += 1;
    if (one.isNavigationRequest() && one.frame() === page.mainFrame()) lastAsked = one.url();
    if (requests > mostRequests) {
      ending.fail(new VisitFailed('browser_limit', `The page made more than ${mostRequests} requests.`));
    }
  });
  page.on('response', (response) => {
    const asked = response.request();
    if (asked.isNavigationRequest() && asked.frame() === page.mainFrame()) answer = response;
  });
  await context.route('**/*', (route) => {
    const one = route.request();
    const isWindows = isOfWindow(one, page);
    if (isWindows && one.isNavigationRequest()) visit.refusals.note(secrets.inAddress(one.url()), 'popup');
    const isRefused = isWindows || isBlocked(render, page, one);
    return (isRefused ? route.abort('blockedbyclient') : route.continue()).catch(() => undefined);
  });
  const session = await context.newCDPSession(page);
  await Promise.all([sendOwnHeaders(session, request), noteNavigations(session, visit.refusals, secrets)]);
  const certificates = await watchCertificates(session, visit);
  return { page, session, answer: () => answer, asked: () => lastAsked, certificates, hasCrashed: () => hasCrashed };
}
