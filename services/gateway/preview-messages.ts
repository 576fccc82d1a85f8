/** Messages as they would be sent, asked of the delivery service: of settings that are not saved, and of an action. */
import { Inject, Injectable } from '@nestjs/common';
import { declarationOf } from '#channels/declarations';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import type { ContactDocument } from '#contracts/contact';
import { storedAction, type NotificationKind, type StoredAction } from '#contracts/action';
import type { NotificationRequest } from '#contracts/delivery';
import { foreseenMessage } from '#contracts/foreseen-message';
import { previewAnswer, type MessagePreview, type PreviewedNotification } from '#contracts/message-preview';
import { sentenceOf, type Told } from '#contracts/message-sentence';
import type { TestExecution } from '#contracts/run';
import type { TaskInput, TaskSpec } from '#contracts/task';
import { adviceOn } from '#hints/hint';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { IDS, type Ids } from '#runtime/ids';
import { VAULT, type Vault } from '#vault/vault';
import { toJsonObject } from './json-casts.js';
import { knownContact } from './known-contact.js';
import { withGenerated } from './save-task.js';
import { actionScope } from './task-answer.js';

/** Templates are ended after a second each, and code of the user's own after its own time. */
const deadlineMs = 45_000;

/** A run as messages name it. */
type Found = Pick<TestExecution, 'id' | 'outcome' | 'values' | 'page' | 'error'> & {
  readonly finishedAt: string;
};

export interface PreviewedTask {
  readonly id: string;
  readonly organizationId: string;
  readonly spec: Pick<TaskSpec, 'name' | 'description' | 'url' | 'tags' | 'policy'>;
}

function notificationOf(
  ids: Ids,
  task: PreviewedTask,
  action: StoredAction,
  run: Found,
  told: Told,
): NotificationRequest {
  const { name, description, url, tags } = task.spec;
  const { id, outcome, values, finishedAt, page } = run;
  return {
    deliveryId: ids.next('dlv'),
    organizationId: task.organizationId,
    taskId: task.id,
    executionId: id,
    action,
    kind: told.kind,
    context: {
      task: { id: task.id, name, ...(description === '' ? {} : { description }), url, tags },
      execution: { id, outcome, values, finishedAt, finalUrl: page?.finalUrl ?? null },
      transition: told.transition,
      message: sentenceOf(told, name, run),
      ...adviceOn(told.kind, run.error),
    },
    createdAt: finishedAt,
    expiresAt: finishedAt,
  };
}

export interface TrialDeps {
  readonly vault: Vault;
  readonly ids: Ids;
  /** A contact as it is now; null: it is not known here. `index`: of the action that names it. */
  contactOf(name: string, index: number): Promise<Pick<ContactDocument, 'type' | 'config'> | null>;
}

/** The notifications of a trial, one for each action that listens; settings sealed with the key of `organizationId`. */
export async function trialNotifications(
  { vault, ids, contactOf }: TrialDeps,
  input: TaskInput,
  trial: TestExecution,
  organizationId: string,
): Promise<readonly NotificationRequest[]> {
  const kind = trial.error === null ? 'triggered' : 'error';
  const { notify, reason, transition } = trial.decision;
  const told = notify ? ({ kind, reason, transition } as const) : foreseenMessage(kind, input.policy, trial);
  const task = { id: ids.next('ntf'), organizationId, spec: input };
  const run = { ...trial, finishedAt: trial.finishedAt ?? trial.queuedAt };
  const made: NotificationRequest[] = [];
  for (const [index, action] of input.actions.entries()) {
    if (!action.enabled || !action.on.includes(kind)) continue;
    const id = ids.next('act');
    if (action.type === undefined) {
      const contact = await contactOf(action.contact, index);
      if (contact === null) continue;
      const { type, config } = contact;
      made.push(notificationOf(ids, task, storedAction.parse({ ...action, id, type, config }), run, told));
      continue;
    }
    const { sealed, generated } = declarationOf(action.type);
    const { config } = withGenerated(toJsonObject(action.config), null, generated);
    const stored = { ...action, id, config: await vault.seal(organizationId, actionScope(id), config, sealed) };
    made.push(notificationOf(ids, task, storedAction.parse(stored), run, told));
  }
  return made;
}

@Injectable()
export class MessagePreviewer {
  readonly #bus: Bus;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #vault: Vault;
  readonly #readStore: ReadStore;

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(IDS) ids: Ids,
    @Inject(CLOCK) clock: Clock,
    @Inject(VAULT) vault: Vault,
    @Inject(READ_STORE) readStore: ReadStore,
  ) {
    this.#readStore = readStore;
    this.#bus = bus;
    this.#ids = ids;
    this.#clock = clock;
    this.#vault = vault;
  }

  /** Of a trial: what each action that listens would send, whether or not the policy would send it. */
  async ofTrial(input: TaskInput, trial: TestExecution, context: RequestContext): Promise<readonly MessagePreview[]> {
    const { organizationId } = context;
    const contactOf: TrialDeps['contactOf'] = (name, index) =>
      knownContact(this.#readStore, organizationId, name, ['actions', index]);
    const deps = { vault: this.#vault, ids: this.#ids, contactOf };
    const made = await trialNotifications(deps, input, trial, organizationId);
    return this.#ask(organizationId, made, context);
  }

  /** Of one action of a saved task. */
  async ofAction(
    task: PreviewedTask,
    action: StoredAction,
    run: Found | null,
    kind: NotificationKind | 'digest',
    context: RequestContext,
  ): Promise<MessagePreview | null> {
    const now = toTimestamp(this.#clock.now());
    const none = {
      id: this.#ids.next('exe'),
      outcome: kind === 'triggered' || kind === 'digest',
      values: {},
      finishedAt: now,
      page: null,
    };
    const found = run ?? { ...none, error: null };
    const madeOf = (told: NotificationKind): NotificationRequest =>
      notificationOf(this.#ids, task, action, found, foreseenMessage(told, task.spec.policy, run));
    const made = kind === 'digest' ? { ...madeOf('triggered'), gathered: [madeOf('recovered')] } : madeOf(kind);
    const [preview] = await this.#ask(task.id, [made], context);
    return preview ?? null;
  }

  async #ask(
    ownerId: string,
    notifications: readonly PreviewedNotification[],
    context: RequestContext,
  ): Promise<readonly MessagePreview[]> {
    if (notifications.length === 0) return [];
    const query = toJsonObject({ ownerId, notifications });
    return previewAnswer.parse(await this.#bus.request(requests.deliveryPreview, query, context, deadlineMs)).messages;
  }
}
