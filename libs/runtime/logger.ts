/** One structured line per decision; never bodies, code, addresses or secrets. */
import { createRequire } from 'node:module';
import { pino, type DestinationStream } from 'pino';
import type { PinoPretty } from 'pino-pretty';
import type { Config } from './config.js';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOGGER = Symbol('Logger');

/**
 * For people at a terminal. Loaded only there, and written by this thread: a transport of pino's is a thread whose file lies
 * beside pino's own, where it is not once the product is one file. Written at once, so that the last lines are not lost.
 */
function linesForPeople(): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  return pretty({ translateTime: 'HH:MM:ss', ignore: 'pid,hostname', singleLine: true, sync: true });
}

export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>): Logger {
  const options = {
    level: config.logLevel,
    base: null,
    redact: ['*.authorization', '*.secret', '*.password', '*.key', '*.code'],
  };
  return config.logFormat === 'pretty' ? pino(options, linesForPeople()) : pino(options);
}

/** For specs and tools that say nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
