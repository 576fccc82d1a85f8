/** What of the Compose specification the files of this repository use. A key that is not named here is a mistake. */
import { z } from 'zod';
import { readYaml } from './yaml.js';

const duration = z.string().regex(/^(?:[0-9]+(?:ms|s|m|h))+$/);
const text = z.string().min(1);
const environment = z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string());

const service = z.strictObject({
  extends: z.strictObject({ file: text, service: text }).optional(),
  image: text.optional(),
  build: z
    .strictObject({
      context: text,
      dockerfile: text,
      target: text.optional(),
      args: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  command: z.array(text).optional(),
  user: text.optional(),
  environment: environment.default({}),
  secrets: z.array(text).default([]),
  volumes: z.array(text).default([]),
  tmpfs: z.array(text).default([]),
  ports: z.array(text).default([]),
  networks: z
    .union([
      z.array(text).transform((names) => names),
      z
        .record(text, z.strictObject({ aliases: z.array(text) }).nullable())
        .transform((named): string[] => Object.keys(named)),
    ])
    .default([]),
  network_mode: z.literal('none').optional(),
  depends_on: z
    .record(
      text,
      z.strictObject({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
      }),
    )
    .default({}),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], text),
      interval: duration,
      timeout: duration,
      retries: z.int().positive(),
      start_period: duration,
      start_interval: duration,
    })
    .optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(text).default([]),
  security_opt: z.array(text).default([]),
  logging: z.strictObject({ driver: text, options: z.record(z.string(), z.string()).optional() }).optional(),
  stop_grace_period: duration.optional(),
  deploy: z
    .strictObject({
      resources: z.strictObject({
        limits: z.strictObject({
          cpus: z.string().regex(/^[0-9]+(?:\.[0-9]+)?$/),
          memory: z.string().regex(/^[0-9]+[mg]$/),
          pids: z.int().positive(),
        }),
      }),
    })
    .optional(),
});

const composeFile = z
  .looseObject({
    name: text.optional(),
    services: z.record(text, service),
    networks: z.record(text, z.strictObject({ internal: z.boolean() }).nullable()).default({}),
    volumes: z.record(text, z.null()).default({}),
    secrets: z.record(text, z.strictObject({ file: text })).default({}),
  })
  .superRefine((file, context) => {
    for (const key of Object.keys(file)) {
      const isKnown = ['name', 'services', 'networks', 'volumes', 'secrets'].includes(key) || key.startsWith('x-');
      if (!isKnown) context.addIssue({ code: 'custom', path: [key], message: 'is no key of a compose file here' });
    }
  });

export type Service = z.output<typeof service>;
export type ComposeFile = z.output<typeof composeFile>;

/** Throws where it is not what Compose takes. */
export function readCompose(source: string): ComposeFile {
  return composeFile.parse(readYaml(source));
}

/** A value as Compose makes it where of all variables only `given` are set. Throws where one that must be set is not. */
export function interpolated(value: string, given: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$\{([A-Z][A-Z0-9_]*)(?::([-?])([^}]*))?\}/g, (_all, name: string, sign: string, rest) => {
    const found = given[name];
    if (found !== undefined && found !== '') return found;
    if (sign === '?') throw new Error(`${name} must be set: ${String(rest)}`);
    return sign === '-' ? String(rest) : '';
  });
}
