/** A visit with what the last one left, and without it where that leads nowhere. */
import type { FilteringProxy } from '#outbound/filtering-proxy';
import type { PageRequest, RenderSettings } from '../page-loader.js';
import type { BrowserProcess } from './browser-process.js';
import { visitPage, type VisitResult } from './visit.js';
import type { VisitBounds } from './visit-end.js';

/** What a session that is over comes to. */
const sessionFaults: ReadonlySet<string> = new Set(['step_failed', 'wait_failed', 'http_status', 'too_many_redirects']);

interface Visited {
  readonly result: VisitResult;
  readonly isFit: boolean;
}

/** Rejects with `BrowserGone`. */
export async function visitWithSession(
  process: BrowserProcess,
  proxy: FilteringProxy,
  request: PageRequest,
  render: RenderSettings,
  timeoutMs: number,
  bounds: VisitBounds,
): Promise<Visited> {
  const begunAt = performance.now();
  const first = await visitPage(process, proxy, request, render, timeoutMs, bounds);
  const { result, isFit } = first;
  if (result.ok || !isFit || typeof render.session !== 'string' || !sessionFaults.has(result.reason)) return first;
  const leftMs = Math.floor(timeoutMs - (performance.now() - begunAt));
  if (leftMs <= 0) return { isFit, result: { ...result, rendering: { ...result.rendering, session: null } } };
  const again = await visitPage(process, proxy, request, { ...render, session: null }, leftMs, bounds);
  if (again.result.ok) return again;
  return { ...again, result: { ...again.result, rendering: { ...again.result.rendering, session: null } } };
}
