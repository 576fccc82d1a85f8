/** The rows in sight, of however many there are. */
import type { Virtualizer } from '@tanstack/react-virtual';
import type { ReactNode, RefObject } from 'react';
import { useTexts } from '../text/text.js';
import { TaskRow } from './task-row.js';
import type { TaskRows } from './tasks-query.js';
import type { Selection } from './use-selection.js';
import { columnWords } from './views-menu.js';
import type { Column } from './views.js';

interface Props {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
  readonly rows: TaskRows;
  readonly columns: readonly Column[];
  readonly selection: Selection;
  /** The row that the keys are at. */
  readonly at: number | null;
}

export function TaskTable({ scroller, virtualizer, rows, columns, selection, at }: Props): ReactNode {
  const { t } = useTexts();
  const items = virtualizer.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="card task-list" ref={scroller} tabIndex={0} role="region" aria-label={t('frame.tasks')}>
      <table aria-rowcount={(rows.total ?? 0) + 1} aria-multiselectable="true" role="grid">
        <thead>
          <tr>
            <th className="pick">
              <span className="visually-hidden">{t('tasks.chosen')}</span>
            </th>
            <th>{t('tasks.state')}</th>
            <th>{t('tasks.task')}</th>
            {columns.map((column) => (
              <th key={column}>{t(columnWords[column])}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr aria-hidden="true" style={{ height: above }} />}
          {items.map(({ index }) => {
            const task = rows.rowAt(index);
            return task === undefined ? (
              <tr key={`row-${index}`} aria-hidden="true">
                <td colSpan={columns.length + 3}>
                  <div className="skeleton" />
                </td>
              </tr>
            ) : (
              <TaskRow
                key={task.id}
                task={task}
                index={index}
                columns={columns}
                isChosen={selection.has(task.id)}
                isAt={at === index}
                onChoose={selection.choose}
              />
            );
          })}
          {below > 0 && <tr aria-hidden="true" style={{ height: below }} />}
        </tbody>
      </table>
    </div>
  );
}
