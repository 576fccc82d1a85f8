/** Carries out a task command: external keys are claimed first, then the aggregate decides. */
import { createHash, randomUUID } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  taskFold,
  taskStream,
  type ExternalKeyEvent,
  type Task,
  type TaskEvent,
  type TaskState,
} from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import { decodeEvent, encodeEvent } from '#eventing/codec';
import { EVENT_STORE, type EventMetadata, type EventStore, type RecordedEvent } from '#event-store/event-store';
import { foldStream } from '#eventing/fold-stream';
import { runCommand, type CommandOutcome } from '#eventing/run-command';
import type { RequestContext } from '#bus/bus';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { AppError, notFound } from '#runtime/errors';
import { derivedEventId } from '#runtime/ids';
import { taskDecider } from './domain/task.js';

export class ChangeTask {
  constructor(
    readonly command: TaskCommand,
    readonly context: RequestContext,
  ) {}
}

export interface ChangedTask {
  readonly state: TaskState;
  /** null: nothing changed. */
  readonly position: number | null;
}

/** Nothing is left of its state. */
export interface PurgedTask {
  readonly position: number;
}

/** Longer than any request takes. */
const claimGraceMs = 30_000;

/** A stream per key: its last event says which task holds it. Appending to it is what makes keys unique. */
function keyStream(organizationId: string, externalKey: string): string {
  return `externalkey-${createHash('sha256').update(`${organizationId}|${externalKey}`).digest('base64url')}`;
}

/**
 * Only a command that may be repeated has an id of its own. Any other must not look like a repeat to the event store,
 * which takes an event id twice for one append: two clients may send the same request id, and of two creates at once, each
 * with secrets of its own making, the second has to learn that it was the second.
 */
function commandIdOf(command: TaskCommand): string {
  if (command.type === 'disableAction') return `disableAction|${command.taskId}|${command.deliveryId}`;
  const repeatId = 'repeatId' in command ? command.repeatId : null;
  return repeatId === null ? randomUUID() : `${command.type}|${command.taskId}|${repeatId}`;
}

@CommandHandler(ChangeTask)
export class ChangeTaskHandler implements ICommandHandler<ChangeTask, ChangedTask | PurgedTask> {
  constructor(
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ command, context }: ChangeTask): Promise<ChangedTask | PurgedTask> {
    const stream = taskStream(command.taskId);
    const metadata: EventMetadata = { ...context, causationId: null, at: toTimestamp(this.clock.now()) };
    const first = command.type === 'createTask' ? metadata : await this.#checkOwner(context, stream);
    const externalKey = await this.#wantedKey(command);
    if (externalKey !== null) await this.#claim(context, externalKey, command, metadata);
    const { actor } = context;
    const outcome = await runCommand(this.eventStore, taskDecider, {
      stream,
      command: command.type === 'restoreTask' ? { ...command, actor, createdAt: first.at } : { ...command, actor },
      commandId: commandIdOf(command),
      metadata,
      from: 'all',
      expectedRevision: 'expectedRevision' in command ? command.expectedRevision : null,
    });
    if (command.type === 'purgeTask') {
      // Of one that was purged before there is nothing to tell any more.
      if (outcome.position === null) throw notFound('notification');
      return { position: outcome.position };
    }
    const created = outcome.revision === outcome.events.length - 1 ? metadata : await this.#firstOf(stream);
    const last = outcome.events.length > 0 ? metadata : (await this.eventStore.readLast(stream))?.metadata;
    return {
      state: toState(command.taskId, context.organizationId, outcome, created ?? metadata, last ?? metadata),
      position: outcome.position,
    };
  }

  async #firstOf(stream: string): Promise<EventMetadata | null> {
    for await (const first of this.eventStore.read(stream)) return first.metadata;
    return null;
  }

  /** Another organisation's task is as unknown as none. */
  async #checkOwner(context: RequestContext, stream: string): Promise<EventMetadata> {
    const first = await this.#firstOf(stream);
    if (first?.organizationId !== context.organizationId) throw notFound('notification');
    return first;
  }

  /** The external key that the task has after the command; null: none, or it holds the key already. */
  async #wantedKey(command: TaskCommand): Promise<string | null> {
    if ('spec' in command) return command.spec.externalKey;
    if (command.type !== 'restoreTask') return null;
    const { state: task } = await foldStream(this.eventStore, taskFold, taskStream(command.taskId));
    return task.status === 'archived' ? task.spec.externalKey : null;
  }

  async #claim(context: RequestContext, key: string, command: TaskCommand, metadata: EventMetadata): Promise<void> {
    const { taskId, type } = command;
    const stream = keyStream(context.organizationId, key);
    const last = await this.eventStore.readLast(stream);
    const holder = last === null ? null : decodeEvent<ExternalKeyEvent>(last).data.taskId;
    // The claim of an archived task is free for others: a restore makes it anew.
    if (holder === taskId && type !== 'restoreTask') return;
    if (last !== null && holder !== null && (await this.#holds(holder, key, last))) {
      if (holder === taskId) return;
      throw new AppError('VALIDATION_ERROR', 'already_exists', 'Another notification has this externalKey.', {
        details: [{ field: 'externalKey', rule: 'unique', message: `is the key of ${holder}` }],
      });
    }
    const claimed: ExternalKeyEvent = { type: 'externalkey.claimed', data: { taskId } };
    const id = derivedEventId(stream, String(last?.revision ?? -1), taskId);
    const appended = await this.eventStore.append(
      stream,
      [encodeEvent(claimed, id, metadata)],
      last?.revision ?? 'none',
    );
    if (!appended.ok) await this.#claim(context, key, command, metadata);
  }

  /** A claim is made before its task is written: for a while it holds without one; after that the writer has died. */
  async #holds(taskId: string, key: string, claim: RecordedEvent): Promise<boolean> {
    const { state: task, recorded } = await foldStream(this.eventStore, taskFold, taskStream(taskId));
    // A claim from after the archiving is that of a restore.
    if (task.status === 'archived' && (recorded.at(-1)?.position ?? 0) > claim.position) return false;
    if ((task.status === 'active' || task.status === 'paused') && task.spec.externalKey === key) return true;
    return this.clock.now() - Date.parse(claim.metadata.at) < claimGraceMs;
  }
}

function toState(
  id: string,
  organizationId: string,
  { state, revision }: CommandOutcome<Task, TaskEvent>,
  created: EventMetadata,
  last: EventMetadata,
): TaskState {
  if (state.status === 'none') throw notFound('notification');
  const { spec, status, createdBy } = state;
  return { id, organizationId, revision, spec, status, createdAt: created.at, updatedAt: last.at, createdBy };
}
