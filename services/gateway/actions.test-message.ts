/** A test message of an action: a delivery like any other, asked of the delivery service, and waited for a little. */
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { sleep } from '#concurrency/sleep';
import type { StoredAction } from '#contracts/action';
import { deliveriesView, type DeliveryDocument, type NotificationRequest } from '#contracts/delivery';
import { executionsView } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import type { IdempotentAttempt } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { derivedId, IDS, type Ids } from '#runtime/ids';
import { Activities } from './activities.js';

/** A person waits for the answer. Most receivers answer within it, and a webhook may take longer. */
const waitMs = 15_000;
const lookAgainMs = 20;
const slowestLookMs = 200;

/** A test that arrives when nobody remembers it would be taken for a notification. */
const expireAfterMs = 300_000;

export interface TestRequest {
  readonly context: RequestContext;
  readonly attempt: IdempotentAttempt | null;
  readonly signal: AbortSignal;
}

/** What the view will show of it first. */
function pendingDelivery(request: NotificationRequest): DeliveryDocument {
  const { deliveryId, organizationId, taskId, executionId, action, createdAt, expiresAt } = request;
  return {
    id: deliveryId,
    organizationId,
    notificationId: taskId,
    executionId,
    actionId: action.id,
    actionType: action.type,
    type: 'notification.test',
    state: 'pending',
    reason: null,
    attempts: [],
    createdAt,
    nextAttemptAt: createdAt,
    expiresAt,
    finishedAt: null,
    dueAt: createdAt,
  };
}

/** The first attempt has told what it can tell. */
function hasResult({ state, finishedAt }: DeliveryDocument): boolean {
  return finishedAt !== null || state === 'retrying';
}

@Injectable()
export class TestMessenger {
  readonly #bus: Bus;
  readonly #readStore: ReadStore;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #activities: Activities;

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(CLOCK) clock: Clock,
    @Inject(IDS) ids: Ids,
    @Inject(Activities) activities: Activities,
  ) {
    this.#bus = bus;
    this.#readStore = readStore;
    this.#clock = clock;
    this.#ids = ids;
    this.#activities = activities;
  }

  /** The delivery once its first attempt has ended, or as it is after a short time. */
  async send(task: TaskDocument, action: StoredAction, test: TestRequest): Promise<DeliveryDocument> {
    const request = await this.#requestFor(task, action, test.attempt);
    const { createdAt: at, deliveryId } = request;
    const data = { resource: task.id, actionId: action.id, deliveryId };
    await this.#activities.record({ type: 'activity.message_tested', data }, test.context);
    await this.#bus.publish('run', [
      {
        id: `notification.requested:${deliveryId}`,
        type: 'notification.requested',
        key: deliveryId,
        data: request,
        metadata: { ...test.context, causationId: null, at },
      },
    ]);
    const giveUpAtMs = performance.now() + waitMs;
    let lookMs = lookAgainMs;
    for (;;) {
      const delivery = await this.#readStore.get(deliveriesView, deliveryId);
      const leftMs = giveUpAtMs - performance.now();
      if ((delivery !== null && hasResult(delivery)) || leftMs <= 0 || test.signal.aborted) {
        return delivery ?? pendingDelivery(request);
      }
      await sleep(Math.min(lookMs, leftMs), test.signal);
      lookMs = Math.min(slowestLookMs, lookMs * 1.5);
    }
  }

  /** The same request again, after a crash, asks for the same delivery. */
  async #requestFor(
    task: TaskDocument,
    action: StoredAction,
    attempt: IdempotentAttempt | null,
  ): Promise<NotificationRequest> {
    const createdMs = attempt?.startedAtMs ?? this.#clock.now();
    const parts = attempt === null ? null : [action.id, 'test', attempt.key, String(attempt.startedAtMs)];
    const idOf = (prefix: 'dlv' | 'exe'): string =>
      parts === null ? this.#ids.next(prefix) : derivedId(prefix, createdMs, ...parts);
    const { name, description, url, tags } = task.spec;
    const createdAt = toTimestamp(createdMs);
    const none = { id: idOf('exe'), outcome: true, values: {}, finishedAt: createdAt, finalUrl: url };
    const execution = (await this.#lastExecution(task)) ?? none;
    return {
      deliveryId: idOf('dlv'),
      organizationId: task.organizationId,
      taskId: task.id,
      executionId: execution.id,
      action,
      kind: 'test',
      context: {
        task: { id: task.id, name, ...(description === '' ? {} : { description }), url, tags },
        execution,
        transition: null,
        message: `This is a test of "${name}": nothing has happened, and its messages arrive here.`,
      },
      createdAt,
      expiresAt: toTimestamp(createdMs + expireAfterMs),
    };
  }

  /** Real values in the user's own templates; null where nothing was run yet. */
  async #lastExecution({ lastExecution }: TaskDocument): Promise<NotificationRequest['context']['execution'] | null> {
    const found = lastExecution === null ? null : await this.#readStore.get(executionsView, lastExecution.id);
    if (found === null || found.finishedAt === null) return null;
    const { id, outcome, values, finishedAt, page } = found;
    return { id, outcome, values, finishedAt, finalUrl: page?.finalUrl ?? null };
  }
}
