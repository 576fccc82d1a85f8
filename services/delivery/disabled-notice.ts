/**
 * What is told where an action was disabled because its receiver is gone: by the task's other actions that hear of errors, and by
 * mail to the owners of the organisation. Deliveries like any other, so that they are tried again and stand on record.
 */
import type { Bus, BusMessage } from '#bus/bus';
import { emailDeclaration } from '#channels/email/declaration';
import type { StoredAction } from '#contracts/action';
import { requests } from '#contracts/catalogue';
import { contactId, contactsView } from '#contracts/contact';
import { deliveryStream, type DeliveryEvent, type NotificationRequest } from '#contracts/delivery';
import { memberList } from '#contracts/member';
import { tasksView, type TaskDocument } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { derivedId } from '#runtime/ids';
import type { Logger } from '#runtime/logger';
import type { Vault } from '#vault/vault';
import { z } from 'zod';

export interface NoticeOptions {
  readonly bus: Bus;
  readonly eventStore: EventStore;
  readonly readStore: Pick<ReadStore, 'get'>;
  readonly vault: Vault;
  readonly logger: Logger;
  /** Without one owners are told by the task's other actions alone, and by the API. */
  readonly hasMailServer: boolean;
}

/** What `task.action_disabled` says; the first events named no delivery, and those ask for no notice. */
const disabled = z.object({
  taskId: z.string(),
  actionId: z.string(),
  deliveryId: z.string().exactOptional(),
  at: z.string().exactOptional(),
});

const mostOwners = 50;
const mostMembersRead = 1_000;
const expireAfterSeconds = 86_400;
const subject = '{{ task.name }}: an action was disabled';

/** An action that stands in no task: a mail to the owners. */
async function mailToOwners(
  { bus, vault, logger }: NoticeOptions,
  message: BusMessage,
  taskId: string,
  atMs: number,
): Promise<readonly StoredAction[]> {
  const asked = { limit: mostMembersRead, offset: 0 };
  const { members } = memberList.parse(await bus.request(requests.membersList, asked, message.metadata));
  const owners = members.filter(({ role, status }) => role === 'owner' && status === 'active');
  if (owners.length === 0) {
    logger.warn({ taskId }, 'an action was disabled, and its organisation has no owner who could be told by mail');
    return [];
  }
  const id = derivedId('act', atMs, message.id, 'owners');
  const clear = { to: owners.slice(0, mostOwners).map(({ email }) => email), subject };
  const config = await vault.seal(taskId, `actions/${id}`, clear, emailDeclaration.sealed);
  return [{ id, type: 'email', config, enabled: true, expireAfterSeconds, on: ['error'] }];
}

/** The task's other actions that hear of errors, each with the contact that it goes to as that is now. */
async function otherActions(
  { readStore }: NoticeOptions,
  { spec, organizationId }: TaskDocument,
  disabledId: string,
): Promise<readonly StoredAction[]> {
  const others = spec.actions.filter(({ id, enabled, on }) => id !== disabledId && enabled && on.includes('error'));
  const reached = await Promise.all(
    others.map(async (action) => {
      if (action.contact === undefined) return [action];
      const contact = await readStore.get(contactsView, contactId(organizationId, action.contact));
      return contact === null ? [] : [{ ...action, type: contact.type, config: contact.config }];
    }),
  );
  return reached.flat();
}

interface Lost {
  readonly request: NotificationRequest;
  /** Where its last attempt went, as the record shows it. */
  readonly where: string;
}

async function lostDelivery(eventStore: EventStore, deliveryId: string): Promise<Lost | null> {
  let request: NotificationRequest | null = null;
  let where = '';
  for await (const recorded of eventStore.read(deliveryStream(deliveryId))) {
    const event = decodeEvent<DeliveryEvent>(recorded);
    if (event.type === 'delivery.requested') ({ request } = event.data);
    if (event.type === 'attempt.ended') where = event.data.result.request.url;
  }
  return request === null ? null : { request, where };
}

/** The same requests, under the same ids, however often the event is handled. */
export async function disabledNotices(
  options: NoticeOptions,
  message: BusMessage,
): Promise<readonly NotificationRequest[]> {
  const { eventStore, readStore, hasMailServer, logger } = options;
  const { taskId, actionId, deliveryId, at } = disabled.parse(message.data);
  if (deliveryId === undefined || at === undefined) return [];
  const task = await readStore.get(tasksView, taskId);
  const lost = await lostDelivery(eventStore, deliveryId);
  if (task === null || lost === null) return [];
  const { request, where } = lost;
  const atMs = Date.parse(at);
  const others = await otherActions(options, task, actionId);
  const owners = hasMailServer ? await mailToOwners(options, message, taskId, atMs) : [];
  if (others.length + owners.length === 0) {
    logger.warn(
      { taskId, actionId, deliveryId },
      'an action was disabled, as its receiver is gone, and nobody is told: no mail server is set, and no other action of its task hears of errors',
    );
  }
  const receiver = where === '' ? 'its receiver' : `its receiver ${where}`;
  const gone = `its ${request.action.type} action was disabled, because ${receiver} answered that it is gone`;
  const { contact } = request.action;
  const corrected =
    contact === undefined
      ? 'its settings are corrected and it is enabled again'
      : `the contact "${contact}" is corrected and the action is enabled again`;
  const next = `Nothing goes there until ${corrected}.`;
  const { task: about, execution } = request.context;
  return [...others, ...owners].map((action) => ({
    deliveryId: derivedId('dlv', atMs, message.id, action.id),
    organizationId: task.organizationId,
    taskId,
    executionId: request.executionId,
    action,
    kind: 'error',
    context: { task: about, execution, transition: null, message: `"${about.name}": ${gone}. ${next}` },
    createdAt: at,
    expiresAt: new Date(atMs + action.expireAfterSeconds * 1_000).toISOString(),
  }));
}
