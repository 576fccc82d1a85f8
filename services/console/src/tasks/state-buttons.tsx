/** The states above the list, each with how many tasks it would show. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import { StateMark } from '../marks/state-mark.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import { isChosen, stateFilters, type TaskFilter } from './task-filter.js';

/** How many tasks each button above the list would show. */
function useTotals(filter: Pick<TaskFilter, 'q' | 'tag'>): ReadonlyMap<string | null, number> {
  const found = useQuery({
    queryKey: ['tasks', 'totals', filter],
    staleTime: 15_000,
    refetchInterval: 30_000,
    queryFn: async () => {
      // The rows are asked for first: browsers have six requests at a time on their way, and these are more.
      await new Promise((resolve) => setTimeout(resolve));
      const totals = stateFilters.map(async ({ state, filter: narrowed }) => {
        const query = { ...filter, ...narrowed, limit: 1 };
        const answer = await answerOf(api.GET('/api/notifications', { params: { query: query as never } }));
        return [state, answer.pagination?.total ?? 0] as const;
      });
      const settled = await Promise.allSettled(totals);
      return settled.flatMap((total) => (total.status === 'fulfilled' ? [total.value] : []));
    },
  });
  return new Map(found.data ?? []);
}

export function StateButtons({
  filter,
  go,
}: {
  readonly filter: TaskFilter;
  readonly go: (next: TaskFilter) => void;
}): ReactNode {
  const { t } = useTexts();
  const number = useNumbers();
  const { q, tag, sort } = filter;
  const narrowed = useMemo(() => ({ ...(q !== undefined && { q }), ...(tag !== undefined && { tag }) }), [q, tag]);
  const totals = useTotals(narrowed);
  return (
    <div className="counts" role="group" aria-label={t('tasks.byState')}>
      {stateFilters
        .filter(({ state }) => state !== 'blocked' || (totals.get('blocked') ?? 0) > 0)
        .map(({ state, filter: own }) => (
          <button
            key={state ?? 'all'}
            type="button"
            aria-pressed={isChosen(filter, own)}
            onClick={() => go({ ...narrowed, ...own, sort })}
          >
            {state === null ? t('tasks.all') : <StateMark state={state} />}
            {totals.has(state) && <b className="num">{number(totals.get(state) ?? 0)}</b>}
          </button>
        ))}
    </div>
  );
}
