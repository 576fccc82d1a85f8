/** A candidate that runs beside the live task on every real page and sends nothing: how often they agree, and where not. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useMay } from '../session/session.js';
import { AbsoluteTime, RelativeTime } from '../text/time.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { ServerSentence } from '../text/server-sentence.js';

const shadowKey = (id: string) => ['task', id, 'shadow'] as const;

export function useStartShadow(id: string) {
  const client = useQueryClient();
  const toast = useToast();
  const failed = useFailureToast();
  const { t } = useTexts();
  return useMutation({
    mutationFn: (body: object) =>
      dataOf(api.PUT('/api/notifications/{id}/shadow', { params: { path: { id } }, body: body as never })),
    onSuccess: (shadow) => {
      client.setQueryData(shadowKey(id), shadow);
      void client.invalidateQueries({ queryKey: ['task', id, 'at'] });
      toast(t('shadow.started'));
    },
    onError: (error) => failed(error.message),
  });
}

export function ShadowCard({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const words = useRunWords();
  const client = useQueryClient();
  const toast = useToast();
  const failed = useFailureToast();
  const mayWrite = useMay('write');
  const { data, error, refetch } = useQuery({
    queryKey: shadowKey(task.id),
    // Where there is none, asking for it is an error that the browser shows.
    enabled: task.shadow !== undefined,
    refetchInterval: 10_000,
    queryFn: async () => {
      try {
        return await dataOf(api.GET('/api/notifications/{id}/shadow', { params: { path: { id: task.id } } }));
      } catch (refused) {
        if (isProblem(refused) && refused.status === 404) return null;
        throw refused;
      }
    },
  });
  const after = (text: string): void => {
    // It is gone: to ask for it once more would be refused.
    void client.invalidateQueries({
      queryKey: ['task', task.id],
      predicate: ({ queryKey }) => queryKey[2] !== 'shadow',
    });
    toast(text);
  };
  const promote = useMutation({
    mutationFn: () => dataOf(api.POST('/api/notifications/{id}/shadow/promote', { params: { path: { id: task.id } } })),
    onSuccess: ({ revision }) => after(t('draft.saved', { revision })),
    onError: (refused) => failed(refused.message),
  });
  const end = useMutation({
    mutationFn: () => dataOf(api.DELETE('/api/notifications/{id}/shadow', { params: { path: { id: task.id } } })),
    onSuccess: () => after(t('shadow.ended')),
    onError: (refused) => failed(refused.message),
  });
  if (task.shadow === undefined) return null;
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void refetch()} />;
  if (data === null || data === undefined) return null;
  return (
    <section className="card" aria-label={t('shadow.title')}>
      <header>
        <h2>{t('shadow.title')}</h2>
        <span className="small muted">
          {t('shadow.since')} <RelativeTime at={data.since} />
        </span>
        <span className="grow" />
        <button type="button" className="button" disabled={!mayWrite || end.isPending} onClick={() => end.mutate()}>
          {t('shadow.end')}
        </button>
        <button
          type="button"
          className="button main"
          disabled={!mayWrite || promote.isPending}
          onClick={() => promote.mutate()}
        >
          {t('shadow.promote')}
        </button>
      </header>
      <div className="in stack">
        <p>
          {t('shadow.same', { same: data.same, runs: data.runs })} ·{' '}
          {t('shadow.differ', { onlyLive: data.onlyLive, onlyShadow: data.onlyShadow, failed: data.failed })}
        </p>
        <ul>
          {data.differences.slice(0, 20).map((difference) => (
            <li key={difference.executionId}>
              <Link href={`/executions/${difference.executionId}`}>
                <AbsoluteTime at={difference.at} />
              </Link>{' '}
              {words.reason(difference.live.decision.reason)} →{' '}
              {difference.shadow.error === null ? (
                words.reason(difference.shadow.decision.reason)
              ) : (
                <ServerSentence text={difference.shadow.error.message} />
              )}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
