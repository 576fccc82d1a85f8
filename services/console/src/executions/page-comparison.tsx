/** A recorded page beside another one of the same task, then and now or before and after, and where they differ. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { problemOf } from '../api/problem.js';
import type { Execution } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { timeOfRun } from '../task/happenings.js';
import { AbsoluteTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { differencesOf, placesOf, sourceLinesOf, textLinesOf, type Piece } from './page-differences.js';
import { PageFrame } from './page-frame.js';
import { Screenshot, useIsRendered } from './screenshot.js';

export const others = ['before', 'now'] as const;
/** Which page stands beside that of a run: that of the run before it, or of the newest. */
export type Other = (typeof others)[number];

/** So many runs are looked through for one with a page. */
const lookedThrough = 50;

function useOtherRun(run: Execution, other: Other) {
  return useQuery({
    queryKey: ['execution', run.id, 'beside', other],
    queryFn: async (): Promise<Execution | null> => {
      const query = { limit: lookedThrough, after: '', ...(other === 'before' && { to: timeOfRun(run) }) };
      const { data } = await answerOf(
        api.GET('/api/notifications/{id}/executions', {
          params: { path: { id: run.notificationId }, query: query as never },
        }),
      );
      return data.find(({ id, snapshotId }) => snapshotId !== null && id !== run.id) ?? null;
    },
  });
}

/** The page as text, once for each: a recorded page does not change. */
function usePageSource(executionId: string | undefined) {
  return useQuery({
    queryKey: ['snapshot', executionId],
    enabled: executionId !== undefined,
    staleTime: Infinity,
    queryFn: async () => {
      const response = await fetch(`/api/executions/${executionId}/snapshot`, { credentials: 'same-origin' });
      if (!response.ok) throw await problemOf(response.status, await response.json().catch(() => null), null);
      return response.text();
    },
  });
}

const signs = { added: '+ ', removed: '− ', same: '  ' } as const;

function PieceLines({ piece }: { readonly piece: Piece }): ReactNode {
  const { t } = useTexts();
  if (piece.kind === 'folded')
    return <span className="muted">{`${t('compare.folded', { count: piece.count })}\n`}</span>;
  const text = piece.lines.map((line) => `${signs[piece.kind]}${line}\n`).join('');
  if (piece.kind === 'added') return <ins className="diff-line added">{text}</ins>;
  if (piece.kind === 'removed') return <del className="diff-line removed">{text}</del>;
  return <span>{text}</span>;
}

function Differences({ from, to }: { readonly from: string; readonly to: string }): ReactNode {
  const { t } = useTexts();
  const [isSource, setSource] = useState(false);
  const pieces = useMemo(() => {
    const linesOf = isSource ? sourceLinesOf : textLinesOf;
    return differencesOf(linesOf(from), linesOf(to));
  }, [from, to, isSource]);
  const places = pieces === null ? null : placesOf(pieces);
  return (
    <div className="stack">
      <div className="bar">
        <b role="status">{places === null ? t('compare.tooDifferent') : t('compare.places', { count: places })}</b>
        <span className="grow" />
        {([false, true] as const).map((one) => (
          <button
            key={String(one)}
            type="button"
            className="button plain"
            aria-pressed={one === isSource}
            onClick={() => setSource(one)}
          >
            {t(one ? 'compare.source' : 'compare.text')}
          </button>
        ))}
      </div>
      {pieces !== null && places !== null && places > 0 && (
        <pre className="page-differences" tabIndex={0} aria-label={t('compare.differences')}>
          {pieces.map((piece, index) => (
            <PieceLines key={index} piece={piece} />
          ))}
        </pre>
      )}
    </div>
  );
}

function Side({ run, title }: { readonly run: Execution; readonly title: string }): ReactNode {
  const { t } = useTexts();
  const isRendered = useIsRendered(run);
  return (
    <div className="stack">
      <p className="bar">
        <b>{title}</b>
        <Link href={`/executions/${run.id}`} className="muted">
          <AbsoluteTime at={timeOfRun(run)} />
        </Link>
      </p>
      {isRendered && <Screenshot executionId={run.id} title={`${t('screenshot.title')}: ${title}`} otherwise={null} />}
      <PageFrame executionId={run.id} title={title} />
    </div>
  );
}

export function PageComparison({ run, other }: { readonly run: Execution; readonly other: Other }): ReactNode {
  const { t } = useTexts();
  const beside = useOtherRun(run, other);
  const [mine, theirs] = [usePageSource(run.id), usePageSource(beside.data?.id)];
  const problem = beside.error ?? mine.error ?? theirs.error;
  if (problem !== null) return <ProblemNotice error={problem} />;
  if (beside.data === undefined) return <div className="skeleton" style={{ height: '30rem' }} />;
  if (beside.data === null) {
    return (
      <p className="muted" role="status">
        {t(other === 'now' ? 'compare.isNewest' : 'compare.noneBefore')}
      </p>
    );
  }
  const mineSide = <Side key="mine" run={run} title={t('run.pageThen')} />;
  const theirSide = (
    <Side key="theirs" run={beside.data} title={t(other === 'now' ? 'compare.now' : 'compare.before')} />
  );
  const [from, to] = other === 'now' ? [mine.data, theirs.data] : [theirs.data, mine.data];
  return (
    <div className="stack">
      {from !== undefined && to !== undefined && <Differences from={from} to={to} />}
      <div className="side-by-side">{other === 'now' ? [mineSide, theirSide] : [theirSide, mineSide]}</div>
    </div>
  );
}
