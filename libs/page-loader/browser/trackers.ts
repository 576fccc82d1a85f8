/** Hosts that follow visitors and show nothing of a page: not asked where `browser.block` has `trackers`. A small list of ours. */
const hosts: ReadonlySet<string> = new Set([
  'google-analytics.com',
  'googletagmanager.com',
  'googleadservices.com',
  'googlesyndication.com',
  'doubleclick.net',
  'connect.facebook.net',
  'analytics.tiktok.com',
  'bat.bing.com',
  'clarity.ms',
  'hotjar.com',
  'hotjar.io',
  'mixpanel.com',
  'segment.io',
  'segment.com',
  'amplitude.com',
  'fullstory.com',
  'heapanalytics.com',
  'mouseflow.com',
  'scorecardresearch.com',
  'quantserve.com',
  'criteo.com',
  'criteo.net',
  'taboola.com',
  'outbrain.com',
  'adnxs.com',
  'adsrvr.org',
  'rubiconproject.com',
  'pubmatic.com',
  'ads-twitter.com',
  'snap.licdn.com',
  'px.ads.linkedin.com',
  'mc.yandex.ru',
  'matomo.cloud',
  'plausible.io',
  'nr-data.net',
  'newrelic.com',
  'chartbeat.com',
  'chartbeat.net',
  'optimizely.com',
  'branch.io',
  'adjust.com',
  'appsflyer.com',
]);

/** Itself or below one of the list. */
export function isTracker(hostname: string): boolean {
  for (let name = hostname; name !== ''; name = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '') {
    if (hosts.has(name)) return true;
  }
  return false;
}
