/** Who calls, and what they may do: users with passwords, rights by the ACL of a stream or by the server's default ACL. */
import { status } from '@grpc/grpc-js';
import type { Metadata } from '@grpc/grpc-js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Log } from './log.ts';
import { Refusal } from './messages.ts';

export interface User {
  readonly name: string;
  readonly password: string;
  readonly isAdmin: boolean;
}

/** What a call may be made as; a role is the name of a user, or of a group. */
export type Roles = ReadonlySet<string>;

type Right = '$r' | '$w' | '$mr' | '$mw';
export type Deed = 'read' | 'write';

const admins = '$admins';
const everybody = '$all';
/** Of the server's own making; they hold where nothing else is said. */
const defaultAcl = { $userStreamAcl: everybody, $systemStreamAcl: admins } as const;

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** `name:password`; null where it is none. */
export function readUser(text: string, isAdmin: boolean): User | null {
  const colon = text.indexOf(':');
  return colon < 1 ? null : { name: text.slice(0, colon), password: text.slice(colon + 1), isAdmin };
}

/** Without users everybody may do everything, as on a server that is started as insecure. */
export function createAccess(log: Log, users: readonly User[]) {
  const isOpen = users.length === 0;
  const known = new Map<string, { readonly revision: number; readonly properties: unknown }>();

  /** What the newest event of a stream says; undefined where there is none. */
  const newestOf = (stream: string): unknown => {
    const revision = log.lastRevision(stream);
    if (revision === null) return undefined;
    const before = known.get(stream);
    if (before?.revision === revision) return before.properties;
    const [newest] = log.readBackwards(stream, revision, 1);
    if (newest === undefined) return undefined;
    const event = streams.ReadResp.deserializeBinary(newest.message).getEvent()?.getEvent();
    const properties: unknown = JSON.parse(Buffer.from(event?.getData_asU8() ?? []).toString());
    known.set(stream, { revision, properties });
    return properties;
  };

  const rolesWith = (right: Right, stream: string): readonly unknown[] => {
    const own = property(property(newestOf(`$$${stream}`), '$acl'), right);
    const kind = stream.startsWith('$') ? '$systemStreamAcl' : '$userStreamAcl';
    return [own ?? property(property(newestOf('$settings'), kind), right) ?? defaultAcl[kind]].flat();
  };

  return {
    /** Throws where the password is wrong. Who gives none is anybody, who may do nothing where there are users. */
    rolesOf(metadata: Metadata): Roles {
      const [given] = metadata.get('authorization');
      if (isOpen || given === undefined) return new Set();
      const [name = '', ...rest] = Buffer.from(String(given).replace(/^Basic /i, ''), 'base64')
        .toString()
        .split(':');
      const user = users.find((each) => each.name === name && each.password === rest.join(':'));
      if (user === undefined) throw new Refusal(status.UNAUTHENTICATED, 'Bad HTTP status code: 401');
      return new Set(user.isAdmin ? [name, admins, everybody] : [name, everybody]);
    },

    may(roles: Roles, deed: Deed, stream: string): boolean {
      if (isOpen || roles.has(admins)) return true;
      const isMetadata = stream.startsWith('$$');
      const right = `$${isMetadata ? 'm' : ''}${deed === 'read' ? 'r' : 'w'}` as const;
      return rolesWith(right, isMetadata ? stream.slice(2) : stream).some((role) => roles.has(String(role)));
    },
  };
}

export type Access = ReturnType<typeof createAccess>;
