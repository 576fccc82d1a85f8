/** Pages of the list by number, fetched as they come into sight, and kept up to date by the stream. */
import { useQueries, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { answerOf, api } from '../api/client.js';
import type { RecentRuns, Task } from '../api/types.js';
import type { ChangedTask } from '../stream/changes.js';
import { useChanges } from '../stream/stream.js';
import type { TaskFilter } from './task-filter.js';

export const pageSize = 100;

export type ListedTask = Task & { readonly recent?: RecentRuns | undefined };

interface TasksPage {
  readonly data: readonly ListedTask[];
  readonly pagination: { readonly total: number };
}

const keyOf = (filter: TaskFilter, page: number) => ['tasks', filter, page] as const;
const longestStrip = 40;
const longestSpark = 24;

/** The stream brings the newest run alone: it is added to those that are known. */
export function withNewest(known: ListedTask, changed: ChangedTask): ListedTask {
  if (changed.recent === undefined || known.recent === undefined) return { ...known, ...changed };
  const ids = new Set(changed.recent.runs.map(({ id }) => id));
  const runs = [...known.recent.runs.filter(({ id }) => !ids.has(id)), ...changed.recent.runs].slice(-longestStrip);
  const times = new Set(changed.recent.values.map(({ at }) => at));
  const values = [...known.recent.values.filter(({ at }) => !times.has(at)), ...changed.recent.values].slice(
    -longestSpark,
  );
  return { ...known, ...changed, recent: { runs, values } };
}

/** Puts changed tasks into their rows. Rows stay where they are; the ids that stand in no loaded row are answered. */
function placeChanges(client: QueryClient, filter: TaskFilter, changed: readonly ChangedTask[]): readonly string[] {
  const byId = new Map(changed.map((task) => [task.id, task]));
  const placed = new Set<string>();
  for (const [key, page] of client.getQueriesData<TasksPage>({ queryKey: ['tasks', filter] })) {
    if (page === undefined || !page.data.some(({ id }) => byId.has(id))) continue;
    const data = page.data.map((known) => {
      const task = byId.get(known.id);
      if (task === undefined) return known;
      placed.add(known.id);
      return withNewest(known, task);
    });
    client.setQueryData(key, { ...page, data });
  }
  return [...byId.keys()].filter((id) => !placed.has(id));
}

export interface TaskRows {
  readonly total: number | null;
  /** Undefined while its page is on its way. */
  readonly rowAt: (index: number) => ListedTask | undefined;
  readonly error: unknown;
  /** How many tasks changed that are not in sight, or would stand elsewhere now. */
  readonly changedElsewhere: number;
  readonly refresh: () => void;
}

/** `first` and `last`: the rows in sight. */
export function useTaskRows(filter: TaskFilter, first: number, last: number): TaskRows {
  const client = useQueryClient();
  const [elsewhere, setElsewhere] = useState<ReadonlySet<string>>(new Set());
  const firstPage = Math.floor(first / pageSize) + 1;
  const lastPage = Math.floor(Math.max(first, last) / pageSize) + 1;
  const pages = [...new Set([1, ...Array.from({ length: lastPage - firstPage + 1 }, (_, at) => firstPage + at)])];
  const found = useQueries({
    queries: pages.map((page) => ({
      queryKey: keyOf(filter, page),
      queryFn: async (): Promise<TasksPage> => {
        const query = { ...filter, page, limit: pageSize, include: 'recent' as const };
        const { data, pagination } = await answerOf(
          api.GET('/api/notifications', { params: { query: query as never } }),
        );
        return { data, pagination };
      },
    })),
  });
  useChanges(({ tasks, removed }) => {
    const others = placeChanges(client, filter, tasks);
    const gone = removed.filter(({ kind }) => kind === 'task').map(({ id }) => id);
    if (others.length + gone.length > 0) setElsewhere((before) => new Set([...before, ...others, ...gone]));
  });
  const refresh = useCallback(() => {
    setElsewhere(new Set());
    void client.invalidateQueries({ queryKey: ['tasks'] });
  }, [client]);
  useEffect(() => setElsewhere(new Set()), [filter]);
  const byPage = new Map(pages.map((page, at) => [page, found[at]?.data]));
  return {
    total: byPage.get(1)?.pagination.total ?? null,
    rowAt: (index) => byPage.get(Math.floor(index / pageSize) + 1)?.data[index % pageSize],
    error: found.find(({ error }) => error !== null)?.error ?? null,
    changedElsewhere: elsewhere.size,
    refresh,
  };
}
