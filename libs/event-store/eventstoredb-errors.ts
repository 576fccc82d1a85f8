/** What the server's errors mean to callers: it is away, it refuses, or another member leads. */
import { status } from '@grpc/grpc-js';
import { ErrorType, isCommandError } from '@eventstore/db-client';
import type { Endpoint } from '#runtime/event-store-address';
import { NoLeader } from './eventstoredb-discovery.js';

/** A call that took too long, or was cut off: what it did is not known. */
export class Lost extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'Lost';
  }
}

/** What another try will not mend: access refused, a stream deleted behind our back, an argument the server does not take. */
export class Refused extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'Refused';
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const codeOf = (error: unknown): unknown => property(error, 'code');

/** Of an error as gRPC hands it over, wrapped by the client or not: what the server says besides, by its name. */
function told(error: unknown, name: string): string | null {
  const metadata = property(property(error, '_raw') ?? error, 'metadata');
  const get = property(metadata, 'get');
  if (typeof get !== 'function') return null;
  const [value] = Reflect.apply(get, metadata, [name]) as readonly (string | Buffer)[];
  return value === undefined ? null : value.toString();
}

const exceptionOf = (error: unknown): string | null =>
  error instanceof Error && isCommandError(error) ? error.type : told(error, 'exception');

/** Where the server says that it does not lead: whom it takes for the leader, null where it knows none. */
export function namedLeader(error: unknown): { readonly leader: Endpoint | null } | null {
  if (exceptionOf(error) !== ErrorType.NOT_LEADER) return null;
  const [host, port] = [told(error, 'leader-endpoint-host'), Number(told(error, 'leader-endpoint-port'))];
  return { leader: host === null || !(port > 0) ? null : { host, port } };
}

export const deniedUser =
  'the user of EVENT_STORE_URL may not do this: it needs a user in $admins, or one that the ACL of $all names in `$r`; who names no user, or does not use TLS, may do nothing (see "Rights" in docs/distributed.md)';

/** What refuses the user: in words that say what to do. null: something else. */
function refusedUser(error: unknown): string | null {
  const code = codeOf(error);
  if (code === status.UNAUTHENTICATED) {
    return 'the user name and password of EVENT_STORE_URL are not right, or missing';
  }
  const isDenied = exceptionOf(error) === ErrorType.ACCESS_DENIED || code === status.PERMISSION_DENIED;
  return isDenied ? deniedUser : null;
}

const refusals: ReadonlySet<string> = new Set([
  ErrorType.ACCESS_DENIED,
  ErrorType.STREAM_DELETED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
]);

/** By this a version before 24.10 refuses a position where no event begins, by the code later ones have for it. */
const isWrongPlace = (error: unknown): boolean =>
  codeOf(error) === status.INVALID_ARGUMENT ||
  (codeOf(error) === status.UNKNOWN && /invalid ?position/i.test(String(property(error, 'message'))));

/** Whether another try would be refused as well; as `Refused`, in words for the operator. */
export function refusalOf(error: unknown): Refused | null {
  if (error instanceof Refused) return error;
  const user = refusedUser(error);
  if (user !== null) return new Refused(user, error);
  if (!(error instanceof Error)) return null;
  return refusals.has(exceptionOf(error) ?? '') || isWrongPlace(error) ? new Refused(error.message, error) : null;
}

/** Whether a call ended because its time was up. */
export const isTimeout = (error: unknown): boolean => codeOf(error) === status.DEADLINE_EXCEEDED;

/** Everything that says: the server is not there, or not now. The rest is a defect. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || refusalOf(error) !== null) return false;
  return error instanceof Lost || error instanceof NoLeader || isCommandError(error) || 'code' in error;
}

/** Whether it says of the connection that it is of no use any more, and not only of the call. */
export function breaksConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code === status.UNAVAILABLE || code === status.CANCELLED || namedLeader(error) !== null;
}
