/** A page as specs ask a browser for it: whole, once, with nothing blocked. */
import type { PageRequest, RenderSettings } from '../page-loader.js';

export function renderedRequest(
  url: string,
  settings: Partial<RenderSettings> = {},
  more: Partial<PageRequest> = {},
): PageRequest {
  return {
    url,
    mode: 'browser',
    render: {
      owner: 'org_1',
      waitFor: 'load',
      waitMs: 0,
      viewport: { width: 800, height: 600 },
      steps: [],
      block: [],
      takesScreenshot: false,
      boxAttribute: null,
      ...settings,
    },
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    followRedirects: true,
    acceptStatus: ['2xx'],
    userAgent: null,
    proxyUrl: null,
    retry: { attempts: 1, strategy: 'fixed', baseMs: 100 },
    ...more,
  };
}
