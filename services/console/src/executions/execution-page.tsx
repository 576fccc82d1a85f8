/** One run: what was seen, what the code found, what was decided; the page as it was; the same again. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Suspense, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, dataOf } from '../api/client.js';
import type { Execution } from '../api/types.js';
import { later } from '../frame/later.js';
import { PageSkeleton } from '../frame/page-skeleton.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { StateMark } from '../marks/state-mark.js';
import { useMay } from '../session/session.js';
import { ExplainCard } from '../task/explain.js';
import { timeOfRun } from '../task/happenings.js';
import { ChangedField } from '../task/history-tab.js';
import { useTask } from '../task/task-query.js';
import { stateOfRun } from '../task/what-happened.js';
import type { TextKey } from '../text/catalogue.js';
import { AbsoluteTime } from '../text/time.js';
import { byteSize } from '../text/byte-size.js';
import { useRunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import { useValueText } from '../text/value-text.js';
import type { Other } from './page-comparison.js';
import { PageFrame } from './page-frame.js';
import { ScreenshotCard } from './screenshot.js';
import { ServerSentence } from '../text/server-sentence.js';

const PageComparison = later(async () => (await import('./page-comparison.js')).PageComparison);

function Facts({ run }: { readonly run: Execution }): ReactNode {
  const { t, locale } = useTexts();
  const words = useRunWords();
  const number = useNumbers();
  const milliseconds = (value: number): string => `${number(value, { maximumFractionDigits: 0 })} ms`;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [t('run.scheduledFor'), <AbsoluteTime key="s" at={run.scheduledFor} />],
    [t('run.finishedAt'), run.finishedAt === null ? '–' : <AbsoluteTime key="f" at={run.finishedAt} />],
    [t('runs.trigger'), words.trigger(run.trigger)],
    [t('history.revision'), run.revision ?? '–'],
    ...(run.page === null
      ? []
      : ([
          [t('run.page'), `${run.page.status ?? '–'} · ${run.page.finalUrl}`],
          [t('run.size'), `${byteSize(run.page.bytes, locale)}${run.page.fromCache ? ` · ${t('run.unchanged')}` : ''}`],
        ] as const)),
    ...(run.timings === null
      ? []
      : ([
          [
            t('run.timings'),
            t('run.timingsOf', {
              queue: milliseconds(run.timings.queueMs),
              fetch: milliseconds(run.timings.fetchMs),
              parse: milliseconds(run.timings.parseMs),
              evaluate: milliseconds(run.timings.evaluateMs),
            }),
          ],
        ] as const)),
  ];
  return (
    <table>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="num">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Replay({ id }: { readonly id: string }): ReactNode {
  const { t } = useTexts();
  const may = useMay('execute');
  const replay = useMutation({
    mutationFn: () => dataOf(api.POST('/api/executions/{id}/replay', { params: { path: { id } } })),
  });
  return (
    <div className="stack">
      <p>
        <button type="button" className="button" disabled={!may || replay.isPending} onClick={() => replay.mutate()}>
          {t('replay.do')}
        </button>
      </p>
      {replay.error !== null && <ProblemNotice error={replay.error} />}
      {replay.data !== undefined && (
        <div className={replay.data.same ? 'notice good' : 'notice warn'} role="status">
          <p>{t(replay.data.same ? 'replay.same' : 'replay.differs')}</p>
          {replay.data.differences.map(({ path, from, to }) => (
            <ChangedField key={path} path={path} from={from} to={to} />
          ))}
        </div>
      )}
    </div>
  );
}

export function ExecutionPage({ id }: { readonly id: string }): ReactNode {
  const { t } = useTexts();
  const valueText = useValueText();
  useTitle(t('run.title'));
  const run = useQuery({
    queryKey: ['execution', id],
    queryFn: () => dataOf(api.GET('/api/executions/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.finishedAt === null ? 1_000 : false),
  });
  const { data } = run;
  if (run.error !== null) return <ProblemNotice error={run.error} onRetry={() => void run.refetch()} />;
  if (data === undefined) return <PageSkeleton />;
  return (
    <div className="stack">
      <RunHeader run={data} />
      <div className="what-happened">
        <div className="stack">
          {data.error !== null && (
            <div className="notice bad" role="alert">
              <p>
                <code>{data.error.reason}</code> <ServerSentence text={data.error.message} />
              </p>
              {data.error.hint !== undefined && (
                <p>
                  <ServerSentence text={data.error.hint} />
                </p>
              )}
              {'frame' in data.error && <pre>{String(data.error.frame)}</pre>}
            </div>
          )}
          <section className="card">
            <header>
              <h2>{t('run.found')}</h2>
              <b className="num">{String(data.outcome)}</b>
            </header>
            <div className="in stack">
              {data.hint !== undefined && (
                <p className="notice warn">
                  <ServerSentence text={data.hint} />
                </p>
              )}
              {Object.entries(data.values).map(([name, value]) => (
                <p key={name} className="mono">
                  {name} <b>{valueText(value)}</b>
                </p>
              ))}
              {data.logs.length > 0 && (
                <pre aria-label={t('run.logs')}>
                  {data.logs.map(({ level, message }, index) => (
                    <span key={index}>{`${level}: ${message}\n`}</span>
                  ))}
                </pre>
              )}
            </div>
          </section>
          <section className="card">
            <header>
              <h2>{t('run.facts')}</h2>
            </header>
            <Facts run={data} />
          </section>
        </div>
        {data.finishedAt !== null && <ExplainCard id={data.notificationId} at={timeOfRun(data)} />}
      </div>
      <ScreenshotCard run={data} />
      {data.snapshotId !== null && <PageThen run={data} />}
    </div>
  );
}

const shownPages = ['none', 'alone', 'before', 'now'] as const;
type ShownPage = (typeof shownPages)[number];
const shownWords = {
  none: 'run.hidePage',
  alone: 'run.showPage',
  before: 'compare.withBefore',
  now: 'compare.withNow',
} as const satisfies Readonly<Record<ShownPage, TextKey>>;

/** The page as it was, alone or beside another; which, stands in the address. */
function PageThen({ run }: { readonly run: Execution }): ReactNode {
  const { t } = useTexts();
  const [, navigate] = useLocation();
  const given = new URLSearchParams(useSearch()).get('page');
  const shown = shownPages.find((one) => one === given) ?? 'none';
  const show = (next: ShownPage): void =>
    navigate(`/executions/${run.id}${next === 'none' ? '' : `?page=${next}`}`, { replace: true });
  return (
    <section className="card page-then" aria-label={t('run.pageThen')}>
      <header>
        <h2>{t('run.pageThen')}</h2>
        <span className="grow" />
        {shownPages
          .filter((one) => one !== 'none' || shown !== 'none')
          .map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              aria-pressed={one === 'none' ? undefined : one === shown}
              onClick={() => show(one)}
            >
              {t(shownWords[one])}
            </button>
          ))}
        <a className="button" href={`/api/executions/${run.id}/snapshot`} target="_blank" rel="noreferrer">
          {t('run.openPage')}
        </a>
      </header>
      <div className="in stack">
        <Replay id={run.id} />
        {shown === 'alone' && <PageFrame executionId={run.id} title={t('run.pageThen')} />}
        {(shown === 'before' || shown === 'now') && (
          <Suspense fallback={<div className="skeleton" style={{ height: '30rem' }} />}>
            <PageComparison key={shown} run={run} other={shown satisfies Other} />
          </Suspense>
        )}
      </div>
    </section>
  );
}

function RunHeader({ run }: { readonly run: Execution }): ReactNode {
  const { t } = useTexts();
  const words = useRunWords();
  const task = useTask(run.notificationId, null);
  return (
    <>
      <p className="small muted">
        <Link href="/tasks">{t('frame.tasks')}</Link> /{' '}
        <Link href={`/tasks/${run.notificationId}`}>
          <bdi>{task.data?.name ?? run.notificationId}</bdi>
        </Link>{' '}
        /
      </p>
      <div className="bar">
        <h1>{t('run.title')}</h1>
        <StateMark state={stateOfRun(run)} />
        <span className="muted">{words.status(run.status)}</span>
        <span className="grow" />
        <span className="small muted mono">{run.id}</span>
      </div>
    </>
  );
}
