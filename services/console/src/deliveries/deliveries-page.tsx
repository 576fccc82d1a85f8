/** All messages of the organisation with how far they are, newest first; those that did not arrive are sent again from here. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useActionTypes } from '../actions/action-types.js';
import { useChannelName } from '../actions/use-channel-name.js';
import { answerOf, api } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import type { Delivery } from '../api/types.js';
import { useAddressFilter } from '../frame/address-filter.js';
import { DataTable, ShowEarlier } from '../frame/data-table.js';
import { FilterSelect } from '../frame/filter-select.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useChanges } from '../stream/stream.js';
import { useTaskNames } from '../tasks/task-names.js';
import { RelativeTime } from '../text/time.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { DeliveryState } from './delivery-state.js';
import { kindOf, states } from './delivery-words.js';
import { RecoverDialog } from './recover-dialog.js';
import { ResendButton } from './resend-button.js';

function Row({ delivery, name }: { readonly delivery: Delivery; readonly name: string | null }): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
  const last = delivery.attempts.at(-1);
  const words = useRunWords();
  return (
    <tr>
      <td>
        <DeliveryState state={delivery.state} />
      </td>
      <td className="num">
        <Link href={`/deliveries/${delivery.id}`}>
          <RelativeTime at={delivery.createdAt} />
        </Link>
      </td>
      <td>
        {words.kind(kindOf(delivery))} · {channelName(delivery.actionType)}
      </td>
      <td>
        <Link href={`/tasks/${delivery.notificationId}`}>
          <bdi>{name ?? t('runs.task')}</bdi>
        </Link>{' '}
        · <Link href={`/executions/${delivery.executionId}`}>{t('happened.run')}</Link>
      </td>
      <td className="num">
        {delivery.attempts.length}
        <span className="small muted"> {last?.response?.status ?? last?.error?.reason}</span>
      </td>
      <td className="num">{delivery.nextAttemptAt === null ? '–' : <RelativeTime at={delivery.nextAttemptAt} />}</td>
      <td>
        {(delivery.state === 'failed' || delivery.state === 'expired' || delivery.state === 'unknown') && (
          <ResendButton delivery={delivery} className="button plain" />
        )}
      </td>
    </tr>
  );
}

export function DeliveriesPage(): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
  useTitle(t('frame.deliveries'));
  const client = useQueryClient();
  const types = useActionTypes();
  const channels = (types.data ?? []).map(({ type }) => type);
  const { chosen, choose } = useAddressFilter({ state: states, actionType: null });
  const queryKey = ['deliveries', chosen] as const;
  useChanges(({ deliveries }) => {
    if (deliveries.length > 0) void client.invalidateQueries({ queryKey });
  });
  const found = useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/api/deliveries', { params: { query: { ...chosen, limit: 50, after: pageParam } as never } })),
    getNextPageParam: nextCursorOf,
  });
  const all = (found.data?.pages ?? []).flatMap(({ data }) => data);
  const nameOf = useTaskNames(all.map(({ notificationId }) => notificationId));
  return (
    <div className="stack">
      <div className="bar">
        <h1>{t('frame.deliveries')}</h1>
        <span className="grow" />
        <FilterSelect
          label={t('tasks.state')}
          value={chosen.state ?? ''}
          options={states}
          wordOf={(state) => t(`delivery.${state as Delivery['state']}`)}
          onChoose={(state) => choose({ state })}
        />
        <FilterSelect
          label={t('deliveries.channel')}
          value={chosen.actionType ?? ''}
          options={channels}
          wordOf={channelName}
          onChoose={(actionType) => choose({ actionType })}
        />
        <RecoverDialog channels={channels} />
      </div>
      {found.error !== null && <ProblemNotice error={found.error} onRetry={() => void found.refetch()} />}
      <DataTable
        label={t('frame.deliveries')}
        heads={[
          t('tasks.state'),
          t('runs.when'),
          t('deliveries.kind'),
          t('tasks.task'),
          t('deliveries.attempts'),
          t('deliveries.next'),
          null,
        ]}
        none={all.length === 0 && found.isSuccess ? t('deliveries.none') : null}
      >
        {all.map((delivery) => (
          <Row key={delivery.id} delivery={delivery} name={nameOf(delivery.notificationId)} />
        ))}
      </DataTable>
      <ShowEarlier query={found} />
    </div>
  );
}
