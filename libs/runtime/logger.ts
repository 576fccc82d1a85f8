/** One structured line per decision; never bodies, code, addresses or secrets. */
import { pino } from 'pino';
import type { Config } from './config.js';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOGGER = Symbol('Logger');

export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>): Logger {
  return pino({
    level: config.logLevel,
    base: null,
    redact: ['*.authorization', '*.secret', '*.password', '*.key', '*.code'],
    ...(config.logFormat === 'pretty'
      ? {
          transport: {
            target: 'pino-pretty',
            options: { translateTime: 'HH:MM:ss', ignore: 'pid,hostname', singleLine: true },
          },
        }
      : {}),
  });
}

/** For specs and tools that say nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
