/** The pages that links in messages lead to: a task, and a run of it. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import { explanation, type Explanation } from '#contracts/explanation';
import { executionsView, type ExecutionDocument } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { pageText } from '#hints/page-text';
import type { Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore, type ViewDefinition } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { findExecution, findTask, readPageOfExecution } from '../find-owned.js';
import { executionPage } from './execution-page.js';
import { memberPage } from './page-route.js';
import { taskListPage, taskPage } from './task-page.js';

const explainDeadlineMs = 20_000;
const tasksAPage = 50;
const lastShown = 20;
/** Letters of the page that was seen. */
const excerptLength = 600;
/** Of a large page the beginning is enough. */
const excerptedBytes = 1_048_576;
/** A run's messages are made when it is decided. */
const decidedWithinMs = 600_000;

const tasks = memberPage('/tasks');
const task = route({ ...memberPage('/tasks/{id}'), ids: { id: { prefix: 'ntf', of: 'task' } } });
const execution = route({ ...memberPage('/executions/{id}'), ids: { id: { prefix: 'exe', of: 'run' } } });

/** From 1; what is no page number is the first page. */
function pageNumberOf(url: string): number {
  const given = new URL(url, 'http://here.invalid').searchParams.get('page') ?? '';
  return /^[1-9][0-9]{0,6}$/.test(given) ? Number(given) : 1;
}

@Controller()
export class TaskPagesController {
  readonly #readStore: ReadStore;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #snapshots: Snapshots;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(BUS) bus: Bus,
    @Inject(CLOCK) clock: Clock,
    @Inject(SNAPSHOTS) snapshots: Snapshots,
  ) {
    this.#readStore = readStore;
    this.#bus = bus;
    this.#clock = clock;
    this.#snapshots = snapshots;
  }

  @Handles(tasks)
  async list(@Call() { context }: RouteCall<typeof tasks>, @Req() request: FastifyRequest): Promise<Answer> {
    const number = pageNumberOf(request.url);
    const { documents, total } = await this.#readStore.page(tasksView, {
      where: [{ field: 'organizationId', equals: context.organizationId }],
      sort: [{ field: 'attention', descending: true }],
      limit: tasksAPage,
      offset: (number - 1) * tasksAPage,
      count: true,
    });
    const all = total ?? 0;
    return taskListPage({ tasks: documents, total: all, number, pages: Math.ceil(all / tasksAPage) });
  }

  @Handles(task)
  async task(@Call() { ids, context }: RouteCall<typeof task>): Promise<Answer> {
    const found = await findTask(this.#readStore, context.organizationId, ids.id);
    const [explained, runs, deliveries] = await Promise.all([
      this.#explain(found.id, toTimestamp(this.#clock.now()), context),
      this.#lastOf(executionsView, 'queuedAt', found.id),
      this.#lastOf(deliveriesView, 'createdAt', found.id),
    ]);
    return taskPage({ task: found, explained, runs, deliveries });
  }

  @Handles(execution)
  async execution(@Call() { ids, context }: RouteCall<typeof execution>): Promise<Answer> {
    const found = await findExecution(this.#readStore, context.organizationId, ids.id);
    const [owner, steps, deliveries, excerpt] = await Promise.all([
      this.#readStore.get(tasksView, found.notificationId),
      this.#stepsOf(found, context),
      this.#deliveriesOf(found),
      this.#excerptOf(found),
    ]);
    return executionPage({ execution: found, taskName: owner?.spec.name ?? null, steps, deliveries, excerpt });
  }

  async #explain(taskId: string, at: string, context: RequestContext): Promise<Explanation> {
    return explanation.parse(await this.#bus.request(requests.runExplain, { taskId, at }, context, explainDeadlineMs));
  }

  /** The rules that were asked; none where another run of the task ended at the same instant, or the task is archived. */
  async #stepsOf({ id, notificationId, finishedAt, decision }: ExecutionDocument, context: RequestContext) {
    if (finishedAt === null || decision === null) return [];
    try {
      const explained = await this.#explain(notificationId, finishedAt, context);
      return explained.execution?.id === id ? explained.steps : [];
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  }

  async #lastOf<Document extends object>(
    view: ViewDefinition<Document>,
    field: string,
    taskId: string,
  ): Promise<readonly Document[]> {
    const { documents } = await this.#readStore.page(view, {
      where: [{ field: 'notificationId', equals: taskId }],
      sort: [{ field, descending: true }],
      limit: lastShown,
      offset: 0,
      count: false,
    });
    return documents;
  }

  async #deliveriesOf({ id, notificationId, finishedAt }: ExecutionDocument): Promise<readonly DeliveryDocument[]> {
    if (finishedAt === null) return [];
    const to = toTimestamp(Date.parse(finishedAt) + decidedWithinMs);
    const { documents } = await this.#readStore.page(deliveriesView, {
      where: [
        { field: 'notificationId', equals: notificationId },
        { field: 'createdAt', from: finishedAt, to },
      ],
      sort: [{ field: 'createdAt', descending: false }],
      limit: 200,
      offset: 0,
      count: false,
    });
    return documents.filter(({ executionId }) => executionId === id);
  }

  async #excerptOf(execution: ExecutionDocument): Promise<string | null> {
    const kept = await readPageOfExecution(this.#snapshots, execution);
    if (kept === null) return null;
    const content = new TextDecoder('utf-8').decode(kept.body.subarray(0, excerptedBytes));
    return kept.snapshot.contentKind === 'html' ? pageText(content, excerptLength) : content.slice(0, excerptLength);
  }
}
