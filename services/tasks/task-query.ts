/** What may be asked of a task beyond its view: its history, and what it was at a moment. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type { TaskDocument } from '#contracts/task';
import type { HistoryQuery, TaskHistory, TaskMoment } from '#contracts/task-history';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { taskAt } from './task-at.js';
import { historyOf } from './task-history.js';

export type TaskQuestion =
  | ({ readonly type: 'history' } & HistoryQuery)
  | { readonly type: 'at'; readonly taskId: string; readonly moment: TaskMoment };

export class TaskQuery {
  constructor(
    readonly question: TaskQuestion,
    readonly context: RequestContext,
  ) {}
}

@QueryHandler(TaskQuery)
export class TaskQueryHandler implements IQueryHandler<TaskQuery, TaskHistory | TaskDocument> {
  readonly #eventStore: EventStore;
  readonly #clock: Clock;

  constructor(@Inject(EVENT_STORE) eventStore: EventStore, @Inject(CLOCK) clock: Clock) {
    this.#eventStore = eventStore;
    this.#clock = clock;
  }

  async execute({ question, context: { organizationId } }: TaskQuery): Promise<TaskHistory | TaskDocument> {
    if (question.type === 'history') return historyOf(this.#eventStore, question, organizationId);
    const { taskId, moment } = question;
    return taskAt({ eventStore: this.#eventStore, clock: this.#clock }, { taskId, organizationId, moment });
  }
}
