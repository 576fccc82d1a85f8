import { describe, expect, it } from '@jest/globals';
import { createOutbound } from '#outbound/undici';
import { createHttpPageLoader } from './http.js';
import { describePageLoader } from './page-loader.contract.js';

describePageLoader('http', 'http', ({ egressAllow = [], limits = {}, ...options }) => {
  const outbound = createOutbound({ egressAllow, egressProxyUrl: null, userAgent: 'Spec/1.0', limits });
  const loader = createHttpPageLoader(outbound, options);
  return {
    loader,
    async close() {
      await loader.close();
      await outbound.close();
    },
  };
});

describe('the HTTP page loader', () => {
  it('reports that it has no browser', async () => {
    const outbound = createOutbound({ egressAllow: [], egressProxyUrl: null, userAgent: 'Spec/1.0' });
    const loader = createHttpPageLoader(outbound);
    const page = await loader.load({
      url: 'http://example.com/',
      mode: 'browser',
      method: 'GET',
      headers: {},
      body: null,
      timeoutMs: 1_000,
      maxBytes: 1_000,
      followRedirects: true,
      acceptStatus: ['2xx'],
      userAgent: null,
      proxyUrl: null,
      retry: { attempts: 2, strategy: 'fixed', baseMs: 1 },
    });
    expect(page).toMatchObject({ ok: false, reason: 'browser_unavailable', attempts: 0 });
    await loader.close();
    await outbound.close();
  });
});
