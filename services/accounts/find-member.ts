/** Members as their organisations' streams have them: the view finds the stream, and passwords' hashes stand there alone. */
import { membersView, type MemberDocument } from '#contracts/member';
import { decodeEvent } from '#eventing/codec';
import { foldStream } from '#eventing/fold-stream';
import type { Session } from '#contracts/account';
import type { FieldFilter } from '#read-store/read-store';
import { installationDecider, installationStream } from './domain/installation.js';
import {
  organizationDecider,
  organizationStream,
  type Member,
  type Organization,
  type OrganizationEvent,
} from './domain/organization.js';
import type { AccountPorts } from './ports.js';

export type ActiveOrganization = Extract<Organization, { status: 'active' }>;

export interface FoundMember {
  readonly member: Member;
  readonly organization: Session['organization'];
  readonly members: readonly Member[];
}

/** One address may belong to members of several organisations; more than this are not looked at. */
const mostAlike = 20;

export interface FoundOrganization {
  readonly organization: ActiveOrganization;
  readonly createdAt: string;
  /** When each member was first invited, or added, by id. */
  readonly invitedAt: ReadonlyMap<string, string>;
}

/** null where there is none. */
export async function findOrganization(
  { eventStore }: Pick<AccountPorts, 'eventStore'>,
  organizationId: string,
): Promise<FoundOrganization | null> {
  const { state, recorded } = await foldStream(eventStore, organizationDecider, organizationStream(organizationId));
  if (state.status === 'none') return null;
  const invitedAt = new Map<string, string>();
  for (const one of recorded) {
    const event = decodeEvent<OrganizationEvent>(one);
    const isNew = event.type === 'member.added' || event.type === 'member.invited';
    if (isNew && !invitedAt.has(event.data.id)) invitedAt.set(event.data.id, one.metadata.at);
  }
  return { organization: state, createdAt: recorded[0]?.metadata.at ?? '', invitedAt };
}

export function shownOrganization({ organization, createdAt }: FoundOrganization): Session['organization'] {
  const { id, name, plan, rateLimit } = organization;
  return { id, name, plan, rateLimit, createdAt };
}

/** null where there is none; also one who was invited and has not joined. */
export async function findMember(
  ports: Pick<AccountPorts, 'eventStore'>,
  organizationId: string,
  memberId: string,
): Promise<FoundMember | null> {
  const found = await findOrganization(ports, organizationId);
  const member = found?.organization.members.find(({ id }) => id === memberId);
  if (found === null || member === undefined) return null;
  return { member, organization: shownOrganization(found), members: found.organization.members };
}

async function documentsWhere({ readStore }: AccountPorts, filter: FieldFilter): Promise<readonly MemberDocument[]> {
  const { documents } = await readStore.page(membersView, {
    where: [filter],
    sort: [{ field: 'createdAt', descending: false }],
    limit: mostAlike,
    offset: 0,
    count: false,
  });
  return documents;
}

async function read(ports: AccountPorts, documents: readonly MemberDocument[]): Promise<readonly FoundMember[]> {
  const found = await Promise.all(documents.map(({ organizationId, id }) => findMember(ports, organizationId, id)));
  return found.filter((one) => one !== null);
}

/** The organisation of the setup; null before it. */
export async function homeOrganizationId({ eventStore }: Pick<AccountPorts, 'eventStore'>): Promise<string | null> {
  return (await foldStream(eventStore, installationDecider, installationStream)).state.claim?.organizationId ?? null;
}

/** Of every organisation, the oldest first. Reads as much for an address that nobody has. */
export async function findByEmail(ports: AccountPorts, emailHash: string): Promise<readonly FoundMember[]> {
  const documents = await documentsWhere(ports, { field: 'emailHash', equals: emailHash });
  const homeId = await homeOrganizationId(ports);
  if (documents.length > 0) return read(ports, documents);
  if (homeId !== null) await findOrganization(ports, homeId);
  return [];
}

export async function findBySubject(ports: AccountPorts, subjectHash: string): Promise<readonly FoundMember[]> {
  return read(ports, await documentsWhere(ports, { field: 'subjectHash', equals: subjectHash }));
}
