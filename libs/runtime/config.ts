/** Settings: the only reader of the environment. Parsed once at start, refused with a sentence that says what to set. */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { parseEngineAddress, unsafeIn } from './engine-address.js';
import { nearestName } from './nearest-name.js';
import { readOidcProviders, type OidcProvider } from './oidc-settings.js';
import { ownAddress } from './own-address.js';
import { withFiles, type Environment } from './setting-schemas.js';
import { clientSettings, roles, settings, type ServiceRole } from './settings.js';

/** A setting that cannot be used: the process ends with exit code 78. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`Settings are not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const defaultPort = 3_000;
/** With fewer, what a thread for pages costs is more than what it gives. */
const coresOfPageThread = 3;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Whether this process listens: with a gateway always, without one where PORT is set, for probes and metrics. */
  readonly listens: boolean;
  /** Absolute. */
  readonly dataDir: string;
  readonly roles: readonly ServiceRole[];
  readonly eventStoreUrl: string;
  readonly busUrl: string;
  readonly readStoreUrl: string;
  /** `file`: in DATA_DIR, for one process; `file:///…`: a folder, shared or not; `mongodb`: beside the views. */
  readonly snapshotUrl: string;
  /** Of each task. */
  readonly snapshotKeepCount: number;
  readonly snapshotKeepDays: number;
  /** Full records of checks and of deliveries; 0: for ever. */
  readonly keepRunsDays: number;
  readonly keepDeliveriesDays: number;
  /** Absolute; null: folded days are archived nowhere. */
  readonly archiveDir: string | null;
  readonly owner: {
    readonly email: string;
    readonly password: string;
    readonly apiKey: string | null;
    readonly organization: string;
  } | null;
  readonly smtpUrl: string | null;
  /** What is secret may pass over connections that are not encrypted. */
  readonly insecureOk: boolean;
  readonly mailFrom: string;
  /** Signs mails; null: nobody does here. */
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null;
  readonly egressAllow: readonly string[];
  /** Programs of this machine that actions may run; empty: none. */
  readonly commands: readonly string[];
  readonly egressProxyUrl: string | null;
  /** PEM of further authorities that pages and receivers may be signed by. */
  readonly egressAuthorities: string | null;
  /** Its answer tells whether this network is the one that is down. */
  readonly networkProbeUrl: string | null;
  readonly minIntervalSeconds: number;
  readonly defaultPlan: 'free' | 'pro' | 'enterprise';
  readonly oidcProviders: readonly OidcProvider[];
  /** Keys cannot be seen again. */
  readonly keysShowOnce: boolean;
  readonly anonymousPerMinute: number;
  readonly trustedProxies: readonly string[];
  /** The folder of the sockets of evaluators in another container; null: they are processes of this one. */
  readonly evaluatorSockets: string | null;
  readonly evaluationCpuMs: number;
  readonly evaluationMemoryMb: number;
  readonly executionConcurrency: number;
  /** `off`, `auto` or a path. */
  readonly browser: string;
  /** Chromium runs without its own sandbox. */
  readonly browserNoSandbox: boolean;
  /** Pages that are rendered at once in one process. */
  readonly browserConcurrency: number;
  /** Whether pages have a thread of their own. */
  readonly pageThread: boolean;
  readonly pageParser: 'auto' | 'parse5' | 'lexbor';
  /** null: made and kept in DATA_DIR. */
  readonly secretKey: Buffer | null;
  readonly installation: string;
  /** Where people reach this instance, for links; null: what it listens on. */
  readonly publicUrl: string | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';
  readonly logFormat: 'pretty' | 'json';
  /** What is probably not as the operator meant it, in sentences. */
  readonly warnings: readonly string[];
}

export const CONFIG = Symbol('Config');

/** Where people reach this instance: PUBLIC_URL, or what it listens on, which is known once it listens. */
export interface PublicAddress {
  /** Without a slash at its end. Rejects where the process ends before it listens. */
  baseUrl(): Promise<string>;
}

export const PUBLIC_ADDRESS = Symbol('PublicAddress');

/** Names in `.env` that no setting has, but nearly: what they say is not heard. */
function misspelled(folder: string): readonly string[] {
  const envFile = resolve(folder, '.env');
  if (!existsSync(envFile)) return [];
  const known = [...Object.keys(settings.shape), ...Object.keys(clientSettings.shape)];
  const all = new Set(known.flatMap((name) => [name, `${name}_FILE`]));
  const unknown = Object.keys(parseEnv(readFileSync(envFile, 'utf8'))).filter(
    (name) => !all.has(name) && !name.startsWith('OIDC_'),
  );
  return unknown.flatMap((name) => {
    const nearest = nearestName(name.replace(/_FILE$/, ''), known);
    return nearest === null ? [] : [`${envFile} has ${name}, which is no setting; did you mean ${nearest}?`];
  });
}

/** What `.env` in the folder says. */
function environmentIn(folder: string): Environment {
  const envFile = resolve(folder, '.env');
  return existsSync(envFile) ? parseEnv(readFileSync(envFile, 'utf8')) : {};
}

/**
 * The values of a schema's variables, from the environment and from `.env` in the folder below it. What cannot be used is told in
 * `faults`, and is left out of the values, so that what else is wrong is found too. Throws where one has to be there.
 */
function readSettings<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment,
  folder: string,
  faults: string[],
): z.output<z.ZodObject<Shape>> {
  const all = { ...environmentIn(folder), ...environment };
  const given = withFiles(Object.keys(schema.shape), all, faults);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    const fault = `${String(path[0])}: ${message}.`;
    if (!faults.includes(fault)) faults.push(fault);
    delete given[String(path[0])];
  }
  const others = schema.safeParse(given);
  if (others.success) return others.data;
  throw new ConfigError(faults);
}

/** Where commands that ask a running server find it. */
export interface ClientSettings {
  readonly url: string;
  readonly apiKey: string;
}

/** Where a server with these settings is reached from its own machine. */
function listenedOn(environment: Environment, folder: string, faults: string[]): string {
  const { HOST, PORT } = readSettings(settings.pick({ HOST: true, PORT: true }), environment, folder, faults);
  // Of port 0 nobody knows which one it became.
  return ownAddress({ publicUrl: null, host: HOST }, PORT === undefined || PORT === 0 ? defaultPort : PORT);
}

/** What commands that ask a running server need, and nothing else of what a server needs. Throws `ConfigError`. */
export function readClientSettings(
  environment: Environment = process.env,
  folder: string = process.cwd(),
): ClientSettings {
  const faults: string[] = [];
  const values = readSettings(clientSettings, environment, folder, faults);
  const url = values.MEERKAT_URL ?? listenedOn(environment, folder, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return { url, apiKey: values.MEERKAT_API_KEY };
}

/** Variables that a user's own files name, as configuration files do. */
export function readVariables(): Environment {
  return { ...process.env };
}

/** Stands in the README, and is for trying things out on one's own machine. */
const exampleApiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

const engineVariables = ['EVENT_STORE_URL', 'BUS_URL', 'READ_STORE_URL'] as const;

/** What passes between machines is readable, or open to anybody, unless the operator says that the network is trusted. */
function unsafeEngines(values: Readonly<Record<(typeof engineVariables)[number], string>>): readonly string[] {
  return engineVariables.flatMap((variable) => {
    const engine = parseEngineAddress(values[variable]);
    if (engine === null) return [];
    const unsafe = unsafeIn(engine);
    if (unsafe.length === 0) return [];
    const hosts = engine.hosts.join(', ');
    return [
      `${variable}: ${hosts} would be reached ${unsafe.join(' and ')}; or set INSECURE_OK=true on a trusted network.`,
    ];
  });
}

/** Who stands between could say who signs in. */
function unsafeProviders(providers: readonly OidcProvider[]): readonly string[] {
  return providers
    .filter(({ issuer }) => issuer.startsWith('http:') && !isLoopback(new URL(issuer).hostname))
    .map(
      ({ id }) =>
        `OIDC_${id.toUpperCase()}_ISSUER: must begin with https:// (or set INSECURE_OK=true on a trusted network).`,
    );
}

type Values = z.output<typeof settings>;
type Variable = keyof typeof settings.shape;

/** Values that do not go together. Where one of them has a fault of its own, nothing is known of the others. */
function contradictions(
  values: Values,
  oidcProviders: readonly OidcProvider[],
  faults: readonly string[],
): readonly string[] {
  const isSound = (name: Variable): boolean =>
    !faults.some((fault) => fault.startsWith(`${name}:`) || fault.startsWith(`${name}_FILE:`));
  const found: string[] = [];
  const refuse = (among: readonly Variable[], isWrong: boolean, fault: string): void => {
    if (isWrong && among.every(isSound)) found.push(fault);
  };
  const engines = [values.EVENT_STORE_URL, values.BUS_URL, values.READ_STORE_URL];
  const isEmbedded = engines.includes('sqlite');
  refuse(
    ['ROLES', ...engineVariables],
    values.ROLES.length < roles.length && isEmbedded,
    'ROLES: split roles need servers: set EVENT_STORE_URL, BUS_URL and READ_STORE_URL, or leave ROLES at `all`.',
  );
  refuse(
    ['SNAPSHOT_URL', 'READ_STORE_URL'],
    values.SNAPSHOT_URL === 'mongodb' && values.READ_STORE_URL === 'sqlite',
    'SNAPSHOT_URL: `mongodb` is beside the views, so READ_STORE_URL must name a MongoDB; or set it to file.',
  );
  refuse(
    ['SNAPSHOT_URL', ...engineVariables],
    values.SNAPSHOT_URL === 'file' && !isEmbedded,
    'SNAPSHOT_URL: `file` is for one process; set it to mongodb, or to a shared folder (file:///…).',
  );
  refuse(
    ['SECRET_KEY', ...engineVariables],
    !isEmbedded && values.SECRET_KEY === undefined,
    'SECRET_KEY: must be set, the same for every process, where no part is embedded (make one with: openssl rand -base64 32).',
  );
  if (!values.INSECURE_OK && isSound('INSECURE_OK')) {
    found.push(...unsafeEngines(values), ...unsafeProviders(oidcProviders));
  }
  const dkim = [values.MAIL_DKIM_DOMAIN, values.MAIL_DKIM_SELECTOR, values.MAIL_DKIM_KEY];
  refuse(
    ['MAIL_DKIM_DOMAIN', 'MAIL_DKIM_SELECTOR', 'MAIL_DKIM_KEY'],
    new Set(dkim.map((value) => value === undefined)).size > 1,
    'MAIL_DKIM_DOMAIN: goes with MAIL_DKIM_SELECTOR and MAIL_DKIM_KEY; set all three or none.',
  );
  refuse(
    ['OWNER_EMAIL', 'OWNER_PASSWORD'],
    (values.OWNER_EMAIL === undefined) !== (values.OWNER_PASSWORD === undefined),
    'OWNER_EMAIL: needs OWNER_PASSWORD, and the other way round.',
  );
  refuse(
    ['OWNER_API_KEY', 'OWNER_EMAIL'],
    values.OWNER_API_KEY !== undefined && values.OWNER_EMAIL === undefined,
    'OWNER_API_KEY: needs OWNER_EMAIL and OWNER_PASSWORD.',
  );
  refuse(
    ['OWNER_API_KEY', 'HOST'],
    values.OWNER_API_KEY === exampleApiKey && !isLoopback(values.HOST),
    'OWNER_API_KEY: is the example of the documentation, which everybody knows; make one of your own.',
  );
  return found;
}

/** As `readConfig`, but for some variables: for commands that take those variables from their arguments. Throws `ConfigError`. */
export function readConfigWith(values: Readonly<Record<string, string>>): Config {
  const environment: Record<string, string | undefined> = { ...process.env };
  for (const [name, value] of Object.entries(values)) {
    environment[name] = value;
    environment[`${name}_FILE`] = '';
  }
  return readConfig(environment);
}

/** Reads the environment, and `.env` in the working folder below it. `only` stands in place of ROLES. Throws `ConfigError`. */
export function readConfig(
  environment: Environment = process.env,
  folder: string = process.cwd(),
  only?: readonly ServiceRole[],
): Config {
  const faults: string[] = [];
  const oidcProviders = readOidcProviders({ ...environmentIn(folder), ...environment }, faults);
  const named = only === undefined ? environment : { ...environment, ROLES: only.join(',') };
  const values = readSettings(settings, named, folder, faults);
  const snapshotUrl = values.SNAPSHOT_URL ?? (values.READ_STORE_URL === 'sqlite' ? 'file' : 'mongodb');
  faults.push(...contradictions({ ...values, SNAPSHOT_URL: snapshotUrl }, oidcProviders, faults));
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    host: values.HOST,
    port: values.PORT ?? defaultPort,
    listens: values.ROLES.includes('gateway') || values.PORT !== undefined,
    dataDir: resolve(folder, values.DATA_DIR),
    roles: values.ROLES,
    eventStoreUrl: values.EVENT_STORE_URL,
    busUrl: values.BUS_URL,
    readStoreUrl: values.READ_STORE_URL,
    snapshotUrl,
    snapshotKeepCount: values.SNAPSHOT_KEEP_COUNT,
    snapshotKeepDays: values.SNAPSHOT_KEEP_DAYS,
    keepRunsDays: values.KEEP_RUNS_DAYS,
    keepDeliveriesDays: values.KEEP_DELIVERIES_DAYS,
    archiveDir: values.ARCHIVE_DIR === undefined ? null : resolve(values.ARCHIVE_DIR),
    owner:
      values.OWNER_EMAIL === undefined || values.OWNER_PASSWORD === undefined
        ? null
        : {
            email: values.OWNER_EMAIL,
            password: values.OWNER_PASSWORD,
            apiKey: values.OWNER_API_KEY ?? null,
            organization: values.OWNER_ORGANIZATION,
          },
    smtpUrl: values.SMTP_URL ?? null,
    insecureOk: values.INSECURE_OK,
    mailFrom: values.MAIL_FROM ?? 'Meerkat <meerkat@localhost>',
    dkim:
      values.MAIL_DKIM_DOMAIN === undefined ||
      values.MAIL_DKIM_SELECTOR === undefined ||
      values.MAIL_DKIM_KEY === undefined
        ? null
        : {
            domain: values.MAIL_DKIM_DOMAIN,
            selector: values.MAIL_DKIM_SELECTOR,
            privateKey: values.MAIL_DKIM_KEY,
          },
    egressAllow: values.EGRESS_ALLOW,
    commands: values.COMMANDS,
    egressProxyUrl: values.EGRESS_PROXY ?? null,
    egressAuthorities: values.EGRESS_CA_FILE ?? null,
    networkProbeUrl: values.NETWORK_PROBE_URL ?? null,
    minIntervalSeconds: values.MIN_INTERVAL_SECONDS,
    defaultPlan: values.DEFAULT_PLAN,
    oidcProviders,
    keysShowOnce: values.KEYS_SHOW_ONCE,
    anonymousPerMinute: values.ANONYMOUS_PER_MINUTE,
    trustedProxies: values.TRUSTED_PROXIES,
    evaluatorSockets: values.EVALUATOR_SOCKETS ?? null,
    evaluationCpuMs: values.EVALUATION_CPU_MS,
    evaluationMemoryMb: values.EVALUATION_MEMORY_MB,
    browser: values.BROWSER,
    browserNoSandbox: values.BROWSER_NO_SANDBOX,
    browserConcurrency: values.BROWSER_CONCURRENCY,
    pageParser: values.PAGE_PARSER,
    pageThread:
      values.PAGE_THREAD === 'auto' ? availableParallelism() >= coresOfPageThread : values.PAGE_THREAD === 'true',
    executionConcurrency: values.EXECUTION_CONCURRENCY ?? availableParallelism() * 8,
    secretKey: values.SECRET_KEY === undefined ? null : Buffer.from(values.SECRET_KEY, 'base64'),
    installation: values.INSTALLATION,
    publicUrl: values.PUBLIC_URL ?? null,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json'),
    warnings: misspelled(folder),
  };
}
