/** The views `keys`, `organizations`, `members` and `sessions`. Event time only, so that a rebuild gives the same bytes. */
import {
  keysView,
  organizationsView,
  sessionsView,
  type KeyDocument,
  type OrganizationDocument,
  type SessionDocument,
} from '#contracts/account';
import { membersView, type MemberDocument } from '#contracts/member';
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
        return {
          ...event.data.key,
          createdAt: at,
          createdBy: event.data.createdBy,
          revokedAt: null,
          successorId: null,
        } satisfies KeyDocument;
      case 'key.rotated': {
        const { id, endsAt: expiresAt, successorId } = event.data;
        return document === null || document['id'] !== id ? document : { ...document, expiresAt, successorId };
      }
      case 'key.revealed':
        return document;
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
    const { data } = event;
    return 'organizationId' in data ? data.organizationId : data.id;
  },

  reduce(document, recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    switch (event.type) {
      case 'organization.created': {
        const { id, name, plan } = event.data;
        return { id, name, plan, rateLimit: null, createdAt: recorded.metadata.at } satisfies OrganizationDocument;
      }
      case 'organization.changed':
        return document === null ? null : { ...document, ...event.data };
      default:
        return document;
    }
  },
};

export const membersProjection: Projected<MemberDocument> = {
  view: membersView,
  prefixes: ['org-'],

  idOf(recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    return event.type === 'organization.created' || event.type === 'organization.changed' ? null : event.data.id;
  },

  /** Passwords' hashes stay in the stream. */
  reduce(document, recorded) {
    const event = decodeEvent<OrganizationEvent>(recorded);
    const first = { epoch: 0, secondFactor: 'off', subjectHash: null } as const;
    switch (event.type) {
      case 'organization.created':
      case 'organization.changed':
        return document;
      case 'member.added': {
        const { passwordHash: _, ...member } = event.data;
        return { ...member, ...first, status: 'active', createdAt: recorded.metadata.at, expiresAt: null };
      }
      case 'member.invited': {
        const createdAt = document?.createdAt ?? recorded.metadata.at;
        return { ...event.data, ...first, operator: false, status: 'invited', createdAt };
      }
      default:
        return document === null ? null : afterMember(document, event);
    }
  },
};

type Later = Exclude<OrganizationEvent, { type: `organization.${string}` | 'member.added' | 'member.invited' }>;

function afterMember(document: MemberDocument, event: Later): MemberDocument | null {
  switch (event.type) {
    case 'member.joined':
      return { ...document, status: 'active', expiresAt: null };
    case 'member.changed':
      return { ...document, role: event.data.role, operator: event.data.operator };
    case 'member.removed':
      return null;
    case 'member.password_changed':
      return { ...document, epoch: document.epoch + 1 };
    case 'member.second_factor_begun':
      return { ...document, secondFactor: 'pending' };
    case 'member.second_factor_confirmed':
      return { ...document, secondFactor: 'on' };
    case 'member.second_factor_removed':
      return { ...document, secondFactor: 'off' };
    case 'member.linked':
      return { ...document, subjectHash: event.data.subjectHash };
    case 'member.reset_requested':
    case 'member.recovery_code_used':
      return document;
    default:
      return unreachable(event);
  }
}

export const sessionsProjection: Projected = {
  view: sessionsView,
  prefixes: ['session-'],

  idOf: (recorded) => decodeEvent<SessionEvent>(recorded).data.id,

  reduce(document, recorded) {
    const event = decodeEvent<SessionEvent>(recorded);
    switch (event.type) {
      case 'session.opened':
        return { ...event.data, createdAt: recorded.metadata.at, successorId: null } satisfies SessionDocument;
      case 'session.superseded': {
        const { endsAt: expiresAt, successorId } = event.data;
        return document === null ? null : { ...document, expiresAt, successorId };
      }
      case 'session.closed':
        return null;
      default:
        return unreachable(event);
    }
  },
};

export const accountProjections = [
  keysProjection,
  organizationsProjection,
  membersProjection,
  sessionsProjection,
] as const;
