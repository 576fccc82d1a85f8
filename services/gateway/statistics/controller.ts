/** HTTP for statistics and values: put together from the view of figures, and from executions where those are few. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Controller, Inject } from '@nestjs/common';
import { endedRuns, type TextFigures } from '#contracts/figures';
import { condition, health } from '#contracts/policy';
import {
  figuresView,
  hourMs,
  organizationFiguresView,
  sumId,
  type FiguresDocument,
  type OrganizationFigures,
} from '#contracts/retention';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse } from '#http/validation';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { ownMember } from '#runtime/json';
import { findTask } from '../find-owned.js';
import { everyDocument } from '../paging.js';
import {
  bucketsIn,
  documentsFrom,
  mostBuckets,
  StatisticsBuilder,
  wholeRange,
  type Range,
  type StatisticsOptions,
} from './buckets.js';
import { organizationStatistics } from './organization-buckets.js';
import { pointsOf, textChanges, thinned, type NumberPoint, type Point } from './points.js';
import * as routes from './routes.js';

const defaultMs = 24 * hourMs;
/** A stretch without a run says nothing of the condition: so many are looked past. */
const mostLookedPast = 20;
const documentsATurn = 50;

const byTask = (id: string): FieldFilter => ({ field: 'notificationId', equals: id });

@Controller()
export class StatisticsController {
  readonly #readStore: ReadStore;
  readonly #clock: Clock;

  constructor(@Inject(READ_STORE) readStore: ReadStore, @Inject(CLOCK) clock: Clock) {
    this.#readStore = readStore;
    this.#clock = clock;
  }

  @Handles(routes.getTaskStatistics)
  async ofTask(@Call() { ids, query, context }: RouteCall<typeof routes.getTaskStatistics>): Promise<Answer> {
    const { id } = await findTask(this.#readStore, context.organizationId, ids.id);
    const range = this.#rangeOf(query);
    const conditionBefore = await this.#conditionBefore(id, documentsFrom(range));
    return data(await this.#statistics([byTask(id)], { range, ...conditionBefore }));
  }

  @Handles(routes.getStatistics)
  async ofAll(@Call() { query, context }: RouteCall<typeof routes.getStatistics>): Promise<Answer> {
    const { organizationId } = context;
    const range = this.#rangeOf(query);
    const owner: FieldFilter = { field: 'organizationId', equals: organizationId };
    const tasks = await this.#tasks(owner);
    return data({ tasks, ...(await this.#organizationStatistics(organizationId, range)) });
  }

  async #organizationStatistics(organizationId: string, range: Range): Promise<object> {
    const nowMs = this.#clock.now();
    const until = toTimestamp(range.toMs - 1);
    const where = (sum: 'hour' | 'day'): FieldFilter[] => [
      { field: 'organizationId', equals: organizationId },
      { field: 'sum', equals: sum },
      { field: 'from', from: sum === 'day' ? documentsFrom(range) : toTimestamp(range.fromMs), to: until },
    ];
    const sizes = range.size === 'day' ? (['day'] as const) : (['day', 'hour'] as const);
    const sums: OrganizationFigures[] = [];
    for (const size of sizes) {
      for await (const sum of everyDocument(this.#readStore, organizationFiguresView, 'from', where(size))) {
        sums.push(sum);
      }
    }
    const hour = sumId(organizationId, 'hour', toTimestamp(nowMs));
    const now = await this.#readStore.get(organizationFiguresView, hour);
    return organizationStatistics(range, sums, { now, nowMs });
  }

  @Handles(routes.getTaskValues)
  async values(@Call() { ids, query, context }: RouteCall<typeof routes.getTaskValues>): Promise<Answer> {
    const { id } = await findTask(this.#readStore, context.organizationId, ids.id);
    const { name, limit } = query;
    const { from, to } = this.#times(query);
    const range = { fromMs: Date.parse(from), toMs: Date.parse(to), size: 'hour' as const };
    const where = [byTask(id), { field: 'from', from: documentsFrom(range), to }];
    const numbers: NumberPoint[] = [];
    const texts: TextFigures[] = [];
    let runs = 0;
    let oldestRuns: string | null = null;
    for await (const document of everyDocument(this.#readStore, figuresView, 'from', where)) {
      const { figures, hour } = document;
      const stretch = ownMember(figures.numbers, name);
      const text = ownMember(figures.texts, name);
      if (stretch !== undefined) numbers.push(...pointsOf(stretch));
      if (text !== undefined) texts.push(text);
      if (hour === null) continue;
      runs += endedRuns(figures).runs;
      oldestRuns ??= hour;
    }
    const within = <P extends Point>(points: readonly P[]): P[] => points.filter(({ at }) => at >= from && at < to);
    if (numbers.length === 0) return data({ points: within(textChanges(texts)).slice(-routes.mostPoints) });
    if (runs > limit || oldestRuns === null) return data({ points: thinned(within(numbers), limit) });
    const since = oldestRuns;
    const single = await this.#singleValues(id, name, { from, to });
    const older = within(numbers).filter(({ at }) => at < since);
    return data({ points: thinned([...older, ...within(single)], limit) });
  }

  /** One for each run. */
  async #singleValues(
    taskId: string,
    name: string,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<NumberPoint[]> {
    // A run may have waited before it found something.
    const queuedFrom = toTimestamp(Date.parse(from) - hourMs);
    const where = [byTask(taskId), { field: 'queuedAt', from: queuedFrom, to }];
    const points: NumberPoint[] = [];
    for await (const execution of everyDocument(this.#readStore, executionsView, 'queuedAt', where)) {
      const value = ownMember(execution.values, name);
      if (execution.finishedAt === null || typeof value !== 'number') continue;
      points.push({ at: execution.finishedAt, value, executionId: execution.id });
    }
    return points.toSorted((one, other) => (one.at < other.at ? -1 : 1));
  }

  #times({ from, to }: Pick<routes.StatisticsQuery, 'from' | 'to'>): { readonly from: string; readonly to: string } {
    const until = to ?? toTimestamp(this.#clock.now());
    const since = from ?? toTimestamp(Date.parse(until) - defaultMs);
    if (since > until) throw refuse(['to'], 'invalid', 'must not be before from');
    return { from: since, to: until };
  }

  #rangeOf({ from, to, bucket }: routes.StatisticsQuery): Range {
    const times = this.#times({ from, to });
    const given = { fromMs: Date.parse(times.from), toMs: Date.parse(times.to), size: bucket };
    // 24 buckets, the last of which is under way.
    const range = wholeRange(from === undefined ? { ...given, fromMs: given.fromMs + hourMs } : given);
    if (bucketsIn(range) > mostBuckets) {
      throw refuse(
        ['from'],
        'too_large',
        `makes more than ${mostBuckets} buckets; ask for days, or for a shorter time`,
        'too_many_buckets',
      );
    }
    return range;
  }

  async #statistics(where: readonly FieldFilter[], options: Omit<StatisticsOptions, 'nowMs'>): Promise<object> {
    const builder = new StatisticsBuilder({ ...options, nowMs: this.#clock.now() });
    const until = toTimestamp(options.range.toMs - 1);
    const inRange = [...where, { field: 'from', from: documentsFrom(options.range), to: until }];
    let count = 0;
    for await (const document of everyDocument(this.#readStore, figuresView, 'from', inRange)) {
      builder.add(document);
      count += 1;
      if (count % documentsATurn === 0) await nextTurn();
    }
    return builder.answer();
  }

  async #conditionBefore(taskId: string, from: string): Promise<Pick<StatisticsOptions, 'conditionBefore'>> {
    const { documents } = await this.#readStore.page(figuresView, {
      where: [byTask(taskId), { field: 'from', from: '', to: toTimestamp(Date.parse(from) - 1) }],
      sort: [{ field: 'from', descending: true }],
      limit: mostLookedPast,
      offset: 0,
      count: false,
    });
    const last: FiguresDocument | undefined = documents.find(({ counted }) => counted !== null);
    return last?.counted === undefined || last.counted === null ? {} : { conditionBefore: last.counted.condition };
  }

  async #tasks(owner: FieldFilter): Promise<object> {
    const count = async (...where: readonly FieldFilter[]): Promise<number> => {
      const query = { where: [owner, ...where], sort: [], limit: 1, offset: 0, count: true };
      return (await this.#readStore.page(tasksView, query)).total ?? 0;
    };
    const by = async (field: string, names: readonly string[]): Promise<object> => {
      const totals = await Promise.all(names.map((name) => count({ field, equals: name })));
      return Object.fromEntries(names.map((name, index) => [name, totals[index]]));
    };
    return {
      total: await count(),
      paused: await count({ field: 'status', equals: 'paused' }),
      byCondition: await by('condition', condition.options),
      byHealth: await by('health', health.options),
    };
  }
}
