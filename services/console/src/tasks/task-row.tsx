/** One task of the list. Drawn anew only when the task, its place or the choice of it changes. */
import { memo, useSyncExternalStore, type ReactNode } from 'react';
import { Link } from 'wouter';
import { RunStrip } from '../marks/run-strip.js';
import { Sparkline } from '../marks/sparkline.js';
import { stateOf } from '../marks/state.js';
import { StateMark } from '../marks/state-mark.js';
import { useRunWords } from '../text/run-words.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { useValueText } from '../text/value-text.js';
import type { ListedTask } from './tasks-query.js';
import type { Column } from './views.js';

/** As tasks.css has it: taller where a finger has to meet it. */
const rowHeights = { wide: 44, narrow: 60 } as const;
const narrow = matchMedia('(max-width: 720px)');

const watchWidth = (onChange: () => void): (() => void) => {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
};

export function useRowHeight(): number {
  return useSyncExternalStore(watchWidth, () => (narrow.matches ? rowHeights.narrow : rowHeights.wide));
}

/** `shop.example/aeron`: what tells one page from another at a glance. */
export function shortAddress(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname}${search}`;
}

function Value({ task }: { readonly task: ListedTask }): ReactNode {
  const words = useRunWords();
  const valueText = useValueText();
  const { lastExecution: last } = task;
  if (last === null) return <span className="muted">–</span>;
  if (last.status === 'failed' || last.status === 'timed_out') {
    const reason = last.reason ?? last.status;
    return (
      <span className="fault" title={reason}>
        {words.failure(reason)}
      </span>
    );
  }
  const { value } = last;
  if (value === null || value === undefined) return <span className="muted">–</span>;
  return valueText(value);
}

interface Props {
  readonly task: ListedTask;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly isChosen: boolean;
  readonly isAt: boolean;
  readonly onChoose: (index: number, isRange: boolean) => void;
}

function Cell({ column, task }: { readonly column: Column; readonly task: ListedTask }): ReactNode {
  const { t } = useTexts();
  switch (column) {
    case 'value':
      return (
        <td className="value mono">
          <div className="value-and-spark">
            <div className="ellipsis">
              <Value task={task} />
            </div>
            {task.recent !== undefined && (
              <Sparkline values={task.recent.values} label={t('tasks.spark', { count: task.recent.values.length })} />
            )}
          </div>
        </td>
      );
    case 'runs':
      return <td className="runs-cell">{task.recent !== undefined && <RunStrip runs={task.recent.runs} />}</td>;
    case 'lastRun':
      return (
        <td className="num">
          {task.lastExecution === null ? t('tasks.never') : <RelativeTime at={task.lastExecution.finishedAt} />}
        </td>
      );
    case 'lastChange':
      return (
        <td className="num muted">
          <RelativeTime at={task.updatedAt} />
        </td>
      );
    case 'next':
      return (
        <td className="num muted">
          {task.status === 'paused' || task.nextRunAt === null ? '–' : <RelativeTime at={task.nextRunAt} />}
        </td>
      );
    case 'tags':
      return (
        <td>
          <div className="tags">
            {task.tags.slice(0, 3).map((tag) => (
              <Link key={tag} href={`/tasks?tag=${encodeURIComponent(tag)}`} className="tag ellipsis" title={tag}>
                {tag}
              </Link>
            ))}
            {task.tags.length > 3 && <span className="small muted">+{task.tags.length - 3}</span>}
          </div>
        </td>
      );
  }
}

function Row({ task, index, columns, isChosen, isAt, onChoose }: Props): ReactNode {
  const { t } = useTexts();
  return (
    <tr className="row" aria-selected={isChosen} aria-rowindex={index + 2} data-at={isAt ? '' : undefined}>
      <td className="pick">
        <label>
          <span className="visually-hidden">{t('tasks.choose', { name: task.name })}</span>
          <input
            type="checkbox"
            checked={isChosen}
            onChange={() => undefined}
            onClick={({ shiftKey }) => onChoose(index, shiftKey)}
          />
        </label>
      </td>
      <td className="state-cell">
        <StateMark state={stateOf(task)} />
      </td>
      <td className="name-cell">
        <Link href={`/tasks/${task.id}`} className="task-name ellipsis">
          <bdi>{task.name}</bdi>
        </Link>
        <span className="task-address small muted ellipsis">{shortAddress(task.url)}</span>
      </td>
      {columns.map((column) => (
        <Cell key={column} column={column} task={task} />
      ))}
    </tr>
  );
}

export const TaskRow = memo(Row);
