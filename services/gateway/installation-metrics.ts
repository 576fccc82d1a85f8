/** What an operator wants to be woken for, read from the views when Prometheus asks: tasks, lag, what waits, the disk. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { deliveriesView } from '#contracts/delivery';
import { condition, health } from '#contracts/policy';
import { schedulesView } from '#contracts/schedule';
import { tasksView } from '#contracts/task';
import { READ_STORE, type AnyView, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { observe, type Observation } from '#runtime/metrics';

const databases = ['events.db', 'views.db', 'bus.db', 'snapshots.db', 'screenshots.db'];

@Injectable()
export class InstallationMetrics {
  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    observe('meerkat_tasks_by_condition', 'Tasks, by what is known of their condition.', 'condition', () =>
      this.#countBy(tasksView, 'condition', condition.options),
    );
    observe('meerkat_tasks_by_health', 'Tasks, by whether they can be checked.', 'health', () =>
      this.#countBy(tasksView, 'health', health.options),
    );
    observe('meerkat_due_lag_seconds', 'How long the slot that waits longest is overdue.', null, () => this.#dueLag());
    observe('meerkat_runs_open', 'Tasks with a run that is due or begun and has no result yet.', null, async () => [
      { labels: {}, value: await this.#count(schedulesView, [{ field: 'pendingSince', from: '' }]) },
    ]);
    observe('meerkat_deliveries_waiting', 'Deliveries that are to be tried, now or later.', null, async () => [
      { labels: {}, value: await this.#count(deliveriesView, [{ field: 'dueAt', from: '' }]) },
    ]);
    observe('meerkat_database_bytes', 'Size of each embedded database, its write-ahead log included.', 'name', () =>
      this.#databaseSizes(),
    );
  }

  async #count(view: AnyView, where: readonly FieldFilter[]): Promise<number> {
    const { total } = await this.readStore.page(view, { where, sort: [], limit: 0, offset: 0, count: true });
    return total ?? 0;
  }

  #countBy(view: AnyView, field: string, values: readonly string[]): Promise<readonly Observation[]> {
    return Promise.all(
      values.map(async (equals) => ({
        labels: { [field]: equals },
        value: await this.#count(view, [{ field, equals }]),
      })),
    );
  }

  async #dueLag(): Promise<readonly Observation[]> {
    const { documents } = await this.readStore.page(schedulesView, {
      where: [{ field: 'nextDueAt', from: '' }],
      sort: [{ field: 'nextDueAt', descending: false }],
      limit: 1,
      offset: 0,
      count: false,
    });
    const dueAt = documents[0]?.nextDueAt ?? null;
    const lateMs = dueAt === null ? 0 : this.clock.now() - Date.parse(dueAt);
    return [{ labels: {}, value: Math.max(0, lateMs / 1_000) }];
  }

  /** None where the folder is not used. */
  async #databaseSizes(): Promise<readonly Observation[]> {
    const sizes = await Promise.all(
      databases.map(async (name) => {
        const parts = [name, `${name}-wal`].map((file) => stat(join(this.config.dataDir, file)).catch(() => null));
        const [file, log] = await Promise.all(parts);
        return file === null || file === undefined ? [] : [{ labels: { name }, value: file.size + (log?.size ?? 0) }];
      }),
    );
    return sizes.flat();
  }
}
