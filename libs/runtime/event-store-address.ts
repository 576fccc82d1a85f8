/**
 * Addresses of EventStoreDB and KurrentDB, as their documentation writes them. They are read here and not by the client:
 * that writes the whole address, with its password, to standard error where it does not know an option.
 */
import { parseEngineAddress, type EngineAddress } from './engine-address.js';
import { nearestName } from './nearest-name.js';

export const eventStoreSchemes = ['esdb', 'kurrentdb', 'kurrent', 'kdb'].flatMap((scheme) => [
  scheme,
  `${scheme}+discover`,
]);

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface EventStoreAddress {
  readonly seeds: readonly Endpoint[];
  /** The members are asked which of them leads. Otherwise the one node named is spoken to, and whom it names as leader. */
  readonly isCluster: boolean;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** null: without TLS; user name and password are not sent then. Files of PEM. */
  readonly tls: {
    readonly authoritiesFile: string | null;
    readonly user: { readonly certificateFile: string; readonly keyFile: string } | null;
  } | null;
  readonly connectionName: string | null;
  readonly maxDiscoverAttempts: number;
  readonly discoveryIntervalMs: number;
  /** For one member to answer who leads. */
  readonly gossipTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** null: no such pings. */
  readonly keepAliveIntervalMs: number | null;
  readonly keepAliveTimeoutMs: number;
}

const defaultPort = 2_113;
const names = [
  'tls',
  'tlsCAFile',
  'tlsVerifyCert',
  'userCertFile',
  'userKeyFile',
  'connectionName',
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'nodePreference',
  'defaultDeadline',
  'keepAliveInterval',
  'keepAliveTimeout',
  'throwOnAppendFailure',
] as const;
type OptionName = (typeof names)[number];

/** Says which part cannot be used and what to write instead; never a value, which may hold a password. */
export class AddressFault extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'AddressFault';
  }
}

function endpointOf(host: string): Endpoint {
  const [, name = host, port] = /^(.*?)(?::([0-9]+))?$/.exec(host) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) throw new AddressFault(`has a port, ${number}, that is none`);
  return { host: name, port: number };
}

/** Reads the options by their names. */
class Options {
  readonly #given: ReadonlyMap<string, string>;

  constructor({ options }: EngineAddress) {
    this.#given = options;
    const known = new Set(names.map((name) => name.toLowerCase()));
    for (const name of options.keys()) {
      if (known.has(name)) continue;
      const near = nearestName(name, names);
      throw new AddressFault(`has an option \`${name}\` that is not known${near === null ? '' : `; \`${near}\` is`}`);
    }
  }

  text(name: OptionName): string | null {
    const value = this.#given.get(name.toLowerCase())?.trim();
    return value === undefined || value === '' ? null : value;
  }

  flag(name: OptionName): boolean | null {
    const value = this.text(name)?.toLowerCase() ?? null;
    if (value !== null && value !== 'true' && value !== 'false') {
      throw new AddressFault(`has an option \`${name}\` that must be true or false`);
    }
    return value === null ? null : value === 'true';
  }

  whole(name: OptionName, unit: string, fallback: number, least = 1): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const number = Number(value);
    if (/^-?[0-9]{1,9}$/.test(value) && number >= least) return number;
    throw new AddressFault(`has an option \`${name}\` that must be a whole number of ${unit}, at least ${least}`);
  }
}

function refuseWhatIsNotDone(options: Options): void {
  if (options.flag('tlsVerifyCert') === false) {
    throw new AddressFault(
      'has tlsVerifyCert=false: certificates are always verified; name the authority that signed them with tlsCAFile',
    );
  }
  const preference = options.text('nodePreference');
  if (preference !== null && preference.toLowerCase() !== 'leader') {
    throw new AddressFault(
      'has a nodePreference other than leader: only the leader knows all that was written; leave it out',
    );
  }
  if (options.flag('throwOnAppendFailure') === false) {
    throw new AddressFault('has throwOnAppendFailure=false, which changes nothing here; leave it out');
  }
}

/** Throws `AddressFault`. */
export function parseEventStoreAddress(url: string): EventStoreAddress {
  const address = parseEngineAddress(url.trim());
  if (address === null || !eventStoreSchemes.includes(address.scheme)) {
    throw new AddressFault('must look like esdb://user:password@host:2113?tls=true');
  }
  const options = new Options(address);
  refuseWhatIsNotDone(options);
  const { username, password, hosts, scheme } = address;
  if ((username === null) !== (password === null)) throw new AddressFault('has a user name without a password');
  const [certificateFile, keyFile] = [options.text('userCertFile'), options.text('userKeyFile')];
  if ((certificateFile === null) !== (keyFile === null)) {
    throw new AddressFault('needs userCertFile and userKeyFile together');
  }
  const keepAliveInterval = options.whole('keepAliveInterval', 'milliseconds (-1: never)', 10_000, -1);
  const tls =
    options.flag('tls') === false
      ? null
      : {
          authoritiesFile: options.text('tlsCAFile'),
          user: certificateFile === null || keyFile === null ? null : { certificateFile, keyFile },
        };
  return {
    seeds: hosts.map(endpointOf),
    isCluster: scheme.endsWith('+discover') || hosts.length > 1,
    credentials: username === null || password === null ? null : { username, password },
    tls,
    connectionName: options.text('connectionName'),
    maxDiscoverAttempts: options.whole('maxDiscoverAttempts', 'attempts', 10),
    discoveryIntervalMs: options.whole('discoveryInterval', 'milliseconds', 100),
    gossipTimeoutMs: options.whole('gossipTimeout', 'seconds', 5) * 1_000,
    callTimeoutMs: options.whole('defaultDeadline', 'milliseconds', 10_000),
    keepAliveIntervalMs: keepAliveInterval < 0 ? null : keepAliveInterval,
    keepAliveTimeoutMs: options.whole('keepAliveTimeout', 'milliseconds', 10_000),
  };
}

/** What is wrong with an address; null: nothing. */
export function eventStoreAddressFault(url: string): string | null {
  try {
    parseEventStoreAddress(url);
    return null;
  } catch (error) {
    if (error instanceof AddressFault) return error.message;
    throw error;
  }
}
