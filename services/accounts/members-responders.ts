/** What this service answers about organisations, their members and people's own accounts. */
import {
  acceptInvitationInput,
  beginProviderSignIn,
  finishProviderSignIn,
  beginSecondFactorInput,
  changeMemberInput,
  changeOrganizationInput,
  changePasswordInput,
  codeInput,
  linkToken,
  listMembersInput,
  memberInput,
  organizationInput,
  removeMemberInput,
  removeSecondFactorInput,
  resetPasswordInput,
  resetRequest,
} from '#contracts/member';
import { requests } from '#contracts/catalogue';
import type { Responder } from '#eventing/service';
import type { JsonObject } from '#runtime/json';
import { ChangeMembers, type MembersChange } from './change-members.js';
import { MembersQuery, type MembersQuestion } from './members-query.js';

const changes = (request: string, toChange: (payload: JsonObject) => MembersChange): Responder => ({
  request,
  command: (payload, context) => new ChangeMembers(toChange(payload), context),
});

const asks = (request: string, toQuestion: (payload: JsonObject) => MembersQuestion): Responder => ({
  request,
  query: (payload, context) => new MembersQuery(toQuestion(payload), context),
});

export const membersResponders: readonly Responder[] = [
  changes(requests.organizationFound, (payload) => ({
    type: 'foundOrganization',
    input: organizationInput.parse(payload),
  })),
  changes(requests.organizationChange, (payload) => ({
    type: 'changeOrganization',
    input: changeOrganizationInput.parse(payload),
  })),
  asks(requests.membersList, (payload) => ({ type: 'listMembers', ...listMembersInput.parse(payload) })),
  changes(requests.memberInvite, (payload) => ({ type: 'inviteMember', input: memberInput.parse(payload) })),
  changes(requests.memberChange, (payload) => ({ type: 'changeMember', input: changeMemberInput.parse(payload) })),
  changes(requests.memberRemove, (payload) => ({ type: 'removeMember', input: removeMemberInput.parse(payload) })),
  asks(requests.invitationShow, (payload) => ({ type: 'showInvitation', ...linkToken.parse(payload) })),
  changes(requests.invitationTake, (payload) => ({
    type: 'acceptInvitation',
    input: acceptInvitationInput.parse(payload),
  })),
  asks(requests.providerBegin, (payload) => ({ type: 'beginProviderSignIn', ...beginProviderSignIn.parse(payload) })),
  changes(requests.providerFinish, (payload) => ({
    type: 'finishProviderSignIn',
    input: finishProviderSignIn.parse(payload),
  })),
  changes(requests.passwordChange, (payload) => ({
    type: 'changePassword',
    input: changePasswordInput.parse(payload),
  })),
  changes(requests.resetRequest, (payload) => ({ type: 'requestReset', ...resetRequest.parse(payload) })),
  asks(requests.resetShow, (payload) => ({ type: 'showReset', ...linkToken.parse(payload) })),
  changes(requests.resetTake, (payload) => ({ type: 'resetPassword', input: resetPasswordInput.parse(payload) })),
  asks(requests.secondFactorShow, () => ({ type: 'showSecondFactor' })),
  changes(requests.secondFactorBegin, (payload) => ({
    type: 'beginSecondFactor',
    input: beginSecondFactorInput.parse(payload),
  })),
  changes(requests.secondFactorConfirm, (payload) => ({ type: 'confirmSecondFactor', ...codeInput.parse(payload) })),
  changes(requests.secondFactorRemove, (payload) => ({
    type: 'removeSecondFactor',
    input: removeSecondFactorInput.parse(payload),
  })),
];
