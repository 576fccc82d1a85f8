/** The list: what needs somebody first, live, searched and narrowed by what stands in the address. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { Plus } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, Redirect, useLocation, useSearch } from 'wouter';
import { Choice } from '../frame/choice.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useShortcuts } from '../frame/shortcuts.js';
import { useTitle } from '../frame/title.js';
import { stateOf, stateWords } from '../marks/state.js';
import { useMay } from '../session/session.js';
import { useConnection } from '../stream/stream.js';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import { BulkBar } from './bulk-bar.js';
import { useBulk } from './bulk.js';
import { FilterButtons, NoTask } from './no-task.js';
import { SearchField } from './search-field.js';
import { StateButtons } from './state-buttons.js';
import { conditionsOf, filterOf, isChosen, searchOf, sorts, stateFilters, type TaskFilter } from './task-filter.js';
import { useRowHeight } from './task-row.js';
import { TaskTable } from './task-table.js';
import { useTaskRows, type ListedTask } from './tasks-query.js';
import { useSelection, type Selection } from './use-selection.js';
import { ViewsMenu } from './views-menu.js';
import { saveColumns, shownColumns } from './views.js';
import './tasks.css';

const sortWords = {
  attention: 'sort.attention',
  '-createdAt': 'sort.newest',
  createdAt: 'sort.oldest',
  name: 'sort.name',
  '-name': 'sort.nameBackwards',
  nextRunAt: 'sort.next',
} as const satisfies Readonly<Record<(typeof sorts)[number], TextKey>>;

interface Keyboard {
  readonly current: ListedTask | undefined;
  readonly at: number | null;
  readonly move: (step: number) => void;
  readonly selection: Selection;
}

/** The keys of the list, for the row that `j` and `k` have come to. */
function useListKeys({ current, at, move, selection }: Keyboard): void {
  const bulk = useBulk();
  const [mayWrite, mayRun] = [useMay('write'), useMay('execute')];
  const [, navigate] = useLocation();
  const forCurrent = (run: (task: ListedTask) => void): void => {
    if (current !== undefined) run(current);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    x: () => at !== null && selection.choose(at, false),
    Enter: () => forCurrent(({ id }) => navigate(`/tasks/${id}`)),
    e: () => forCurrent(({ id }) => navigate(`/tasks/${id}/condition`)),
    p: () =>
      forCurrent(({ id, status }) => {
        if (mayWrite) bulk.mutate({ deed: status === 'paused' ? 'resume' : 'pause', chosen: { ids: [id] } });
      }),
    r: () =>
      forCurrent(({ id }) => {
        if (mayRun) bulk.mutate({ deed: 'execute', chosen: { ids: [id] } });
      }),
    Escape: selection.clear,
  });
}

function ListFooter({ changed, onRefresh }: { readonly changed: number; readonly onRefresh: () => void }): ReactNode {
  const { t } = useTexts();
  const { lostAt } = useConnection();
  return (
    <div className="bar small muted">
      <span className={lostAt === null ? 'live-dot' : 'live-dot off'} aria-hidden="true" />
      <span>{t(lostAt === null ? 'tasks.live' : 'tasks.notLive')}</span>
      {changed > 0 && (
        <button type="button" className="button plain" onClick={onRefresh}>
          {t('tasks.changed', { count: changed })}
        </button>
      )}
      <span className="grow" />
      <span aria-hidden="true" className="key-hints">
        <kbd>j</kbd> <kbd>k</kbd> {t('keys.move')} · <kbd>x</kbd> {t('keys.choose')} · <kbd>p</kbd> {t('keys.pause')} ·{' '}
        <kbd>r</kbd> {t('keys.run')} · <kbd>?</kbd> {t('keys.all')}
      </span>
    </div>
  );
}

export function TasksPage(): ReactNode {
  const { t } = useTexts();
  const number = useNumbers();
  useTitle(t('frame.tasks'));
  const search = useSearch();
  const filter = useMemo(() => filterOf(search), [search]);
  const [, navigate] = useLocation();
  const go = useCallback((next: TaskFilter) => navigate(`/tasks${searchOf(next)}`), [navigate]);
  const [columns, setColumns] = useState(shownColumns);
  const [at, setAt] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [inSight, setInSight] = useState({ first: 0, last: 30 });
  const rows = useTaskRows(filter, inSight.first, inSight.last);
  const { total, rowAt, error, refresh } = rows;
  const selection = useSelection(filter, (index) => rowAt(index)?.id);
  const rowHeight = useRowHeight();
  const virtualizer = useVirtualizer({
    count: total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    const timer = setTimeout(() => setInSight({ first, last }), 50);
    return () => clearTimeout(timer);
  }, [first, last]);
  useEffect(() => {
    setAt(null);
    scroller.current?.scrollTo({ top: 0 });
  }, [filter]);
  const current = at === null ? undefined : rowAt(at);
  const move = (step: number): void => {
    if (total === null || total === 0) return;
    const next = Math.max(0, Math.min(total - 1, (at ?? -1) + step));
    setAt(next);
    virtualizer.scrollToIndex(next);
  };
  useListKeys({ current, at, move, selection });
  const mayWrite = useMay('write');
  const isNarrowed = Object.keys(conditionsOf(filter)).length > 0;
  if (total === 0 && !isNarrowed && mayWrite) return <Redirect to="/new" replace />;
  // What an old view or a link narrows the list by may be no state of the buttons.
  const isState = stateFilters.some(({ filter: own }) => isChosen(filter, own));
  const unsaid = isState ? ['tag'] : ['tag', 'status', 'condition', 'health'];
  return (
    <div className="stack">
      <div className="bar">
        <h1>{t('frame.tasks')}</h1>
        {total !== null && <span className="muted num">{number(total)}</span>}
        <span className="grow" />
        <SearchField filter={filter} go={go} />
        <Link href="/settings/transfer" className="button">
          {t('tasks.import')}
        </Link>
        {mayWrite && (
          <Link href="/new" className="button main">
            <Plus size={15} aria-hidden="true" /> {t('command.newTask')} <kbd aria-hidden="true">n</kbd>
          </Link>
        )}
      </div>
      <div className="bar">
        <StateButtons filter={filter} go={go} />
        <span className="grow" />
        {total !== 0 && <FilterButtons filter={filter} go={go} of={unsaid} isPlain />}
        <Choice
          label={t('sort.label', { sort: t(sortWords[filter.sort]) })}
          value={filter.sort}
          options={sorts.map((sort) => [sort, t(sortWords[sort])] as const)}
          onChoose={(sort) => go({ ...filter, sort })}
        />
        <ViewsMenu
          search={searchOf(filter)}
          shown={columns}
          onColumns={(next) => {
            saveColumns(next);
            setColumns(next);
          }}
        />
      </div>
      {!selection.isEmpty && (
        <BulkBar
          chosen={selection.chosen}
          count={selection.count ?? total ?? 0}
          total={total ?? 0}
          onChooseAll={selection.chooseAll}
          onClear={selection.clear}
        />
      )}
      {error !== null && <ProblemNotice error={error} onRetry={refresh} />}
      {total === 0 ? (
        <NoTask filter={filter} go={go} />
      ) : (
        <TaskTable
          scroller={scroller}
          virtualizer={virtualizer}
          rows={rows}
          columns={columns}
          selection={selection}
          at={at}
        />
      )}
      <ListFooter changed={rows.changedElsewhere} onRefresh={refresh} />
      <p className="visually-hidden" aria-live="polite">
        {current === undefined ? '' : `${current.name}, ${t(stateWords[stateOf(current)])}`}
      </p>
    </div>
  );
}
