/** Which server a page came from, and what that server proved with. */
import type { CDPSession } from 'playwright-core';
import { certificateFrom, type ServerCertificate } from '#outbound/certificates';
import type { Visit } from '#outbound/filtering-proxy';

/** `host:port`, as a proxy is asked for it. */
export function authorityOf(url: string): string {
  const parsed = URL.parse(url);
  const standard = parsed?.protocol === 'https:' ? '443' : '80';
  return parsed === null ? '' : `${parsed.hostname}:${parsed.port === '' ? standard : parsed.port}`;
}

export interface ShownCertificates {
  /** To be called once the first navigation has come to a page: later ones of the same origin are taken for it. */
  note(url: string): Promise<void>;
  /** null without TLS, and where nobody tells. */
  of(url: string): ServerCertificate | null;
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? '';

/** From the proxy or from the browser, by who judges them. To be called before the first navigation. */
export async function watchCertificates(session: CDPSession, visit: Visit): Promise<ShownCertificates> {
  if (visit.judgesCertificates) {
    return { note: async () => undefined, of: (url) => visit.certificateOf(authorityOf(url)) };
  }
  // What it saw before it was asked to look, a browser does not tell.
  await session.send('Network.enable');
  const shown = new Map<string, ServerCertificate>();
  return {
    async note(url) {
      const origin = originOf(url);
      try {
        const { tableNames } = await session.send('Network.getCertificate', { origin });
        const [first] = tableNames;
        if (first !== undefined) shown.set(origin, certificateFrom(Buffer.from(first, 'base64')));
        await session.send('Network.disable');
      } catch {
        // The page went on meanwhile, or the browser tells nobody.
      }
    },
    of: (url) => shown.get(originOf(url)) ?? null,
  };
}
