/** Every change in the organisation with who, when and what, and whether the record is whole. */
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api, dataOf } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import { useAddressFilter } from '../frame/address-filter.js';
import { DataTable, ShowEarlier } from '../frame/data-table.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { Actor, useActorNames } from '../session/actors.js';
import { ChangedFields } from '../task/history-tab.js';
import { useNewestTasks, useTaskNames } from '../tasks/task-names.js';
import { AbsoluteTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { AuditFilter, auditFilters } from './audit-filter.js';
import { namedTasks } from './named-tasks.js';
import { actorOfResource } from './typed-names.js';

function Verification(): ReactNode {
  const { t } = useTexts();
  const verify = useMutation({ mutationFn: () => dataOf(api.GET('/api/audit/verify')) });
  const { data, error } = verify;
  return (
    <div className="stack">
      <p>
        <button type="button" className="button" disabled={verify.isPending} onClick={() => verify.mutate()}>
          {t('audit.verify')}
        </button>
      </p>
      {error !== null && <ProblemNotice error={error} />}
      {data !== undefined && (
        <p className={data.intact ? 'notice good' : 'notice bad'} role="status">
          {data.intact
            ? t('audit.intact', { events: data.events, head: data.head.slice(0, 16) })
            : t('audit.broken', { message: data.brokenAt?.message ?? '' })}
        </p>
      )}
    </div>
  );
}

export function AuditPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('frame.audit'));
  const { chosen, choose } = useAddressFilter(auditFilters);
  const found = useInfiniteQuery({
    queryKey: ['audit', chosen],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/api/audit', { params: { query: { ...chosen, limit: 50, after: pageParam } as never } })),
    getNextPageParam: nextCursorOf,
  });
  const entries = (found.data?.pages ?? []).flatMap(({ data }) => data);
  const tasks = namedTasks(entries);
  const nameOfTask = useTaskNames([...tasks]);
  const newest = useNewestTasks();
  const { nameOf } = useActorNames();
  const nameOfResource = (id: string): string => {
    const actor = actorOfResource(id);
    return nameOfTask(id) ?? (actor === null ? id : nameOf(actor));
  };
  const named = [...new Set([...tasks, chosen.resource ?? '', ...newest])].flatMap((ref) => {
    const name = nameOfTask(ref);
    return name === null ? [] : [{ ref, name, shown: name }];
  });
  return (
    <div className="stack">
      <h1>{t('frame.audit')}</h1>
      <Verification />
      <AuditFilter
        key={JSON.stringify(chosen)}
        chosen={chosen}
        choose={choose}
        nameOfResource={nameOfResource}
        tasks={named}
      />
      {found.error !== null && <ProblemNotice error={found.error} onRetry={() => void found.refetch()} />}
      <DataTable
        label={t('frame.audit')}
        heads={[t('history.when'), t('audit.type'), t('history.who'), t('audit.resource'), t('history.what')]}
        none={entries.length === 0 && found.isSuccess ? t('audit.none') : null}
      >
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td className="num">
              <AbsoluteTime at={entry.at} />
            </td>
            <td>
              <code>{entry.type}</code>
            </td>
            <td>
              <Actor actor={entry.actor} />
            </td>
            <td className="mono">
              {tasks.has(entry.resource) ? (
                <Link href={`/tasks/${entry.resource}`}>
                  <bdi title={entry.resource}>{nameOfResource(entry.resource)}</bdi>
                </Link>
              ) : (
                <bdi title={entry.resource}>{nameOfResource(entry.resource)}</bdi>
              )}
            </td>
            <td>
              <details>
                <summary className="muted">{t('audit.changes', { count: entry.changes?.length ?? 0 })}</summary>
                <ChangedFields type={entry.type} changes={entry.changes ?? []} />
                <p className="small muted mono">
                  {entry.requestId} · {entry.hash.slice(0, 16)}
                </p>
              </details>
            </td>
          </tr>
        ))}
      </DataTable>
      <ShowEarlier query={found} />
    </div>
  );
}
