/** Names that cross a service border: topics, requests, and per message type its topic. */
import { accountEvents } from './account-events.js';
import { activityEvents } from './activity.js';
import { contactEvents } from './contact.js';
import { deliveryEvents } from './delivery.js';
import { catalogueOf } from './event.js';
import { deadLetterEvents } from './dead-letter.js';
import { integrityEvents } from './integrity.js';
import { foldEvents } from './retention.js';
import { runEvents } from './run.js';
import { scheduleEvents } from './schedule.js';
import { externalKeyClaimed, taskEvents } from './task.js';
import { vaultKeyDropped, vaultKeyMade } from './vault.js';

export const topics = ['task', 'schedule', 'rendering', 'run', 'delivery'] as const;

/** Requests and who answers: the gateway asks, the owner of the noun decides. */
export const requests = {
  taskChange: 'task.change',
  taskHistory: 'task.history',
  taskAt: 'task.at',
  scheduleTrigger: 'schedule.trigger',
  runTest: 'run.test',
  runPreview: 'run.preview',
  renderTest: 'render.test',
  renderPreview: 'render.preview',
  runReplay: 'run.replay',
  runBacktest: 'run.backtest',
  runExplain: 'run.explain',
  deliveryPreview: 'delivery.preview',
  deliveryChange: 'delivery.change',
  contactChange: 'contact.change',
  accountSetup: 'account.setup',
  keyCreate: 'account.create_key',
  keyShow: 'account.show_key',
  keyRevoke: 'account.revoke_key',
  keyRotate: 'account.rotate_key',
  keyReveal: 'account.reveal_key',
  sessionOpen: 'account.open_session',
  sessionShow: 'account.show_session',
  sessionClose: 'account.close_session',
  sessionRotate: 'account.rotate_session',
  providerBegin: 'account.begin_provider_sign_in',
  providerFinish: 'account.finish_provider_sign_in',
  passwordChange: 'account.change_password',
  resetRequest: 'account.request_reset',
  resetShow: 'account.show_reset',
  resetTake: 'account.reset_password',
  invitationShow: 'account.show_invitation',
  invitationTake: 'account.accept_invitation',
  secondFactorShow: 'account.show_second_factor',
  secondFactorBegin: 'account.begin_second_factor',
  secondFactorConfirm: 'account.confirm_second_factor',
  secondFactorRemove: 'account.remove_second_factor',
  membersList: 'account.list_members',
  memberInvite: 'account.invite_member',
  memberChange: 'account.change_member',
  memberRemove: 'account.remove_member',
  activityRecord: 'account.record_activity',
  organizationFound: 'account.found_organization',
  organizationChange: 'account.change_organization',
} as const;

/** Every event that is stored: what is not here is neither written nor read. */
export const eventCatalogue = catalogueOf([
  ...taskEvents,
  externalKeyClaimed,
  ...scheduleEvents,
  ...runEvents,
  ...deliveryEvents,
  ...contactEvents,
  ...accountEvents,
  ...activityEvents,
  ...deadLetterEvents,
  ...integrityEvents,
  ...foldEvents,
  vaultKeyMade,
  vaultKeyDropped,
]);
