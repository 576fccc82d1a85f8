/** One message: every attempt with what was sent where and what was answered. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useChannelName } from '../actions/use-channel-name.js';
import { api, dataOf } from '../api/client.js';
import { PageSkeleton } from '../frame/page-skeleton.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useChanges } from '../stream/stream.js';
import { useTaskNames } from '../tasks/task-names.js';
import { AbsoluteTime } from '../text/time.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { DataTable } from '../frame/data-table.js';
import { DeliveryState } from './delivery-state.js';
import { hasEnded, kindOf } from './delivery-words.js';
import { ResendButton } from './resend-button.js';
import { ServerSentence } from '../text/server-sentence.js';
import { DeliveryReason } from './delivery-reason.js';

export function DeliveryPage({ id }: { readonly id: string }): ReactNode {
  const { t } = useTexts();
  const words = useRunWords();
  const channelName = useChannelName();
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
  const nameOf = useTaskNames(data === undefined ? [] : [data.notificationId]);
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <PageSkeleton />;
  return (
    <div className="stack">
      <p className="small muted">
        <Link href="/deliveries">{t('frame.deliveries')}</Link> /
      </p>
      <div className="bar">
        <h1>{t('deliveries.title', { kind: words.kind(kindOf(data)), channel: channelName(data.actionType) })}</h1>
        <DeliveryState state={data.state} />
        <span className="grow" />
        <ResendButton delivery={data} />
        <span className="small muted mono">{data.id}</span>
      </div>
      <p className="muted">
        <Link href={`/tasks/${data.notificationId}`}>
          <bdi>{nameOf(data.notificationId) ?? t('runs.task')}</bdi>
        </Link>{' '}
        · <Link href={`/executions/${data.executionId}`}>{t('happened.run')}</Link> · {t('deliveries.decided')}{' '}
        <AbsoluteTime at={data.createdAt} />
        {!hasEnded(data) && (
          <>
            {' · '}
            {t('deliveries.expires')} <AbsoluteTime at={data.expiresAt} />
          </>
        )}
      </p>
      {data.reason !== null && (
        <p className="notice">
          <DeliveryReason reason={data.reason} />
        </p>
      )}
      {data.state === 'unknown' && <p className="notice warn">{t('deliveries.unknownWhat')}</p>}
      {data.nextAttemptAt !== null && (
        <p className="notice">
          {t('deliveries.next')}: <AbsoluteTime at={data.nextAttemptAt} />
        </p>
      )}
      <DataTable
        label={t('deliveries.attempts')}
        heads={[t('runs.when'), t('deliveries.request'), t('deliveries.answer')]}
        none={
          data.attempts.length === 0 ? t(hasEnded(data) ? 'deliveries.neverTried' : 'deliveries.notTriedYet') : null
        }
      >
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
                  <code>{attempt.error.reason}</code> <ServerSentence text={attempt.error.message} />
                </p>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
