/** The views `keys`, `organizations`, `members` and `sessions`. Event time only, so that a rebuild gives the same bytes. */
import {
  keysView,
  membersView,
  organizationsView,
  sessionsView,
  type KeyDocument,
  type MemberDocument,
  type OrganizationDocument,
  type SessionDocument,
} from '#contracts/account';
import { decodeEvent } from '#eventing/codec';
import type { Projected } from '#eventing/projected';
import { unreachable } from '#runtime/errors';
import type { KeyEvent } from './domain/api-key.js';
import type { OrganizationEvent } from './domain/organization.js';
import type { SessionEvent } from './domain/session.js';

/** By public id, which a request's header holds. */
export const keysProjection: Projected = {
  view: keysView,
  prefixes: ['key-'],

  idOf(recorded) {
    const event = decodeEvent<KeyEvent>(recorded);
    return event.type === 'key.created' ? event.data.key.publicId : event.data.publicId;
  },

  reduce(document, recorded) {
    const event = decodeEvent<KeyEvent>(recorded);
    const { at } = recorded.metadata;
    switch (event.type) {
      case 'key.created':
        return { ...event.data.key, createdAt: at, revokedAt: null } satisfies KeyDocument;
      case 'key.revoked':
        // A public id may be used again (the owner chooses OWNER_API_KEY): revoking one key does not revoke the next.
        return document === null || document['id'] !== event.data.id ? document : { ...document, revokedAt: at };
      default:
        return unreachable(event);
    }
  },
};

export const organizationsProjection: Projected = {
  view: organizationsView,
  prefixes: ['org-'],

  idOf(recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    return event.type === 'organization.created' ? event.data.id : event.data.organizationId;
  },

  reduce(document, recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    switch (event.type) {
      case 'organization.created': {
        const { id, name, plan } = event.data;
        return { id, name, plan, createdAt: recorded.metadata.at } satisfies OrganizationDocument;
      }
      case 'member.added':
        return document;
      default:
        return unreachable(event);
    }
  },
};

export const membersProjection: Projected = {
  view: membersView,
  prefixes: ['org-'],

  idOf(recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    return event.type === 'member.added' ? event.data.id : null;
  },

  reduce(document, recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    switch (event.type) {
      case 'organization.created':
        return document;
      case 'member.added': {
        // Passwords' hashes stay in the stream.
        const { passwordHash: _, ...member } = event.data;
        return { ...member, createdAt: recorded.metadata.at } satisfies MemberDocument;
      }
      default:
        return unreachable(event);
    }
  },
};

export const sessionsProjection: Projected = {
  view: sessionsView,
  prefixes: ['session-'],

  idOf: (recorded) => decodeEvent<SessionEvent>(recorded).data.id,

  reduce(_, recorded) {
    const event = decodeEvent<SessionEvent>(recorded);
    switch (event.type) {
      case 'session.opened':
        return { ...event.data, createdAt: recorded.metadata.at } satisfies SessionDocument;
      case 'session.closed':
        return null;
      default:
        return unreachable(event);
    }
  },
};

export const accountProjections: readonly Projected[] = [
  keysProjection,
  organizationsProjection,
  membersProjection,
  sessionsProjection,
];
