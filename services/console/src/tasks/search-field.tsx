/** The search in sight, and by `/`. */
import { Search } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useShortcuts } from '../frame/shortcuts.js';
import { useTexts } from '../text/text.js';
import type { TaskFilter } from './task-filter.js';

export function SearchField({
  filter,
  go,
}: {
  readonly filter: TaskFilter;
  readonly go: (next: TaskFilter) => void;
}): ReactNode {
  const { t } = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(filter.q ?? '');
  useEffect(() => setTyped(filter.q ?? ''), [filter.q]);
  useEffect(() => {
    if (typed.trim() === (filter.q ?? '')) return;
    const { q: _q, ...others } = filter;
    const timer = setTimeout(() => go(typed.trim() === '' ? others : { ...others, q: typed.trim() }), 200);
    return () => clearTimeout(timer);
  }, [typed, filter, go]);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <div className="task-search" role="search">
      <Search size={15} strokeWidth={1.75} aria-hidden="true" />
      <input
        ref={field}
        type="search"
        className="input"
        aria-label={t('tasks.search')}
        placeholder={t('tasks.search')}
        maxLength={200}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape') field.current?.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}
