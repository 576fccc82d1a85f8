/** The edit on recorded pages beside what was decided then: two strips, and the few moments where they differ. */
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.js';
import type { Backtest, Policy, Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { RunStrip } from '../marks/run-strip.js';
import type { StripRun } from '../marks/strip-cells.js';
import { useTexts } from '../text/text.js';
import { absoluteTime } from '../text/times.js';
import { useValueText } from '../text/value-text.js';
import { ServerSentence } from '../text/server-sentence.js';

const spans = { '7d': 7, '30d': 30, all: null } as const;
type Span = keyof typeof spans;
const spanWords = { '7d': 'backtest.week', '30d': 'backtest.month', all: 'backtest.all' } as const;
const dayMs = 86_400_000;
const shownDifferences = 12;

type Snapshot = Backtest['snapshots'][number];

const recordedRun = ({ executionId, at, recorded }: Snapshot): StripRun => ({
  id: executionId,
  at,
  status: recorded.outcome === null ? 'failed' : 'succeeded',
  outcome: recorded.outcome,
  notified: recorded.decision.notify,
});
const editedRun = ({ executionId, at, outcome, decision, error }: Snapshot): StripRun => ({
  id: executionId,
  at,
  status: error === null ? 'succeeded' : 'failed',
  outcome,
  notified: decision.notify,
});

function Difference({ snapshot }: { readonly snapshot: Snapshot }): ReactNode {
  const { t, locale } = useTexts();
  const valueText = useValueText();
  const { decision, recorded, error, value, at, executionId } = snapshot;
  const title =
    error !== null
      ? 'backtest.couldNot'
      : decision.notify && !recorded.decision.notify
        ? 'backtest.onlyEdit'
        : 'backtest.onlyLive';
  return (
    <div className="difference">
      <b>{t(title)}</b>
      <p className="muted">
        {absoluteTime(at, locale)} ·{' '}
        {error === null ? valueText(value).slice(0, 80) : <ServerSentence text={error.message} />}
      </p>
      <Link href={`/executions/${executionId}`}>{t('explain.pageThen')}</Link>
    </div>
  );
}

interface Props {
  readonly task: Task;
  readonly evaluationFunction?: string | undefined;
  readonly policy?: Policy | undefined;
}

export function BacktestCard({ task, evaluationFunction, policy }: Props): ReactNode {
  const { t } = useTexts();
  const [span, setSpan] = useState<Span>('7d');
  const backtest = useMutation({
    mutationFn: (chosen: Span) => {
      const days = spans[chosen];
      const body = {
        ...(evaluationFunction !== undefined && { evaluationFunction }),
        ...(policy !== undefined && { policy }),
        ...(days !== null && { from: new Date(Date.now() - days * dayMs).toISOString() }),
      };
      return dataOf(
        api.POST('/api/notifications/{id}/backtest', { params: { path: { id: task.id } }, body: body as never }),
      );
    },
  });
  const { data, error, isPending } = backtest;
  const oldestFirst = [...(data?.snapshots ?? [])].sort((one, other) => one.at.localeCompare(other.at));
  const differing = oldestFirst.filter(
    ({ decision, recorded, error: failed }) =>
      decision.notify !== recorded.decision.notify || (failed !== null && recorded.outcome !== null),
  );
  // Of several runs on one page the page shows one.
  const { onlyNew = 0, onlyOld = 0 } = data?.summary ?? {};
  return (
    <section className="card">
      <header>
        <h2>{t('backtest.title')}</h2>
        {data !== undefined && (
          <span className="small muted">
            {t('backtest.pages', { count: data.summary.snapshots })}
            {!data.summary.complete && ` · ${t('backtest.incomplete')}`}
          </span>
        )}
        <span className="grow" />
        {(Object.keys(spans) as Span[]).map((one) => (
          <button
            key={one}
            type="button"
            className="button plain"
            aria-pressed={one === span}
            onClick={() => {
              setSpan(one);
              backtest.mutate(one);
            }}
          >
            {t(spanWords[one])}
          </button>
        ))}
        <button type="button" className="button" disabled={isPending} onClick={() => backtest.mutate(span)}>
          {t(isPending ? 'backtest.runs' : 'backtest.do')}
        </button>
      </header>
      <div className="in stack" aria-live="polite">
        {error !== null && <ProblemNotice error={error} />}
        {data === undefined && error === null && <p className="muted">{t('backtest.what')}</p>}
        {data !== undefined && (
          <>
            <div className="strips">
              <span className="muted">{t('backtest.revision', { revision: task.revision })}</span>
              <RunStrip runs={oldestFirst.map(recordedRun)} cells={90} width={720} height={24} />
              <span>{t('backtest.messages', { count: data.summary.didNotify })}</span>
              <span>{t('backtest.edit')}</span>
              <RunStrip runs={oldestFirst.map(editedRun)} cells={90} width={720} height={24} />
              <span>{t('backtest.messages', { count: data.summary.wouldNotify })}</span>
            </div>
            {differing.length === 0 ? (
              <p className="muted">
                {onlyNew + onlyOld === 0 ? t('backtest.same') : t('backtest.sameOnPages', { onlyNew, onlyOld })}
              </p>
            ) : (
              <div className="differences">
                {differing.slice(-shownDifferences).map((snapshot) => (
                  <Difference key={snapshot.executionId} snapshot={snapshot} />
                ))}
              </div>
            )}
          </>
        )}
      </div>
    </section>
  );
}
