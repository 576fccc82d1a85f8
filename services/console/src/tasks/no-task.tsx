/** Which filters hide tasks, and a way out: where none matches, and where no button above the list says so. */
import type { ReactNode } from 'react';
import { useTexts, type Texts } from '../text/text.js';
import { conditionsOf, filterOf, searchOf, type TaskFilter } from './task-filter.js';

const conditionWords = {
  unknown: 'state.unknown',
  false: 'state.notMet',
  true: 'state.met',
  flapping: 'state.flapping',
} as const;
const healthWords = { ok: 'tasks.healthy', error: 'state.broken', blocked: 'state.blocked' } as const;
const statusWords = { active: 'tasks.active', paused: 'state.paused' } as const;

/** Each filter that is set, by its name in the address and as people say it. */
function wordsOf(filter: TaskFilter, t: Texts['t']): readonly (readonly [string, string])[] {
  const { q, tag, status, condition, health } = filter;
  const words: (readonly [string, string])[] = [];
  if (q !== undefined) words.push(['q', t('tasks.searched', { q })]);
  if (tag !== undefined) words.push(['tag', t('tasks.tagged', { tag })]);
  if (status !== undefined) words.push(['status', t(statusWords[status])]);
  if (condition !== undefined) words.push(['condition', t(conditionWords[condition])]);
  if (health !== undefined) words.push(['health', t(healthWords[health])]);
  return words;
}

/** A button for each filter that is set, to take it away. `of`: of these alone. */
export function FilterButtons(props: {
  readonly filter: TaskFilter;
  readonly go: (next: TaskFilter) => void;
  readonly of?: readonly string[];
  readonly isPlain?: boolean;
}): ReactNode {
  const { t } = useTexts();
  const { filter, go, of, isPlain = false } = props;
  return wordsOf(filter, t)
    .filter(([name]) => of === undefined || of.includes(name))
    .map(([name, words]) => (
      <button
        key={name}
        type="button"
        className={isPlain ? 'button plain' : 'button'}
        onClick={() => go(filterOf(searchOf({ ...filter, [name]: '' })))}
      >
        <bdi>{words}</bdi> ×
      </button>
    ));
}

export function NoTask({
  filter,
  go,
}: {
  readonly filter: TaskFilter;
  readonly go: (next: TaskFilter) => void;
}): ReactNode {
  const { t } = useTexts();
  if (Object.keys(conditionsOf(filter)).length === 0) return <p className="empty card muted">{t('tasks.noneYet')}</p>;
  return (
    <div className="empty card">
      <h2>{t('tasks.noMatch')}</h2>
      <p className="muted">{t('tasks.noMatchWhy')}</p>
      <div className="bar">
        <FilterButtons filter={filter} go={go} />
        <button type="button" className="button" onClick={() => go({ sort: filter.sort })}>
          {t('tasks.showAll')}
        </button>
      </div>
    </div>
  );
}
