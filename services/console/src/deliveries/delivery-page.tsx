/** One message: every attempt with what was sent where and what was answered. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { PageSkeleton } from '../frame/page-skeleton.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useChanges } from '../stream/stream.js';
import { AbsoluteTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { DeliveryState } from './delivery-state.js';

export function DeliveryPage({ id }: { readonly id: string }): ReactNode {
  const { t } = useTexts();
  useTitle(t('deliveries.one'));
  const client = useQueryClient();
  const queryKey = ['delivery', id] as const;
  useChanges(({ deliveries }) => {
    if (deliveries.some((delivery) => delivery.id === id)) void client.invalidateQueries({ queryKey });
  });
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: () => dataOf(api.GET('/api/deliveries/{id}', { params: { path: { id } } })),
  });
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <PageSkeleton />;
  return (
    <div className="stack">
      <p className="small muted">
        <Link href="/deliveries">{t('frame.deliveries')}</Link> /
      </p>
      <div className="bar">
        <h1>{t('deliveries.title', { kind: data.type.replace('notification.', ''), channel: data.actionType })}</h1>
        <DeliveryState state={data.state} />
        <span className="grow" />
        <span className="small muted mono">{data.id}</span>
      </div>
      <p className="muted">
        <Link href={`/tasks/${data.notificationId}`}>{t('runs.task')}</Link> ·{' '}
        <Link href={`/executions/${data.executionId}`}>{t('happened.run')}</Link> · {t('deliveries.decided')}{' '}
        <AbsoluteTime at={data.createdAt} /> · {t('deliveries.expires')} <AbsoluteTime at={data.expiresAt} />
      </p>
      {data.reason !== null && <p className="notice">{data.reason}</p>}
      <section className="card">
        <header>
          <h2>{t('deliveries.attempts')}</h2>
          <span className="muted num">{data.attempts.length}</span>
        </header>
        <table>
          <thead>
            <tr>
              <th>{t('runs.when')}</th>
              <th>{t('deliveries.request')}</th>
              <th>{t('deliveries.answer')}</th>
            </tr>
          </thead>
          <tbody>
            {data.attempts.map((attempt) => (
              <tr key={attempt.at}>
                <td className="num">
                  <AbsoluteTime at={attempt.at} />
                  <div className="small muted">{Math.round(attempt.durationMs)} ms</div>
                </td>
                <td className="mono">
                  {attempt.request.method} {attempt.request.url}
                </td>
                <td>
                  {attempt.response !== null && (
                    <>
                      <b className="num">{attempt.response.status}</b>
                      <pre className="answer-body">{attempt.response.body}</pre>
                    </>
                  )}
                  {attempt.error !== null && (
                    <p>
                      <code>{attempt.error.reason}</code> {attempt.error.message}
                    </p>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
