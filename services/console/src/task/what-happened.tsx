/** A task's past: values and runs on one time axis, what happened as a list, and beside them why at the chosen moment. */
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Execution, HistoryEntry, Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { StateMark } from '../marks/state-mark.js';
import type { TaskState } from '../marks/state.js';
import { Actor } from '../session/actors.js';
import { useRunWords, type RunWords } from '../text/run-words.js';
import { useTexts } from '../text/text.js';
import { useMinute } from '../text/clock.js';
import { clockTime } from '../text/times.js';
import { useValueText, valueText as settingText } from '../text/value-text.js';
import { ExplainCard } from './explain.js';
import { editsSince, happeningsOf, timeOfRun, type Happening } from './happenings.js';
import { OverTime, ranges, type Range } from './over-time.js';
import { useHistory, useRuns } from './task-query.js';
import { useSaid } from '../text/server-sentence.js';

/** So much time is shown at least. */
const shortestMs = 120_000;

interface Props {
  readonly task: Task;
  readonly at: string | null;
  readonly range: Range;
  readonly onMoment: (at: string | null) => void;
  readonly onRange: (range: Range) => void;
}

export function stateOfRun({ status, outcome }: Execution): TaskState {
  if (status === 'failed' || status === 'timed_out') return 'broken';
  return outcome === null ? 'unknown' : outcome ? 'met' : 'not-met';
}

/** Why a slot was passed over. */
function skippedWords({ error, decision }: Execution, words: RunWords): string {
  if (error !== null) return words.noRun(error.reason);
  return decision === null ? '' : words.reason(decision.reason);
}

function EditWords({ entry }: { readonly entry: HistoryEntry }): ReactNode {
  const { t } = useTexts();
  const [first] = entry.changes;
  return (
    <span>
      {first === undefined
        ? t('happened.edit', { type: entry.type.replace('task.', '').replaceAll('_', ' ') })
        : `${first.path}: ${settingText(first.from).slice(0, 60)} → ${settingText(first.to).slice(0, 60)}`}
      {entry.changes.length > 1 && ` +${entry.changes.length - 1}`} ·{' '}
      <b>
        <Actor actor={entry.actor} />
      </b>
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
  const { t, locale } = useTexts();
  const words = useRunWords();
  const said = useSaid();
  const valueText = useValueText();
  const time = clockTime(happening.at, Date.now(), locale);
  const moment = (
    <button type="button" className="moment" onClick={() => onMoment(happening.at)}>
      {t('happened.why')}
    </button>
  );
  switch (happening.kind) {
    case 'run': {
      const { run } = happening;
      const text = run.error === null ? valueText(run.values['value']) : said(run.error.message);
      return (
        <li>
          <StateMark state={stateOfRun(run)} />
          <span className="muted num">{time}</span>
          <span>
            {text === '–' ? '' : `${text} · `}
            {run.decision !== null &&
              t(run.decision.notify ? 'happened.notified' : 'happened.silent', {
                reason: words.reason(run.decision.reason),
              })}{' '}
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
            <span title={happening.run.error === null ? undefined : said(happening.run.error.message)}>
              {skippedWords(happening.run, words)}
            </span>{' '}
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
                <Link href={`/executions/${run.id}`}>{clockTime(timeOfRun(run), Date.now(), locale)}</Link>{' '}
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
  /** Before it was made there was no task: the first moment is that. */
  const choose = (moment: string | null): void =>
    onMoment(moment !== null && moment < task.createdAt ? task.createdAt : moment);
  const minute = useMinute();
  // A task has no past before it was made: what there is takes the whole width.
  const start = Math.max(minute - ranges[range], Math.min(Date.parse(task.createdAt), minute - shortestMs));
  const from = useMemo(() => new Date(start).toISOString(), [start]);
  const runs = useRuns(task.id, { from, to: null });
  const history = useHistory(task.id);
  const all = useMemo(() => (runs.data?.pages ?? []).flatMap(({ data }) => data), [runs.data]);
  const edits = useMemo(() => (history.data?.pages ?? []).flatMap(({ data }) => data), [history.data]);
  const oldest = all.at(-1);
  const known = runs.hasNextPage && oldest !== undefined ? timeOfRun(oldest) : from;
  const happened = useMemo(() => happeningsOf(all, editsSince(edits, known)), [all, edits, known]);
  return (
    <div className="what-happened">
      <div className="stack">
        <OverTime
          task={task}
          runs={all}
          time={{ from: start, to: minute + 60_000, knownFrom: Date.parse(known) }}
          at={at}
          range={range}
          onMoment={choose}
          onRange={onRange}
        />
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
