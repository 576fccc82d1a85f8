/** The operations on members, their invitations, and people's own accounts. */
import { z } from 'zod';
import { session } from '#contracts/account';
import {
  begunSecondFactor,
  codeInput,
  invitationInput,
  invitedMember,
  linkSubject,
  memberChange,
  memberInput,
  passwordAgain,
  passwordAndCode,
  passwordChange,
  resetInput,
  resetRequest,
  secondFactor,
  shownMember,
} from '#contracts/member';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';

const member = { id: { prefix: 'usr', of: 'member' } } as const;
const members = { tag: 'Members', access: 'admin' } as const;

/** What stands in a link that a person was sent. */
export const linkToken = (of: string) =>
  ({
    token: {
      pattern: '^[0-9A-Za-z._-]{1,500}$',
      of,
      description: `As it stands in the link of the ${of}.`,
      example: '01k9q3v5zt8m2x4c6b7n8p9r0s.01k9q3v5zt8m2x4c6b7n8p9r0s.mk3x1p7c.0.fT2x',
    },
  }) as const;

const deleted = z.object({
  id: z.string().describe('Of what is gone.'),
  deleted: z.literal(true).describe('It is gone.'),
});

export const listMembers = route({
  ...members,
  method: 'GET',
  path: '/api/members',
  operationId: 'listMembers',
  summary: 'List members',
  description: 'Those who were invited and have not joined yet included, newest first.',
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'Members.', envelope: 'list', schema: shownMember }],
});

export const inviteMember = route({
  ...members,
  method: 'POST',
  path: '/api/members',
  operationId: 'inviteMember',
  summary: 'Invite somebody',
  description:
    'By a link that is good once, for a week. It is mailed where the instance has a mail server; hand it over yourself otherwise. Inviting again replaces the link before. An owner is invited by an owner.',
  body: memberInput,
  bodyExample: { email: 'colleague@example.com', role: 'editor' },
  answers: [
    {
      status: 201,
      description: 'The invitation; the link is shown this once.',
      envelope: 'data',
      schema: invitedMember,
    },
  ],
});

export const changeMember = route({
  ...members,
  method: 'PATCH',
  path: '/api/members/{id}',
  operationId: 'changeMember',
  summary: 'Change what a member may',
  description:
    'It holds from the next request on, in sessions that are open too. An organisation keeps an owner: 400 `last_owner`. Owners are made and changed by owners alone (403 `owner_required`), signed in or by a key that an owner made; operators by operators.',
  ids: member,
  body: memberChange,
  bodyExample: { role: 'admin' },
  mergePatch: true,
  answers: [{ status: 200, description: 'The member as it is now.', envelope: 'data', schema: shownMember }],
});

export const removeMember = route({
  ...members,
  method: 'DELETE',
  path: '/api/members/{id}',
  operationId: 'removeMember',
  summary: 'Remove a member',
  description:
    'Their sessions and streams end at once; keys that they made stay. The last owner cannot go; an owner removes others.',
  ids: member,
  answers: [{ status: 200, description: 'They are gone.', envelope: 'data', schema: deleted }],
});

export const showInvitation = route({
  method: 'GET',
  path: '/api/invitations/{token}',
  operationId: 'getInvitation',
  summary: 'What an invitation is for',
  description: 'For the person who opened its link. Of one that was taken, replaced or is older than a week: 404.',
  tag: 'Members',
  access: 'public',
  ids: linkToken('invitation'),
  answers: [{ status: 200, description: 'Who was invited, and where.', envelope: 'data', schema: linkSubject }],
});

export const takeInvitation = route({
  method: 'POST',
  path: '/api/invitations/{token}',
  operationId: 'takeInvitation',
  summary: 'Join by an invitation',
  description: 'Sets a password and signs in, as `POST /api/sessions` does. Once, within a week; else 404.',
  tag: 'Members',
  access: 'public',
  ids: linkToken('invitation'),
  body: invitationInput,
  bodyExample: { password: 'correct horse battery staple' },
  answers: [{ status: 201, description: 'Who is signed in, until when.', envelope: 'data', schema: session }],
});

const account = { tag: 'Account', access: 'session' } as const;

export const changePassword = route({
  ...account,
  method: 'POST',
  path: '/api/account/password',
  operationId: 'changePassword',
  summary: 'Change the password',
  description: 'Ends all other sessions of the account; this one goes on under a new cookie.',
  body: passwordChange,
  bodyExample: { currentPassword: 'correct horse battery staple', newPassword: 'another horse battery staple' },
  answers: [{ status: 200, description: 'The session as it goes on.', envelope: 'data', schema: session }],
});

export const showSecondFactor = route({
  ...account,
  method: 'GET',
  path: '/api/account/second-factor',
  operationId: 'getSecondFactor',
  summary: 'Whether signing in needs a code',
  answers: [{ status: 200, description: 'The second factor.', envelope: 'data', schema: secondFactor }],
});

export const beginSecondFactor = route({
  ...account,
  method: 'POST',
  path: '/api/account/second-factor',
  operationId: 'beginSecondFactor',
  summary: 'Begin a second factor',
  description:
    'Codes by time (TOTP), as authenticator apps make them. Nothing changes until a first code confirms it; beginning again replaces what was begun.',
  body: passwordAgain,
  bodyExample: { password: 'correct horse battery staple' },
  answers: [
    {
      status: 200,
      description: 'The secret and ten recovery codes, shown this once.',
      envelope: 'data',
      schema: begunSecondFactor,
    },
  ],
});

export const confirmSecondFactor = route({
  ...account,
  method: 'POST',
  path: '/api/account/second-factor/confirm',
  operationId: 'confirmSecondFactor',
  summary: 'Turn the second factor on',
  body: codeInput,
  bodyExample: { code: '123456' },
  answers: [{ status: 200, description: 'It is on.', envelope: 'data', schema: secondFactor }],
});

export const removeSecondFactor = route({
  ...account,
  method: 'DELETE',
  path: '/api/account/second-factor',
  operationId: 'removeSecondFactor',
  summary: 'Turn the second factor off',
  body: passwordAndCode,
  bodyExample: { password: 'correct horse battery staple', code: '123456' },
  answers: [{ status: 200, description: 'It is off.', envelope: 'data', schema: secondFactor }],
});

export const requestReset = route({
  method: 'POST',
  path: '/api/password-resets',
  operationId: 'requestPasswordReset',
  summary: 'Ask for a link to set a new password',
  description:
    'The same answer in the same time, whether there is such an account or not. The link is mailed where the instance has a mail server; else the operator prints one (`meerkat accounts reset-password`).',
  tag: 'Account',
  access: 'public',
  body: resetRequest,
  bodyExample: { email: 'owner@example.com' },
  answers: [
    {
      status: 202,
      description: 'If there is such an account, a mail is on its way.',
      envelope: 'data',
      schema: z.object({ accepted: z.literal(true).describe('Whether or not there is such an account.') }),
    },
  ],
});

export const showReset = route({
  method: 'GET',
  path: '/api/password-resets/{token}',
  operationId: 'getPasswordReset',
  summary: 'Whose password a link sets',
  description: 'For the person who opened it. Of one that was used, replaced or is older than an hour: 404.',
  tag: 'Account',
  access: 'public',
  ids: linkToken('link'),
  answers: [{ status: 200, description: 'Whose it is, and where.', envelope: 'data', schema: linkSubject }],
});

export const resetPassword = route({
  method: 'POST',
  path: '/api/password-resets/{token}',
  operationId: 'resetPassword',
  summary: 'Set a new password by a link',
  description: 'Once, within an hour; else 404. Ends all sessions of the account, and signs nobody in.',
  tag: 'Account',
  access: 'public',
  ids: linkToken('link'),
  body: resetInput,
  bodyExample: { newPassword: 'another horse battery staple' },
  answers: [
    {
      status: 200,
      description: 'The new password counts.',
      envelope: 'data',
      schema: z.object({ changed: z.literal(true).describe('It is set.') }),
    },
  ],
});

export const signInMethods = route({
  method: 'GET',
  path: '/api/sign-in',
  operationId: 'getSignInMethods',
  summary: 'How people sign in here',
  tag: 'Sessions',
  access: 'public',
  answers: [
    {
      status: 200,
      description: 'The ways, and whether the instance is set up.',
      envelope: 'data',
      schema: z
        .object({
          methods: z
            .array(
              z.discriminatedUnion('type', [
                z.object({ type: z.literal('password').describe('`POST /api/sessions`.') }),
                z.object({
                  type: z.literal('oidc').describe('A provider vouches for them.'),
                  id: z.string().describe('Of the provider, as in its address.'),
                  name: z.string().describe('What people call it.'),
                  startUrl: z.string().describe('Where the browser goes to begin.'),
                }),
              ]),
            )
            .describe('In the order in which they are offered.'),
          isSetUp: z.boolean().describe('Whether there is an organisation to sign in to.'),
        })
        .meta({ id: 'SignInMethods' }),
    },
  ],
});
