/** Every revision: who, when, and what changed field by field; any of them can come back. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { diffLines } from 'diff';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.js';
import type { HistoryEntry, Task } from '../api/types.js';
import { DataTable, ShowEarlier } from '../frame/data-table.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { Actor } from '../session/actors.js';
import { useMay } from '../session/session.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { valueText } from '../text/value-text.js';
import { useHistory } from './task-query.js';

const longText = 60;
/** What changed more at once, as a task does that is made, opens by a click. */
const mostOpen = 6;

/** Short values side by side; long texts, as code is, line by line. `isMade`: there was nothing before it. */
export function ChangedField({
  path,
  from,
  to,
  isMade = false,
}: {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
  readonly isMade?: boolean;
}): ReactNode {
  const { t } = useTexts();
  const textOf = (value: unknown): string => (value === undefined ? t('history.unset') : valueText(value));
  const [before, after] = [textOf(from), textOf(to)];
  const isLong = before.includes('\n') || after.includes('\n') || before.length + after.length > longText * 2;
  return (
    <div>
      <code>{path}</code>{' '}
      {isMade ? (
        <ins className="diff-line added">{after}</ins>
      ) : isLong ? (
        <pre>
          {diffLines(before, after).map((part, index) => (
            <span key={index} className={`diff-line ${part.added ? 'added' : part.removed ? 'removed' : ''}`}>
              {part.value.replace(/^(?=.)/gm, part.added ? '+ ' : part.removed ? '− ' : '  ')}
            </span>
          ))}
        </pre>
      ) : (
        <span>
          <del className="diff-line removed">{before}</del> → <ins className="diff-line added">{after}</ins>
        </span>
      )}
    </div>
  );
}

/** What an event changed; what made its task had nothing before it. */
export function ChangedFields({
  type,
  changes,
}: {
  readonly type: string;
  readonly changes: readonly { readonly path: string; readonly from?: unknown; readonly to?: unknown }[];
}): ReactNode {
  return changes.map(({ path, from, to }) => (
    <ChangedField key={path} path={path} from={from} to={to} isMade={type === 'task.created'} />
  ));
}

function Entry({ entry, task }: { readonly entry: HistoryEntry; readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const failed = useFailureToast();
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const rollback = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/notifications/{id}/rollback', {
          params: { path: { id: task.id } },
          body: { revision: entry.revision },
        }),
      ),
    onSuccess: ({ revision }) => {
      void client.invalidateQueries({ queryKey: ['task', task.id] });
      toast(t('history.rolledBack', { revision }));
    },
    onError: (error) => failed(error.message),
  });
  const changes = <ChangedFields type={entry.type} changes={entry.changes} />;
  return (
    <tr>
      <td className="num">{entry.revision}</td>
      <td>
        <RelativeTime at={entry.at} />
      </td>
      <td>
        <Actor actor={entry.actor} />
      </td>
      <td className="stack changes">
        <span className="muted">{entry.type}</span>
        {entry.changes.length > mostOpen ? (
          <details>
            <summary>{t('history.fields', { count: entry.changes.length })}</summary>
            <div className="stack">{changes}</div>
          </details>
        ) : (
          changes
        )}
      </td>
      <td>
        <div className="bar">
          <Link className="button plain" href={`/tasks/${task.id}?at=${encodeURIComponent(entry.at)}`}>
            {t('history.asThen')}
          </Link>
          <button
            type="button"
            className="button"
            disabled={!mayWrite || rollback.isPending || entry.revision === task.revision}
            onClick={() => rollback.mutate()}
          >
            {t('history.rollback')}
          </button>
        </div>
      </td>
    </tr>
  );
}

export function HistoryTab({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const history = useHistory(task.id);
  const entries = (history.data?.pages ?? []).flatMap(({ data }) => data);
  return (
    <div className="stack">
      {history.error !== null && <ProblemNotice error={history.error} onRetry={() => void history.refetch()} />}
      <DataTable
        label={t('tab.history')}
        heads={[t('history.revision'), t('history.when'), t('history.who'), t('history.what'), null]}
      >
        {entries.map((entry) => (
          <Entry key={`${entry.revision} ${entry.type}`} entry={entry} task={task} />
        ))}
      </DataTable>
      <ShowEarlier query={history} />
    </div>
  );
}
