/** No task matches: which filter hides them, and a way out. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { conditionsOf, filterOf, searchOf, type TaskFilter } from './task-filter.js';

export function NoTask({
  filter,
  go,
}: {
  readonly filter: TaskFilter;
  readonly go: (next: TaskFilter) => void;
}): ReactNode {
  const { t } = useTexts();
  const conditions = Object.entries(conditionsOf(filter));
  return (
    <div className="empty card">
      <h2>{t('tasks.noMatch')}</h2>
      <p className="muted">{t('tasks.noMatchWhy')}</p>
      <div className="bar">
        {conditions.map(([name, value]) => (
          <button
            key={name}
            type="button"
            className="button"
            onClick={() => go(filterOf(searchOf({ ...filter, [name]: '' })))}
          >
            {name}: {String(value)} ×
          </button>
        ))}
        <button type="button" className="button" onClick={() => go({ sort: filter.sort })}>
          {t('tasks.showAll')}
        </button>
      </div>
    </div>
  );
}
