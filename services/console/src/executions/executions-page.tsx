/** All runs of the organisation, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import type { Execution } from '../api/types.js';
import { useAddressFilter } from '../frame/address-filter.js';
import { DataTable, ShowEarlier } from '../frame/data-table.js';
import { FilterSelect } from '../frame/filter-select.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { StateMark } from '../marks/state-mark.js';
import { RelativeTime } from '../text/time.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { useValueText } from '../text/value-text.js';
import { timeOfRun } from '../task/happenings.js';
import { useTaskNames } from '../tasks/task-names.js';
import { stateOfRun } from '../task/what-happened.js';

const filters = {
  status: ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'],
  outcome: ['true', 'false'],
  trigger: ['schedule', 'manual'],
} as const;

function Row({ run, name }: { readonly run: Execution; readonly name: string | null }): ReactNode {
  const { t } = useTexts();
  const words = useRunWords();
  const valueText = useValueText();
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
        <Link href={`/tasks/${run.notificationId}`}>
          <bdi>{name ?? t('runs.task')}</bdi>
        </Link>
      </td>
      {run.error === null ? (
        <td className="mono">{valueText(run.values['value']).slice(0, 120)}</td>
      ) : (
        <td title={run.error.reason}>{words.failure(run.error.reason)}</td>
      )}
      <td>
        {run.decision === null
          ? ''
          : t(run.decision.notify ? 'happened.notified' : 'happened.silent', {
              reason: words.reason(run.decision.reason),
            })}
      </td>
      <td className="muted">{words.trigger(run.trigger)}</td>
    </tr>
  );
}

export function ExecutionsPage(): ReactNode {
  const { t } = useTexts();
  const words = useRunWords();
  useTitle(t('frame.runs'));
  const { chosen, choose } = useAddressFilter(filters);
  const runs = useInfiniteQuery({
    queryKey: ['executions', chosen],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/api/executions', { params: { query: { ...chosen, limit: 50, after: pageParam } as never } })),
    getNextPageParam: nextCursorOf,
  });
  const wordsOf: Readonly<Record<keyof typeof filters, (option: string) => string>> = {
    status: words.status,
    outcome: (outcome) => t(outcome === 'true' ? 'state.met' : 'state.notMet'),
    trigger: words.trigger,
  };
  const all = (runs.data?.pages ?? []).flatMap(({ data }) => data);
  const nameOf = useTaskNames(all.map(({ notificationId }) => notificationId));
  return (
    <div className="stack">
      <div className="bar">
        <h1>{t('frame.runs')}</h1>
        <span className="grow" />
        {Object.entries(filters).map(([name, options]) => (
          <FilterSelect
            key={name}
            label={t(`runs.${name as keyof typeof filters}`)}
            value={chosen[name as keyof typeof filters] ?? ''}
            options={options}
            wordOf={wordsOf[name as keyof typeof filters]}
            onChoose={(value) => choose({ [name]: value })}
          />
        ))}
        <button type="button" className="button" onClick={() => void runs.refetch()}>
          {t('frame.refresh')}
        </button>
      </div>
      {runs.error !== null && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      <DataTable
        label={t('frame.runs')}
        heads={[
          t('tasks.state'),
          t('runs.when'),
          t('tasks.task'),
          t('tasks.value'),
          t('runs.decision'),
          t('runs.trigger'),
        ]}
        none={all.length === 0 && runs.isSuccess ? t('runs.none') : null}
      >
        {all.map((run) => (
          <Row key={run.id} run={run} name={nameOf(run.notificationId)} />
        ))}
      </DataTable>
      <ShowEarlier query={runs} />
    </div>
  );
}
