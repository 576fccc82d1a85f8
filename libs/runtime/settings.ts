/** Each setting: its name, the form of its value and what it is where nobody sets it. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import {
  addressRanges,
  addressRangesAndNames,
  authoritiesFile,
  credentialed,
  engineUrl,
  isPrivateKey,
} from './address-schemas.js';
import { eventStoreAddressFault, eventStoreSchemes } from './event-store-address.js';
import { address, list, openAddress, wholeNumber } from './setting-schemas.js';

export const roles = ['gateway', 'accounts', 'tasks', 'scheduling', 'execution', 'rendering', 'delivery'] as const;
export type ServiceRole = (typeof roles)[number];

/** Of a browser elsewhere. */
function isSocketAddress(value: string): boolean {
  return /^wss?:$/.test(URL.parse(value)?.protocol ?? '');
}

/** Of a server. */
export const settings = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  ROLES: z
    .string()
    .default('all')
    .transform((value) => (value === 'all' ? [...roles] : value.split(',').map((role) => role.trim())))
    .pipe(z.array(z.enum(roles, { error: `must be \`all\` or some of ${roles.join(',')}` })).min(1)),
  EVENT_STORE_URL: engineUrl(eventStoreSchemes, 'esdb://host:2113')
    .refine((value) => value === 'sqlite' || eventStoreAddressFault(value) === null, {
      error: ({ input }) => eventStoreAddressFault(String(input)) ?? 'cannot be used',
    })
    .default('sqlite'),
  BUS_URL: engineUrl(['kafka'], 'kafka://host:9092').default('sqlite'),
  READ_STORE_URL: engineUrl(['mongodb', 'mongodb+srv'], 'mongodb://host:27017/meerkat').default('sqlite'),
  SNAPSHOT_URL: z
    .string()
    .refine((value) => value === 'file' || value === 'mongodb' || /^file:\/\/\/[^?#]+$/.test(value), {
      error: 'must be `file`, a folder such as file:///srv/meerkat/snapshots, or `mongodb`',
    })
    .optional(),
  SNAPSHOT_KEEP_COUNT: wholeNumber(1, 10_000).default(100),
  SNAPSHOT_KEEP_DAYS: wholeNumber(1, 3_650).default(30),
  KEEP_RUNS_DAYS: wholeNumber(0, 36_500).default(30),
  KEEP_DELIVERIES_DAYS: wholeNumber(0, 36_500).default(365),
  ARCHIVE_DIR: z.string().min(1).optional(),
  OWNER_EMAIL: z.string().min(3).optional(),
  OWNER_PASSWORD: z.string().min(12, { error: 'must have at least 12 characters' }).optional(),
  OWNER_API_KEY: z.string().optional(),
  OWNER_ORGANIZATION: z.string().min(1).max(200).default('Meerkat'),
  SMTP_URL: credentialed(address(['smtp', 'smtps'], 'smtp://user:password@mail.example.com:587'), 'nothing').optional(),
  MAIL_FROM: z.string().min(3).max(500).optional(),
  MAIL_DKIM_DOMAIN: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, { error: 'must be a domain such as example.com' })
    .optional(),
  MAIL_DKIM_SELECTOR: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/, { error: 'must be a selector such as meerkat' })
    .optional(),
  MAIL_DKIM_KEY: z
    .string()
    .refine((text) => isPrivateKey(text), {
      error: 'must be a private key in PEM; MAIL_DKIM_KEY_FILE names a file of it',
    })
    .optional(),
  EGRESS_ALLOW: addressRangesAndNames.default([]),
  COMMANDS: list
    .pipe(
      z.array(
        z.string().regex(/^\/\S.*$/, { error: 'must be absolute paths of programs such as /usr/local/bin/tell' }),
      ),
    )
    .default([]),
  EGRESS_PROXY: credentialed(address(['http', 'https'], 'http://proxy.example:3128'), 'nothing').optional(),
  EGRESS_CA_FILE: authoritiesFile.optional(),
  NETWORK_PROBE_URL: openAddress(['http', 'https'], 'https://example.com/').optional(),
  MIN_INTERVAL_SECONDS: wholeNumber(1, 86_400).default(10),
  DEFAULT_PLAN: z
    .enum(['free', 'pro', 'enterprise'], { error: 'must be free, pro or enterprise' })
    .default('enterprise'),
  KEYS_SHOW_ONCE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true'),
  ANONYMOUS_PER_MINUTE: wholeNumber(1, 1_000_000).default(300),
  TRUSTED_PROXIES: addressRanges.default([]),
  EVALUATOR_SOCKETS: z
    .string()
    .regex(/^\//, { error: 'must be the path of a folder such as /run/evaluators' })
    .max(90, { error: 'must be a short path: sockets are made in it' })
    .optional(),
  EVALUATION_CPU_MS: wholeNumber(10, 60_000).default(1_000),
  EVALUATION_MEMORY_MB: wholeNumber(16, 1_024).default(64),
  EXECUTION_CONCURRENCY: wholeNumber(1, 10_000).optional(),
  BROWSER: credentialed(
    z.string().refine((value) => value === 'off' || value === 'auto' || isAbsolute(value) || isSocketAddress(value), {
      error: 'must be off, auto, the path of a browser such as /usr/bin/chromium, or ws://host:port of one elsewhere',
    }),
    'page',
  ).default('auto'),
  BROWSER_NO_SANDBOX: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true'),
  BROWSER_CONCURRENCY: wholeNumber(1, 64).default(2),
  PAGE_THREAD: z.enum(['auto', 'true', 'false'], { error: 'must be auto, true or false' }).default('auto'),
  PAGE_PARSER: z.enum(['auto', 'parse5', 'lexbor'], { error: 'must be auto, parse5 or lexbor' }).default('auto'),
  SECRET_KEY: z
    .string()
    .refine((value) => Buffer.from(value, 'base64').length === 32, {
      error: 'must be 32 bytes in base64 (make one with: openssl rand -base64 32)',
    })
    .optional(),
  INSTALLATION: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, { error: 'must be 1 to 40 of a-z 0-9 -, beginning with a letter' })
    .default('meerkat'),
  INSECURE_OK: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true'),
  PUBLIC_URL: openAddress(['http', 'https'], 'https://meerkat.example.com').optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
      error: 'must be fatal, error, warn, info, debug or trace',
    })
    .default('info'),
  LOG_FORMAT: z.enum(['pretty', 'json'], { error: 'must be pretty or json' }).optional(),
});

/** Of commands that ask a running server. */
export const clientSettings = z.object({
  MEERKAT_URL: openAddress(['http', 'https'], 'https://meerkat.example.com').optional(),
  MEERKAT_API_KEY: z.string({ error: 'must be set: an API key (mk_…)' }).regex(/^[\x21-\x7e]+$/, {
    error: 'must be an API key (mk_…)',
  }),
});
