/** How a browser is started: nothing of it goes around the proxy, to names, to the vendor, or ahead of a click. */
import { tmpdir } from 'node:os';
import type { IdleHandlers } from './idle-handlers.js';

/** Of a list that stands twice Chromium reads the last one alone: with ours stand those that Playwright leaves out. */
const quiet = [
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-gpu',
  '--disable-file-system',
  '--disable-notifications',
  '--disable-speech-api',
  '--disable-features=DnsOverHttps,AsyncDns,MediaRouter,OptimizationHints,Prerender2,SpeculationRulesPrefetchFuture,NetworkTimeServiceQuerying,AutofillServerCommunication,Translate,InterestFeedContentSuggestions,PrivateStateTokens,FedCm,WebUSB,WebBluetooth,DirectSockets,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,PaintHolding,ThirdPartyStoragePartitioning,AvoidUnnecessaryBeforeUnloadCheckSync,AvoidCorsURLLoaderRestartOnRedirect,DestroyProfileOnBrowserClose,SpareRendererForSitePerProcess',
  '--js-flags=--max-old-space-size=384',
  '--mute-audio',
];

/** `proxies`: the addresses that its proxies are at, the only hosts that it may find by itself. */
export function quietFlags(proxies: readonly string[]): readonly string[] {
  const reachable = proxies.map((address) => `, EXCLUDE ${address}`).join('');
  return [...quiet, `--host-resolver-rules=MAP * ~NOTFOUND${reachable}`];
}

/** Nothing of this product's own environment. */
export function browserEnvironment({ folder }: IdleHandlers): Record<string, string> {
  return { HOME: '/nonexistent', PATH: `${folder}:/usr/bin:/bin`, LANG: 'en_US.UTF-8', TMPDIR: tmpdir() };
}
