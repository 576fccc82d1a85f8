/** The one entry: settings, parts, the services of this process, and an orderly end. */
import 'reflect-metadata';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppError, unreachable } from '#runtime/errors';
import { shownAddress } from '#runtime/engine-address';
import { ConfigError, readConfig, type Config } from '#runtime/config';
import { ownAddress } from '#runtime/own-address';
import { roles, type ServiceRole } from '#runtime/settings';
import { watchEventLoop } from '#runtime/event-loop';
import { ignoreInspectorSignal } from '#runtime/inspector-signal';
import { createLogger, type Logger } from '#runtime/logger';
import type { SetupLink } from '../accounts/service.js';
import { findBrowser, type BrowserPlace } from '#page-loader/browser/find-browser';
import { openPorts, portsModule } from './composition.js';
import { leaveAddress } from './left-address.js';
import { embedded, pageParserOf } from './page-parts.js';
import { EventsAltered, sayFault } from './integrity.js';
import { version } from './version.js';
import { ServerUnreachable } from './wait-for-server.js';

const exitCodes = {
  done: 0,
  defect: 1,
  alteredEvents: 65,
  unreachableServer: 75,
  unusableSettings: 78,
  interrupted: 130,
} as const;
/** Work in progress gets this long after a signal. */
const drainMs = 25_000;

async function moduleOf(role: ServiceRole): Promise<DynamicModule['module']> {
  switch (role) {
    case 'accounts':
      return (await import('../accounts/accounts.module.js')).AccountsModule;
    case 'tasks':
      return (await import('../tasks/tasks.module.js')).TasksModule;
    case 'scheduling':
      return (await import('../scheduling/scheduling.module.js')).SchedulingModule;
    case 'execution':
      return (await import('../execution/execution.module.js')).ExecutionModule;
    case 'rendering':
      return (await import('../execution/rendering.module.js')).RenderingModule;
    case 'delivery':
      return (await import('../delivery/delivery.module.js')).DeliveryModule;
    case 'gateway':
      return (await import('../gateway/gateway.module.js')).GatewayModule;
    default:
      return unreachable(role);
  }
}

export interface Running {
  /** Where this process listens; null where it does not. */
  readonly url: string | null;
  /** Where to set this instance up; null once that is done. */
  readonly setupLink: string | null;
  /** Drains and closes; twice is once. */
  stop(): Promise<void>;
}

/** Runs the services that `config.roles` names. Rejects with `ConfigError` where a setting or a part cannot be used. */
export async function run(config: Config, logger: Logger): Promise<Running> {
  const ports = await openPorts(config, logger);
  let application: INestApplicationContext | null = null;
  const known = Promise.withResolvers<string>();
  // Each await of it rejects; without one the failure is no unhandled rejection.
  known.promise.catch(() => undefined);
  const address = { baseUrl: () => known.promise };
  try {
    const services = await Promise.all(config.roles.map(moduleOf));
    const { builtViews, resetRewoundViews } = await import('./projections.js');
    const { createContentPurger } = await import('./purge.js');
    await resetRewoundViews({ ...ports, logger });
    if (config.listens && !config.roles.includes('gateway')) {
      services.push((await import('../gateway/probes.module.js')).ProbesModule);
    }
    class Root {}
    const root: DynamicModule = {
      module: Root,
      imports: [
        portsModule(
          config,
          logger,
          { ...ports, builtViews: builtViews(ports), purger: createContentPurger(ports) },
          address,
        ),
        ...services,
      ],
    };
    let url: string | null = null;
    if (config.listens) {
      const { createHttpApplication } = await import('#http/application');
      const http = await createHttpApplication(root);
      application = http;
      await http.listen(config.port, config.host);
      const { port } = http.getHttpServer().address() as { readonly port: number };
      url = ownAddress(config, port);
      if (embedded(config) && config.roles.includes('gateway')) leaveAddress(config, url);
    } else {
      application = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    }
    known.resolve(url ?? ownAddress(config, config.port));
    const started = application;
    const stop = async (): Promise<void> => {
      loopWatch.stop();
      ports.busAdmin.drain();
      await started.close();
      await ports.close();
    };
    await ports.busAdmin.ready();
    let stopping: Promise<void> | null = null;
    const setupLink = await findSetupLink(started, config, await address.baseUrl());
    // Not before: nothing waits yet while the code is loaded.
    const loopWatch = watchEventLoop(logger);
    return { url, setupLink, stop: () => (stopping ??= stop()) };
  } catch (error) {
    known.reject(error);
    await application?.close();
    await ports.close();
    if (isAddressFault(error)) {
      const variable = error.code === 'EADDRINUSE' || error.code === 'EACCES' ? 'PORT' : 'HOST';
      throw new ConfigError([
        `${variable}: cannot listen on ${config.host}:${config.port} (${error.code}); set another.`,
      ]);
    }
    throw error;
  }
}

function isAddressFault(error: unknown): error is NodeJS.ErrnoException {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
}

async function findSetupLink(
  application: INestApplicationContext,
  config: Config,
  url: string,
): Promise<string | null> {
  if (!config.roles.includes('accounts')) return null;
  const { SETUP_LINK } = await import('../accounts/service.js');
  return application.get<SetupLink>(SETUP_LINK, { strict: false })(url);
}

function shownBrowser(place: BrowserPlace): string {
  if (!place.ok) return `none: ${place.why}`;
  if ('endpoint' in place) return shownAddress(place.endpoint);
  return `${place.executablePath}${place.hasSandbox ? '' : ', without its own sandbox (BROWSER_NO_SANDBOX)'}`;
}

function banner(config: Config, { url, setupLink }: Running): string {
  const part = (name: string, address: string): string =>
    `  ${name.padEnd(12)} ${address === 'sqlite' ? `SQLite in ${config.dataDir}` : shownAddress(address)}`;
  const services = config.roles.length === roles.length ? '' : ` (${config.roles.join(', ')})`;
  return [
    `Meerkat ${version}${services} is ready${url === null ? '' : ` at ${url}`}`,
    part('events', config.eventStoreUrl),
    part('bus', config.busUrl),
    part('views', config.readStoreUrl),
    `  ${'pages'.padEnd(12)} ${pageParserOf(config) === 'lexbor' ? 'lexbor' : 'parse5 (npm run build:parser makes a faster parser)'}`,
    `  ${'browser'.padEnd(12)} ${shownBrowser(findBrowser(config))}`,
    `  ${'mail'.padEnd(12)} ${config.smtpUrl === null ? 'off (set SMTP_URL to send e-mail)' : new URL(config.smtpUrl).host}`,
    ...(config.publicUrl === null && url !== null
      ? [`  ${'links'.padEnd(12)} begin with ${url} (set PUBLIC_URL to where other machines reach this one)`]
      : []),
    ...(url === null || !config.roles.includes('gateway') ? [] : [`  ${'API'.padEnd(12)} ${url}/docs`]),
    ...(setupLink === null ? [] : ['', `  Set it up once, here: ${setupLink}`]),
    '',
  ].join('\n');
}

function refuse(error: unknown, logger: Logger | null): never {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.unusableSettings);
  }
  if (error instanceof EventsAltered) {
    const faults = error.faults.map(sayFault);
    logger?.error({ faults }, 'cannot start: the stored events are not as they were written');
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.alteredEvents);
  }
  if (error instanceof ServerUnreachable) {
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.unreachableServer);
  }
  if (error instanceof AppError && error.code === 'SERVER_ERROR') {
    process.stderr.write(`Cannot start: ${error.message}\n`);
    process.exit(exitCodes.unreachableServer);
  }
  if (logger === null) process.stderr.write(`${String(error)}\n`);
  else logger.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'cannot start');
  process.exit(exitCodes.defect);
}

/** A terminal sends a signal to every process of its group and npm sends it once more: so close together they are one. */
const sameRequestMs = 2_000;

/** The first request stops, the second says what is waited for, the third ends at once. */
function onStopSignals(stop: (signal: string) => void, log: Logger): void {
  let requests = 0;
  let lastAtMs = -Infinity;
  const receive = (signal: string): void => {
    const nowMs = performance.now();
    if (nowMs - lastAtMs < sameRequestMs) return;
    lastAtMs = nowMs;
    requests += 1;
    if (requests === 1) return stop(signal);
    if (requests > 2) process.exit(exitCodes.interrupted);
    log.warn({ signal }, 'still finishing work in progress; the same signal once more ends it at once');
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, receive);
}

/** Runs the product until a signal: what `npm start` and each service's own entry call. Ends the process. */
export async function start(only?: readonly ServiceRole[]): Promise<void> {
  ignoreInspectorSignal();
  let logger: Logger | null = null;
  try {
    const config = readConfig(undefined, undefined, only);
    logger = createLogger(config);
    const log = logger;
    for (const warning of config.warnings) log.warn({}, warning);
    const running = await run(config, log);
    const stop = (signal: string): void => {
      log.info({ signal }, 'stopping: no new work, finishing work in progress');
      const late = setTimeout(() => {
        log.warn({}, `work in progress was not finished within ${drainMs / 1_000} s; the next start takes it up again`);
        process.exit(exitCodes.done);
      }, drainMs);
      running.stop().then(
        () => {
          clearTimeout(late);
          process.exit(exitCodes.done);
        },
        (error: unknown) => refuse(error, log),
      );
    };
    onStopSignals(stop, log);
    process.stdout.write(banner(config, running));
  } catch (error) {
    refuse(error, logger);
  }
}
