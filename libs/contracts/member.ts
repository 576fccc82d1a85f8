/** Members of organisations: how they are invited, what they may, how they prove who they are. */
import { z } from 'zod';
import {
  accountEmail,
  givenPassword,
  label,
  newPassword,
  openedSession,
  organizationDocument,
  plan,
  rateLimit,
  role,
} from './account.js';
import { idSchema, storedTimestamp } from './common.js';
import type { ViewDefinition } from '#read-store/read-store';

export const secondFactorState = z.enum(['off', 'pending', 'on']);

/** A member as the service keeps it (view `members`): the address sealed, found by its keyed hash. */
export const memberDocument = z.object({
  id: idSchema('usr'),
  organizationId: idSchema('org'),
  email: z.object({ $sealed: z.string() }),
  emailHash: z.string(),
  role,
  operator: z.boolean(),
  status: z.enum(['invited', 'active']),
  secondFactor: secondFactorState,
  /** Sessions of earlier epochs have ended. */
  epoch: z.int(),
  /** Of the provider that the member signed in by last; null: of none. */
  subjectHash: z.string().nullable(),
  createdAt: storedTimestamp,
  /** Of the invitation; null once it was taken. */
  expiresAt: storedTimestamp.nullable(),
});
export type MemberDocument = z.infer<typeof memberDocument>;

export const membersView: ViewDefinition<MemberDocument> = {
  name: 'members',
  fields: ['organizationId', 'emailHash', 'subjectHash', 'createdAt'],
  indexes: [['emailHash', 'createdAt'], ['organizationId', 'createdAt'], ['subjectHash']],
};

/** A member as the API shows it. */
export const shownMember = z
  .object({
    id: idSchema('usr').describe('Of the member.'),
    email: z.string().describe('Their address.'),
    role: role.describe('What they may.'),
    operator: z.boolean().describe('Whether they look after the whole instance.'),
    status: z.enum(['invited', 'active']).describe('`invited`: the invitation was not taken yet.'),
    secondFactor: secondFactorState.describe('Whether signing in needs a code.'),
    createdAt: storedTimestamp.describe('When they were invited.'),
    expiresAt: storedTimestamp.nullable().describe('When the invitation ends; null once it was taken.'),
  })
  .meta({ id: 'Member' });
export type ShownMember = z.infer<typeof shownMember>;

/** The body of `POST /api/members`, and the payload of `account.invite_member`. */
export const memberInput = z
  .strictObject({ email: accountEmail.describe('Who is invited.'), role: role.describe('What they may.') })
  .meta({ id: 'MemberInput' });
export type MemberInput = z.infer<typeof memberInput>;

/** The answer to `account.invite_member`: the only one that holds the link. */
export const invitedMember = shownMember
  .omit({ expiresAt: true })
  .extend({
    invitationUrl: z.string().describe('Where the invitation is taken, once.'),
    expiresAt: storedTimestamp.describe('When the invitation ends.'),
  })
  .meta({ id: 'InvitedMember' });
export type InvitedMember = z.infer<typeof invitedMember>;

/** The body of `PATCH /api/members/{id}`. */
export const memberChange = z
  .strictObject({
    role: role.optional().describe('What they may.'),
    operator: z.boolean().optional().describe('Whether they look after the whole instance; given by operators alone.'),
  })
  .refine((change) => Object.keys(change).length > 0, { error: 'must name what is to be changed' })
  .meta({ id: 'MemberChange' });

/** The payload of `account.change_member`, which answers `shownMember`. */
export const changeMemberInput = z.strictObject({ memberId: idSchema('usr'), change: memberChange });
export type ChangeMemberInput = z.infer<typeof changeMemberInput>;

/** The payload of `account.remove_member`, which answers `{ id, deleted: true }`. `isOperator`: what the asker may. */
export const removeMemberInput = z.strictObject({ memberId: idSchema('usr'), isOperator: z.boolean() });
export type RemoveMemberInput = z.infer<typeof removeMemberInput>;

/** The payload of `account.list_members`, which answers `{ members, total }`. */
export const listMembersInput = z.strictObject({ limit: z.int().min(1), offset: z.int().min(0) });
export const memberList = z.object({ members: z.array(shownMember), total: z.int() });

/** The body of `POST /api/invitations/{token}` and, with another name, of `POST /api/password-resets/{token}`. */
export const invitationInput = z
  .strictObject({ password: newPassword.describe('At least 12 characters.') })
  .meta({ id: 'InvitationInput' });

/** The payload of `account.accept_invitation`, which answers `openedSession`. */
export const acceptInvitationInput = invitationInput.extend({ token: z.string().max(500) });
export type AcceptInvitationInput = z.infer<typeof acceptInvitationInput>;

/** What a link is about, for the person who opened it: the answer to `account.show_invitation` and `account.show_reset`. */
export const linkSubject = z
  .object({
    email: z.string().describe('Of the person whom the link is for.'),
    organization: z.string().describe('Its name.'),
  })
  .meta({ id: 'LinkSubject' });
export type LinkSubject = z.infer<typeof linkSubject>;
export const linkToken = z.strictObject({ token: z.string().max(500) });

export const passwordChange = z
  .strictObject({
    currentPassword: givenPassword.describe('As it is now.'),
    newPassword: newPassword.describe('At least 12 characters.'),
  })
  .meta({ id: 'PasswordChange' });

/** The payload of `account.change_password`, which answers `openedSession`. `token`: of the session that goes on. */
export const changePasswordInput = passwordChange.extend({ token: z.string().max(200), address: z.string().max(200) });
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;

export const resetRequest = z
  .strictObject({ email: z.string().min(1).max(1_000).describe('As the account has it.') })
  .meta({ id: 'PasswordResetRequest' });
export const resetInput = z
  .strictObject({ newPassword: newPassword.describe('At least 12 characters.') })
  .meta({ id: 'PasswordReset' });

/** The payload of `account.reset_password`, which answers `{ changed: true }`. */
export const resetPasswordInput = resetInput.extend({ token: z.string().max(500), address: z.string().max(200) });
export type ResetPasswordInput = z.infer<typeof resetPasswordInput>;

/** The password of who is signed in, given again; the payloads of `account.begin_second_factor` and others. */
export const passwordAgain = z.strictObject({ password: givenPassword.describe('Of the account.') });
export const codeInput = z.strictObject({ code: z.string().max(100).describe('Of the app.') });
export const passwordAndCode = passwordAgain.extend({
  code: z.string().max(100).describe('Of the app, or a recovery code.'),
});

/** Payloads of what a member does with their own account. `address`: the client's, by which wrong tries are counted. */
const address = z.string().max(200);
export const beginSecondFactorInput = passwordAgain.extend({ address });
export const removeSecondFactorInput = passwordAndCode.extend({ address });

/** The answer that begins a second factor: the only one that holds the secret and the recovery codes. */
export const begunSecondFactor = z
  .object({
    state: z.literal('pending').describe('A code of the app turns it on.'),
    secret: z.string().describe('Of the codes, in base 32.'),
    otpauthUrl: z.string().describe('The same as apps read it, mostly from a QR code.'),
    recoveryCodes: z.array(z.string()).describe('Each is good once in place of a code.'),
  })
  .meta({ id: 'BegunSecondFactor' });
export type BegunSecondFactor = z.infer<typeof begunSecondFactor>;

export const secondFactor = z
  .object({
    state: secondFactorState.describe('`pending`: begun, and not yet confirmed by a code.'),
    recoveryCodesLeft: z.int().describe('How many recovery codes were not used yet.'),
  })
  .meta({ id: 'SecondFactor' });
export type SecondFactor = z.infer<typeof secondFactor>;

/** The body of `PATCH /api/organization`. */
export const organizationChange = z
  .strictObject({
    name: label.optional().describe('What people call it.'),
    plan: plan.optional().describe('Its budget of requests goes by it; changed by operators alone.'),
    rateLimit: rateLimit
      .nullable()
      .optional()
      .describe('Requests an hour in place of what the plan gives; null: as the plan. Changed by operators alone.'),
  })
  .refine((change) => Object.keys(change).length > 0, { error: 'must name what is to be changed' })
  .meta({ id: 'OrganizationChange' });

/** The payload of `account.change_organization`, which answers an organisation. */
export const changeOrganizationInput = z.strictObject({ organizationId: idSchema('org'), change: organizationChange });
export type ChangeOrganizationInput = z.infer<typeof changeOrganizationInput>;

/** The body of `POST /api/organizations`, and the payload of `account.create_organization`. */
export const organizationInput = z
  .strictObject({
    name: label.describe('What people call it.'),
    ownerEmail: accountEmail.describe('Who is invited to own it.'),
    plan: plan.optional().describe('Its budget of requests goes by it; without it DEFAULT_PLAN.'),
  })
  .meta({ id: 'OrganizationInput' });
export type OrganizationInput = z.infer<typeof organizationInput>;

/** The answer to `account.found_organization`: the only one that holds the link. */
export const foundedOrganization = z.object({ organization: organizationDocument, invitationUrl: z.string() });

/** The payload of `account.begin_provider_sign_in`. `to`: the page that was asked for. */
export const beginProviderSignIn = z.strictObject({ id: z.string().max(100), to: z.string().max(2_000) });
/** Its answer: where the browser goes, and what it keeps until it comes back. */
export const begunProviderSignIn = z.object({ url: z.string(), ticket: z.string() });
export type BegunProviderSignIn = z.infer<typeof begunProviderSignIn>;

/** The payload of `account.finish_provider_sign_in`, which answers `openedSession` with `to`. `query`: as the browser brought it. */
export const finishProviderSignIn = z.strictObject({
  id: z.string().max(100),
  query: z.string().max(20_000),
  ticket: z.string().max(20_000),
});
export type FinishProviderSignIn = z.infer<typeof finishProviderSignIn>;
export const finishedProviderSignIn = openedSession.extend({ to: z.string() });
