/** All messages of the organisation with how far they are, newest first. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useChanges } from '../stream/stream.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { DeliveryState } from './delivery-state.js';

export function DeliveriesPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('frame.deliveries'));
  const client = useQueryClient();
  const queryKey = ['deliveries'] as const;
  useChanges(({ deliveries }) => {
    if (deliveries.length > 0) void client.invalidateQueries({ queryKey });
  });
  const found = useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/api/deliveries', { params: { query: { limit: 50, after: pageParam } as never } })),
    getNextPageParam: nextCursorOf,
  });
  const all = (found.data?.pages ?? []).flatMap(({ data }) => data);
  return (
    <div className="stack">
      <h1>{t('frame.deliveries')}</h1>
      {found.error !== null && <ProblemNotice error={found.error} onRetry={() => void found.refetch()} />}
      <section className="card scroll" aria-label={t('frame.deliveries')}>
        <table>
          <thead>
            <tr>
              <th>{t('tasks.state')}</th>
              <th>{t('runs.when')}</th>
              <th>{t('deliveries.kind')}</th>
              <th>{t('deliveries.channel')}</th>
              <th>{t('tasks.task')}</th>
              <th>{t('deliveries.attempts')}</th>
              <th>{t('deliveries.next')}</th>
            </tr>
          </thead>
          <tbody>
            {all.map((delivery) => (
              <tr key={delivery.id}>
                <td>
                  <DeliveryState state={delivery.state} />
                </td>
                <td className="num">
                  <Link href={`/deliveries/${delivery.id}`}>
                    <RelativeTime at={delivery.createdAt} />
                  </Link>
                </td>
                <td>{delivery.type.replace('notification.', '')}</td>
                <td>{delivery.actionType}</td>
                <td>
                  <Link href={`/tasks/${delivery.notificationId}`}>{t('runs.task')}</Link>
                </td>
                <td className="num">{delivery.attempts.length}</td>
                <td className="num">
                  {delivery.nextAttemptAt === null ? '–' : <RelativeTime at={delivery.nextAttemptAt} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {all.length === 0 && !found.isPending && <p className="in muted">{t('deliveries.none')}</p>}
      </section>
      {found.hasNextPage && (
        <p>
          <button type="button" className="button" onClick={() => void found.fetchNextPage()}>
            {t('happened.earlier')}
          </button>
        </p>
      )}
    </div>
  );
}
