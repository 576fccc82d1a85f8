/** The last runs as a strip: full height where the condition was met, hatched where the check failed, a dot where it notified. */
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { clockTime } from '../text/times.js';
import { useTexts } from '../text/text.js';
import { cellsAtEnd, countsOf, type Cell, type CellKind, type PlacedCell, type StripRun } from './strip-cells.js';
import './marks.css';

interface Props {
  /** What it stands for, oldest first: for the sentence that screen readers say. */
  readonly runs: readonly StripRun[];
  /** The cells where they stand; left out: one for each run, the newest at the right edge. */
  readonly placed?: readonly PlacedCell[];
  readonly cells?: number;
  readonly width?: number;
  readonly height?: number;
  /** Lets cells be walked and chosen; without it the strip is a picture. */
  readonly onChoose?: (run: StripRun) => void;
  readonly chosenId?: string | null;
}

const kindWords = {
  failed: 'strip.failed',
  met: 'strip.met',
  'not-met': 'strip.notMet',
  skipped: 'strip.skipped',
} as const satisfies Readonly<Record<CellKind, string>>;

export function useStripSentence(): (runs: readonly StripRun[]) => string {
  const { t } = useTexts();
  return (runs) => {
    const { met, failed, skipped, 'not-met': notMet } = countsOf(runs);
    return runs.length === 0
      ? t('strip.none')
      : t('strip.sentence', { count: runs.length, met, notMet, failed, skipped });
  };
}

export function RunStrip({ runs, placed, cells = 40, width = 150, height = 20, onChoose, chosenId }: Props): ReactNode {
  const { t, locale } = useTexts();
  const sentence = useStripSentence()(runs);
  const shown = placed ?? cellsAtEnd(runs, cells);
  const step = width / cells;
  const [walked, setWalked] = useState<number | null>(null);
  const tooltipOf = ({ kind, run, count }: Cell): string =>
    `${clockTime(run.at, Date.now(), locale)} · ${t(kindWords[kind])}${count > 1 ? ` · ${t('strip.span', { count })}` : ''}`;
  const walk = (event: KeyboardEvent): void => {
    if (onChoose === undefined || shown.length === 0) return;
    const from = walked ?? shown.length;
    const to = event.key === 'ArrowLeft' ? from - 1 : event.key === 'ArrowRight' ? from + 1 : null;
    if (to !== null) {
      event.preventDefault();
      const next = Math.max(0, Math.min(shown.length - 1, to));
      setWalked(next);
      const at = shown[next];
      if (at !== undefined) onChoose(at.cell.run);
    }
  };
  const isMark = (cell: Cell, order: number): boolean => walked === order || cell.run.id === chosenId;
  return (
    <svg
      className="run-strip"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={sentence}
      tabIndex={onChoose === undefined ? undefined : 0}
      onKeyDown={walk}
    >
      {shown.map(({ cell, index, span }, order) => {
        const tall = cell.kind === 'met' || cell.kind === 'failed';
        const cellHeight = cell.kind === 'skipped' ? 1 : tall ? height - 5 : Math.max(4, height * 0.3);
        const x = index * step;
        const shape = {
          x,
          y: height - cellHeight,
          width: Math.max(1, step * span - Math.min(1.2, step * 0.3)),
          height: cellHeight,
          rx: 1,
        };
        return (
          <g key={cell.run.id} onClick={onChoose === undefined ? undefined : () => onChoose(cell.run)}>
            <title>{tooltipOf(cell)}</title>
            {onChoose !== undefined && <rect x={x} y={0} width={step * span} height={height} fill="transparent" />}
            <rect {...shape} className={`cell ${cell.kind}`} />
            {cell.notified && (
              <circle
                className={cell.kind === 'failed' ? 'said bad' : 'said'}
                cx={x + shape.width / 2}
                cy={2}
                r={1.6}
              />
            )}
            {isMark(cell, order) && <rect {...shape} y={0} height={height} className="cursor" />}
          </g>
        );
      })}
    </svg>
  );
}

/** The hatching of failed runs, once per page. */
export function HatchPattern(): ReactNode {
  return (
    <svg width="0" height="0" aria-hidden="true" style={{ position: 'absolute' }}>
      <defs>
        <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="4" height="4" fill="var(--broken-soft)" />
          <rect width="2" height="4" fill="var(--broken)" />
        </pattern>
      </defs>
    </svg>
  );
}
