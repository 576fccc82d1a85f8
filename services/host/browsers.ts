/** Browsers for the services of other containers: neither stores nor keys are opened here. */
import { startBrowserHost, type BrowserHost } from '#page-loader/browser/browser-host';
import { findBrowser } from '#page-loader/browser/find-browser';
import { ConfigError, type Config } from '#runtime/config';
import { createLogger } from '#runtime/logger';

/** Of one browser with all its processes. */
const mostMemoryBytes = 768 * 1024 * 1024;

export async function hostBrowsers(config: Config): Promise<BrowserHost> {
  const place = findBrowser(config);
  if (!place.ok) throw new ConfigError([`BROWSER: ${place.why}.`]);
  if ('endpoint' in place)
    throw new ConfigError(['BROWSER: names a browser elsewhere; this process starts them itself.']);
  const { executablePath, hasSandbox } = place;
  const { host, port, browserConcurrency: mostProcesses } = config;
  const logger = createLogger(config);
  return startBrowserHost({ executablePath, hasSandbox, host, port, mostProcesses, mostMemoryBytes, logger });
}
