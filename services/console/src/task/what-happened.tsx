/** A task's past: values and runs on one time axis, what happened as a list, and beside them why at the chosen moment. */
import { lazy, Suspense, useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Execution, HistoryEntry, Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { RunStrip } from '../marks/run-strip.js';
import { StateMark } from '../marks/state-mark.js';
import type { TaskState } from '../marks/state.js';
import type { StripRun } from '../marks/strip-cells.js';
import { useTexts } from '../text/text.js';
import { clockTime, useNow, useNumbers } from '../text/times.js';
import { ExplainCard, valueText } from './explain.js';
import { editsSince, happeningsOf, timeOfRun, type Happening } from './happenings.js';
import { useHistory, useRuns } from './task-query.js';
import { thresholdOf } from './threshold.js';

const ValueChart = lazy(async () => ({ default: (await import('./value-chart.js')).ValueChart }));

export const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '90d': 7_776_000_000 } as const;
export type Range = keyof typeof ranges;
const rangeWords = { '1h': 'range.hour', '24h': 'range.day', '7d': 'range.week', '90d': 'range.quarter' } as const;

interface Props {
  readonly task: Task;
  readonly at: string | null;
  readonly range: Range;
  readonly onMoment: (at: string | null) => void;
  readonly onRange: (range: Range) => void;
}

const stripRunOf = (run: Execution): StripRun => ({
  id: run.id,
  at: timeOfRun(run),
  status: run.status,
  outcome: run.outcome,
  notified: run.decision?.notify === true,
});

export function stateOfRun({ status, outcome }: Execution): TaskState {
  if (status === 'failed' || status === 'timed_out') return 'broken';
  return outcome === null ? 'unknown' : outcome ? 'met' : 'not-met';
}

function EditWords({ entry }: { readonly entry: HistoryEntry }): ReactNode {
  const { t } = useTexts();
  const [first] = entry.changes;
  return (
    <span>
      {first === undefined
        ? t('happened.edit', { type: entry.type.replace('task.', '').replaceAll('_', ' ') })
        : `${first.path}: ${valueText(first.from).slice(0, 60)} → ${valueText(first.to).slice(0, 60)}`}
      {entry.changes.length > 1 && ` +${entry.changes.length - 1}`} · <b>{entry.actor}</b>
    </span>
  );
}

function Row({
  happening,
  onMoment,
  taskId,
}: {
  readonly happening: Happening;
  readonly onMoment: Props['onMoment'];
  readonly taskId: string;
}): ReactNode {
  const { t, language } = useTexts();
  const time = clockTime(happening.at, Date.now(), language);
  const moment = (
    <button type="button" className="moment" onClick={() => onMoment(happening.at)}>
      {t('happened.why')}
    </button>
  );
  switch (happening.kind) {
    case 'run': {
      const { run } = happening;
      const text = run.error === null ? valueText(run.values['value']) : run.error.message;
      return (
        <li>
          <StateMark state={stateOfRun(run)} />
          <span className="muted num">{time}</span>
          <span>
            {text === '–' ? '' : `${text} · `}
            {run.decision !== null &&
              t(run.decision.notify ? 'happened.notified' : 'happened.silent', { reason: run.decision.reason })}{' '}
            · {moment} · <Link href={`/executions/${run.id}`}>{t('happened.run')}</Link>
          </span>
        </li>
      );
    }
    case 'skipped':
      return (
        <li>
          <span className="muted">– {t('strip.skipped')}</span>
          <span className="muted num">{time}</span>
          <span>
            {happening.run.error?.message ?? happening.run.decision?.reason ?? ''}{' '}
            {(happening.run.count ?? 1) > 1 && t('happened.slots', { count: happening.run.count ?? 1 })} {moment}
          </span>
        </li>
      );
    case 'edit':
      return (
        <li>
          <span className="muted">✎ {t('happened.edited')}</span>
          <span className="muted num">{time}</span>
          <span>
            <EditWords entry={happening.entry} /> ·{' '}
            <Link href={`/tasks/${taskId}/history`}>{t('happened.whatChanged')}</Link>
          </span>
        </li>
      );
    case 'folded':
      return (
        <li>
          <span className="muted">·</span>
          <span className="muted num">{time}</span>
          <details>
            <summary className="muted">{t('happened.folded', { count: happening.runs.length })}</summary>
            {happening.runs.slice(0, 50).map((run) => (
              <div key={run.id}>
                <Link href={`/executions/${run.id}`}>{clockTime(timeOfRun(run), Date.now(), language)}</Link>{' '}
                {valueText(run.values['value'])}
              </div>
            ))}
          </details>
        </li>
      );
  }
}

export function WhatHappened({ task, at, range, onMoment, onRange }: Props): ReactNode {
  const { t } = useTexts();
  const number = useNumbers();
  const minute = Math.floor(useNow(30_000) / 60_000) * 60_000;
  const from = useMemo(() => new Date(minute - ranges[range]).toISOString(), [minute, range]);
  const runs = useRuns(task.id, { from, to: null });
  const history = useHistory(task.id);
  const all = useMemo(() => (runs.data?.pages ?? []).flatMap(({ data }) => data), [runs.data]);
  const edits = useMemo(() => (history.data?.pages ?? []).flatMap(({ data }) => data), [history.data]);
  const oldest = all.at(-1);
  const known = runs.hasNextPage && oldest !== undefined ? timeOfRun(oldest) : from;
  const happened = useMemo(() => happeningsOf(all, editsSince(edits, known)), [all, edits, known]);
  const strip = useMemo(() => all.map(stripRunOf).reverse(), [all]);
  const points = useMemo(
    () =>
      all
        .flatMap((run) => {
          const value: unknown = run.values['value'];
          return typeof value === 'number' && run.finishedAt !== null ? [{ at: run.finishedAt, value }] : [];
        })
        .reverse(),
    [all],
  );
  const threshold = useMemo(() => thresholdOf(task.evaluationFunction), [task.evaluationFunction]);
  const [start, end] = [Date.parse(known), minute + 60_000];
  const moment = at === null ? null : Date.parse(at);
  const last = task.lastExecution?.value;
  return (
    <div className="what-happened">
      <div className="stack">
        <section className="card">
          <header>
            <h2>{points.length > 0 ? t('chart.value') : t('chart.runs')}</h2>
            {last !== null && last !== undefined && (
              <b className="num">
                {typeof last === 'number' ? number(last, { maximumFractionDigits: 6 }) : valueText(last).slice(0, 80)}
              </b>
            )}
            <span className="grow" />
            <span role="group" aria-label={t('range.label')}>
              {(Object.keys(ranges) as Range[]).map((one) => (
                <button
                  key={one}
                  type="button"
                  className="button plain"
                  aria-pressed={one === range}
                  onClick={() => onRange(one)}
                >
                  {t(rangeWords[one])}
                </button>
              ))}
            </span>
          </header>
          <div className="in stack">
            {points.length > 1 && (
              <Suspense fallback={<div className="skeleton" style={{ height: '170px' }} />}>
                <ValueChart
                  points={points}
                  from={start}
                  to={end}
                  threshold={threshold}
                  moment={moment}
                  onChoose={onMoment}
                />
              </Suspense>
            )}
            <RunStrip
              runs={strip}
              cells={80}
              width={800}
              height={28}
              chosenId={at === null ? null : (all.find((run) => timeOfRun(run) <= at)?.id ?? null)}
              onChoose={(run) => onMoment(run.at)}
            />
            <label className="field">
              <span className="small muted">{t('moment.slider')}</span>
              <input
                className="moment-slider"
                type="range"
                min={start}
                max={minute + 60_000}
                step={1_000}
                value={moment ?? minute + 60_000}
                onChange={({ target }) => {
                  const chosen = Number(target.value);
                  onMoment(chosen >= minute ? null : new Date(chosen).toISOString());
                }}
              />
            </label>
          </div>
        </section>
        <section className="card">
          <header>
            <h2>{t('happened.title')}</h2>
          </header>
          {runs.error !== null && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
          {happened.length === 0 && !runs.isPending && <p className="in muted">{t('happened.nothing')}</p>}
          <ul className="happenings">
            {happened.map((happening) => (
              <Row
                key={`${happening.kind} ${happening.at}`}
                happening={happening}
                onMoment={onMoment}
                taskId={task.id}
              />
            ))}
          </ul>
          {runs.hasNextPage && (
            <p className="in">
              <button
                type="button"
                className="button"
                disabled={runs.isFetchingNextPage}
                onClick={() => void runs.fetchNextPage()}
              >
                {t('happened.earlier')}
              </button>
            </p>
          )}
        </section>
      </div>
      <ExplainCard id={task.id} at={at} />
    </div>
  );
}
