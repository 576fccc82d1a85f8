/** One task: its state in a line, what can be done with it, and its parts as tabs. */
import { Menu } from '@base-ui/react/menu';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Pause, Play } from 'lucide-react';
import { Suspense, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, dataOf } from '../api/client.js';
import type { Task } from '../api/types.js';
import { later } from '../frame/later.js';
import { PageSkeleton } from '../frame/page-skeleton.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useShortcuts } from '../frame/shortcuts.js';
import { useTitle } from '../frame/title.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { stateOf } from '../marks/state.js';
import { StateMark } from '../marks/state-mark.js';
import { useMay } from '../session/session.js';
import { useBulk } from '../tasks/bulk.js';
import { shortAddress } from '../tasks/task-row.js';
import type { TextKey } from '../text/catalogue.js';
import { AbsoluteTime } from '../text/time.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { useDetails } from '../text/use-details.js';
import { AcknowledgeButton, AcknowledgedLine, hasOpenEpisode } from './acknowledge.js';
import { scheduleWords } from './schedule-words.js';
import { useTask } from './task-query.js';
import { ranges, type Range } from './over-time.js';
import { WhatHappened } from './what-happened.js';
import './task.css';

const ConditionTab = later(async () => (await import('../condition/condition-tab.js')).ConditionTab);
const ScheduleTab = later(async () => (await import('../schedule/schedule-tab.js')).ScheduleTab);
const ActionsTab = later(async () => (await import('../actions/actions-tab.js')).ActionsTab);
const HistoryTab = later(async () => (await import('./history-tab.js')).HistoryTab);

const tabs = [
  { part: '', text: 'tab.happened' },
  { part: 'condition', text: 'tab.condition' },
  { part: 'schedule', text: 'tab.schedule' },
  { part: 'actions', text: 'tab.actions' },
  { part: 'history', text: 'tab.history' },
] as const satisfies readonly { readonly part: string; readonly text: TextKey }[];

function useRunNow(id: string) {
  const { t } = useTexts();
  const toast = useToast();
  const failed = useFailureToast();
  const words = useRunWords();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/notifications/{id}/execute', {
          params: { path: { id }, query: { wait: 30 } },
          body: { force: false, dryRun: false },
        }),
      ),
    onSuccess: ({ status, outcome }) => {
      void client.invalidateQueries({ queryKey: ['task', id] });
      toast(t('run.done', { status: words.status(status), outcome: String(outcome) }));
    },
    onError: (error) => failed(error.message),
  });
}

function Header({ task }: { readonly task: Task }): ReactNode {
  const { t, locale } = useTexts();
  const [mayWrite, mayRun] = [useMay('write'), useMay('execute')];
  const run = useRunNow(task.id);
  const bulk = useBulk();
  const [, navigate] = useLocation();
  const warnings = useDetails(task.warnings ?? []);
  const isPaused = task.status === 'paused';
  const pause = (): void => bulk.mutate({ deed: isPaused ? 'resume' : 'pause', chosen: { ids: [task.id] } });
  useShortcuts({
    r: () => mayRun && run.mutate(),
    p: () => mayWrite && pause(),
    e: () => navigate(`/tasks/${task.id}/condition`),
    Escape: () => navigate('/tasks'),
  });
  return (
    <>
      <p className="small muted">
        <Link href="/tasks">{t('frame.tasks')}</Link> /
      </p>
      <div className="bar">
        <h1>
          <bdi>{task.name}</bdi>
        </h1>
        <StateMark state={stateOf(task)} />
        <span className="grow" />
        {hasOpenEpisode(task) && <AcknowledgeButton task={task} />}
        <button type="button" className="button" disabled={!mayRun || run.isPending} onClick={() => run.mutate()}>
          <Play size={15} aria-hidden="true" /> {t('run.now')}
        </button>
        <button type="button" className="button" disabled={!mayWrite || bulk.isPending} onClick={pause}>
          {isPaused ? <Play size={15} aria-hidden="true" /> : <Pause size={15} aria-hidden="true" />}
          {t(isPaused ? 'bulk.resume' : 'bulk.pause')}
        </button>
        <Menu.Root>
          <Menu.Trigger className="button square" aria-label={t('task.more')}>
            <Ellipsis size={16} aria-hidden="true" />
          </Menu.Trigger>
          <Menu.Portal>
            <Menu.Positioner sideOffset={4} align="end">
              <Menu.Popup className="menu">
                <Menu.Item className="menu-item" onClick={() => navigate(`/new?like=${task.id}`)} disabled={!mayWrite}>
                  {t('task.copy')}
                </Menu.Item>
                <Menu.Item
                  className="menu-item"
                  disabled={!mayWrite}
                  onClick={() =>
                    bulk.mutate(
                      { deed: 'archive', chosen: { ids: [task.id] } },
                      { onSuccess: () => navigate('/tasks') },
                    )
                  }
                >
                  {t('bulk.archive')}
                </Menu.Item>
              </Menu.Popup>
            </Menu.Positioner>
          </Menu.Portal>
        </Menu.Root>
      </div>
      <p className="muted">
        <a href={task.url} rel="noreferrer noopener" target="_blank">
          {shortAddress(task.url)}
        </a>{' '}
        · {scheduleWords(task.schedule, locale, t)} ·{' '}
        <Link href={`/tasks/${task.id}/actions`}>{t('task.actions', { count: task.actions.length })}</Link>{' '}
        {task.tags.map((tag) => (
          <Link key={tag} className="tag" href={`/tasks?tag=${encodeURIComponent(tag)}`}>
            {tag}
          </Link>
        ))}
      </p>
      <AcknowledgedLine task={task} />
      {warnings.map(({ field, message }) => (
        <p key={field} className="notice warn">
          {message}
        </p>
      ))}
    </>
  );
}

/** A task of this hour has nothing to show of the hours before. */
function fittingRange(task: Task | undefined): Range {
  return task !== undefined && Date.now() - Date.parse(task.createdAt) < ranges['1h'] ? '1h' : '24h';
}

export function TaskPage({ id, part }: { readonly id: string; readonly part: string }): ReactNode {
  const { t } = useTexts();
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const at = search.get('at');
  const given = search.get('range');
  const { data: task, error, refetch } = useTask(id, at);
  const range: Range = given !== null && given in ranges ? (given as Range) : fittingRange(task);
  useTitle(task?.name ?? t('tasks.task'));
  const goTo = (changes: { readonly at?: string | null; readonly range?: Range }): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    navigate(`/tasks/${id}${part === '' ? '' : `/${part}`}${next.size === 0 ? '' : `?${next.toString()}`}`, {
      replace: true,
    });
  };
  const asOf = at !== null && (
    <p className="as-of" role="status">
      {t('moment.asOf')} <AbsoluteTime at={at} /> ·{' '}
      <button type="button" className="button plain" onClick={() => goTo({ at: null })}>
        {t('moment.back')}
      </button>
    </p>
  );
  if (error !== null) {
    return (
      <div className="stack">
        {asOf}
        <ProblemNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (task === undefined) return <PageSkeleton />;
  return (
    <div className="stack">
      {asOf}
      <Header task={task} />
      <nav className="tabs" aria-label={t('tab.label')}>
        {tabs.map((tab) => (
          <Link
            key={tab.part}
            href={`/tasks/${id}${tab.part === '' ? '' : `/${tab.part}`}`}
            aria-current={tab.part === part ? 'page' : undefined}
          >
            {t(tab.text)}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<PageSkeleton />}>
        {part === '' && (
          <WhatHappened
            task={task}
            at={at}
            range={range}
            onMoment={(moment) => goTo({ at: moment })}
            onRange={(next) => goTo({ range: next })}
          />
        )}
        {part === 'condition' && <ConditionTab key={task.id} task={task} />}
        {part === 'schedule' && <ScheduleTab key={task.id} task={task} />}
        {part === 'actions' && <ActionsTab task={task} />}
        {part === 'history' && <HistoryTab task={task} />}
      </Suspense>
    </div>
  );
}
