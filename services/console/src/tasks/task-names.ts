/** What tasks are called, for lists that know them by their ids alone. */
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.js';
import { useChanges } from '../stream/stream.js';

const listKey = ['task-names'] as const;
const staleTime = 60_000;

const useNewest = () =>
  useQuery({
    queryKey: listKey,
    staleTime,
    queryFn: async () => {
      const { data } = await answerOf(api.GET('/api/notifications', { params: { query: { limit: 100 } } }));
      return new Map(data.map(({ id, name }) => [id, name] as const));
    },
  });

/** The ids of the newest tasks, for a field that takes names of any. */
export function useNewestTasks(): readonly string[] {
  return [...(useNewest().data?.keys() ?? [])];
}

/** The newest tasks are asked for at once, which is all of them for most; others one by one. Null: not known, or no more there. */
export function useTaskNames(ids: readonly string[]): (id: string) => string | null {
  const client = useQueryClient();
  const newest = useNewest();
  const others = newest.isFetched ? [...new Set(ids)].filter((id) => newest.data?.has(id) !== true) : [];
  const found = useQueries({
    queries: others.map((id) => ({
      queryKey: [...listKey, id],
      // One that is not there is not asked for again.
      staleTime: ({ state }: { readonly state: { readonly data?: string | null | undefined } }) =>
        state.data === null ? Infinity : staleTime,
      queryFn: async () =>
        (await api.GET('/api/notifications/{id}', { params: { path: { id } } })).data?.data.name ?? null,
    })),
  });
  useChanges(({ tasks }) => {
    const isRenamed = tasks.some(({ id, name }) => {
      const known = newest.data?.get(id);
      return known !== undefined && known !== name;
    });
    if (isRenamed) void client.invalidateQueries({ queryKey: listKey });
  });
  const byId = new Map(others.map((id, at) => [id, found[at]?.data ?? null]));
  return (id) => newest.data?.get(id) ?? byId.get(id) ?? null;
}
