/** All runs of the organisation, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import type { Execution } from '../api/types.js';
import { FilterSelect } from '../frame/filter-select.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { StateMark } from '../marks/state-mark.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { valueText } from '../task/explain.js';
import { timeOfRun } from '../task/happenings.js';
import { stateOfRun } from '../task/what-happened.js';

const filters = {
  status: ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'],
  outcome: ['true', 'false'],
  trigger: ['schedule', 'manual'],
} as const;

function Row({ run }: { readonly run: Execution }): ReactNode {
  const { t } = useTexts();
  return (
    <tr>
      <td>
        <StateMark state={stateOfRun(run)} />
      </td>
      <td className="num">
        <Link href={`/executions/${run.id}`}>
          <RelativeTime at={timeOfRun(run)} />
        </Link>
      </td>
      <td>
        <Link href={`/tasks/${run.notificationId}`}>{t('runs.task')}</Link>
      </td>
      <td className="mono">{run.error === null ? valueText(run.values['value']).slice(0, 120) : run.error.reason}</td>
      <td>
        {run.decision === null
          ? ''
          : t(run.decision.notify ? 'happened.notified' : 'happened.silent', { reason: run.decision.reason })}
      </td>
      <td className="muted">{run.trigger}</td>
    </tr>
  );
}

export function ExecutionsPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('frame.runs'));
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const chosen = Object.fromEntries(
    Object.entries(filters).flatMap(([name, options]) => {
      const value = search.get(name);
      return value !== null && (options as readonly string[]).includes(value) ? [[name, value]] : [];
    }),
  );
  const runs = useInfiniteQuery({
    queryKey: ['executions', chosen],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/api/executions', { params: { query: { ...chosen, limit: 50, after: pageParam } as never } })),
    getNextPageParam: nextCursorOf,
  });
  const all = (runs.data?.pages ?? []).flatMap(({ data }) => data);
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(chosen);
    if (value === '') next.delete(name);
    else next.set(name, value);
    navigate(`/executions${next.size === 0 ? '' : `?${next.toString()}`}`);
  };
  return (
    <div className="stack">
      <div className="bar">
        <h1>{t('frame.runs')}</h1>
        <span className="grow" />
        {Object.entries(filters).map(([name, options]) => (
          <FilterSelect
            key={name}
            label={t(`runs.${name as keyof typeof filters}`)}
            value={chosen[name] ?? ''}
            options={options}
            onChoose={(value) => choose(name, value)}
          />
        ))}
        <button type="button" className="button" onClick={() => void runs.refetch()}>
          {t('frame.refresh')}
        </button>
      </div>
      {runs.error !== null && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      <section className="card scroll" aria-label={t('frame.runs')}>
        <table>
          <thead>
            <tr>
              <th>{t('tasks.state')}</th>
              <th>{t('runs.when')}</th>
              <th>{t('tasks.task')}</th>
              <th>{t('tasks.value')}</th>
              <th>{t('runs.decision')}</th>
              <th>{t('runs.trigger')}</th>
            </tr>
          </thead>
          <tbody>
            {all.map((run) => (
              <Row key={run.id} run={run} />
            ))}
          </tbody>
        </table>
        {all.length === 0 && !runs.isPending && <p className="in muted">{t('runs.none')}</p>}
      </section>
      {runs.hasNextPage && (
        <p>
          <button
            type="button"
            className="button"
            disabled={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            {t('happened.earlier')}
          </button>
        </p>
      )}
    </div>
  );
}
