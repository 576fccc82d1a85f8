/** The value and the runs of a task on one time axis, and the slider that chooses a moment of it. */
import { Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Execution, Task } from '../api/types.js';
import { later } from '../frame/later.js';
import { RunStrip } from '../marks/run-strip.js';
import { cellsOverTime, type StripRun, type StripTime } from '../marks/strip-cells.js';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { absoluteTime } from '../text/times.js';
import { useValueText } from '../text/value-text.js';
import { timeOfRun } from './happenings.js';
import { useStatistics, useValues } from './task-query.js';
import { thresholdOf } from './threshold.js';
import type { Point } from './value-chart.js';

const ValueChart = later(async () => (await import('./value-chart.js')).ValueChart);

export const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '90d': 7_776_000_000 } as const;
export type Range = keyof typeof ranges;
const rangeWords = {
  '1h': 'range.hour',
  '24h': 'range.day',
  '7d': 'range.week',
  '90d': 'range.quarter',
} as const satisfies Readonly<Record<Range, TextKey>>;

/** A cell is so wide at least. */
const cellWidth = 9;
const stripHeight = 26;

const stripRunOf = (run: Execution): StripRun => ({
  id: run.id,
  at: timeOfRun(run),
  status: run.status,
  outcome: run.outcome,
  notified: run.decision?.notify === true,
});

/** The number that a run reported: of runs that are known each is drawn, of the time before them what the record kept. */
function pointOf({ finishedAt, values }: Execution): readonly Point[] {
  const value: unknown = values['value'];
  return typeof value === 'number' && finishedAt !== null ? [{ at: finishedAt, value }] : [];
}

/** How wide its place is, as the window changes. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { place, width };
}

interface Props {
  readonly task: Task;
  /** Newest first. */
  readonly runs: readonly Execution[];
  readonly time: StripTime;
  readonly at: string | null;
  readonly range: Range;
  readonly onMoment: (at: string | null) => void;
  readonly onRange: (range: Range) => void;
}

function Strip({ task, runs, time, at, range, onMoment }: Props): ReactNode {
  const { place, width } = useWidth();
  const from = new Date(time.from).toISOString();
  const statistics = useStatistics(task.id, { from, isByDay: range === '90d' });
  const oldestFirst = useMemo(() => runs.map(stripRunOf).reverse(), [runs]);
  const cells = Math.max(20, Math.min(90, Math.floor(width / cellWidth)));
  const buckets = statistics.data?.buckets;
  const { knownFrom, to, from: start } = time;
  const placed = useMemo(
    () => cellsOverTime(oldestFirst, buckets ?? [], { from: start, to, knownFrom }, cells),
    [oldestFirst, buckets, start, to, knownFrom, cells],
  );
  const chosen = at === null ? null : (placed.findLast(({ cell }) => cell.run.at <= at)?.cell.run.id ?? null);
  return (
    <div ref={place} className="over-time-strip">
      {width > 0 && (
        <RunStrip
          runs={oldestFirst}
          placed={placed}
          cells={cells}
          width={width}
          height={stripHeight}
          chosenId={chosen}
          onChoose={(run) => onMoment(run.at)}
        />
      )}
    </div>
  );
}

/** So many steps the slider has over the time that is shown: an arrow key moves it by one. */
const sliderSteps = 480;
/** A moment is asked for once the slider rests so long. */
const restMs = 150;

/** Follows the hand at once; what was then is asked for where it rests. */
function MomentSlider(props: {
  readonly time: StripTime;
  readonly moment: number | null;
  readonly onMoment: (at: string | null) => void;
}): ReactNode {
  const { t, locale } = useTexts();
  const { time, moment, onMoment } = props;
  const [dragged, setDragged] = useState<number | null>(null);
  const choose = useRef(onMoment);
  choose.current = onMoment;
  const step = Math.max(1_000, Math.floor((time.to - time.from) / sliderSteps));
  /** The last step before the end is now. */
  const isNow = dragged !== null && dragged > time.to - Math.max(step, 60_000);
  useEffect(() => {
    if (dragged === null) return;
    const timer = setTimeout(() => {
      setDragged(null);
      choose.current(isNow ? null : new Date(dragged).toISOString());
    }, restMs);
    return () => clearTimeout(timer);
  }, [dragged, isNow]);
  const shown = dragged ?? moment;
  return (
    <input
      className="moment-slider"
      type="range"
      aria-label={t('moment.slider')}
      aria-valuetext={shown === null || isNow ? t('explain.now') : absoluteTime(new Date(shown).toISOString(), locale)}
      title={t('moment.slider')}
      min={time.from}
      max={time.to}
      step={step}
      value={shown ?? time.to}
      onChange={({ target }) => setDragged(target.valueAsNumber)}
    />
  );
}

export function OverTime(props: Props): ReactNode {
  const { t } = useTexts();
  const valueText = useValueText();
  const { task, time, at, range, onMoment, onRange } = props;
  const values = useValues(task.id, new Date(time.from).toISOString());
  const points = useMemo(() => {
    const known = new Date(time.knownFrom).toISOString();
    const before = (values.data ?? []).filter((point) => point.at < known);
    return [...before, ...props.runs.flatMap(pointOf).reverse()];
  }, [values.data, props.runs, time.knownFrom]);
  const words = useMemo(() => {
    const threshold = thresholdOf(task.evaluationFunction);
    return threshold === null
      ? null
      : { ...threshold, words: t(`threshold.${threshold.compare}`, { limit: threshold.value }) };
  }, [task.evaluationFunction, t]);
  const moment = at === null ? null : Date.parse(at);
  const last = task.lastExecution?.value;
  return (
    <section className="card" aria-label={t('chart.region')}>
      <header>
        <h2>{points.length > 0 ? t('chart.value') : t('chart.runs')}</h2>
        {last !== null && last !== undefined && (
          <b className="num ellipsis">
            <bdi>{valueText(last).slice(0, 80)}</bdi>
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
      <div className="in over-time">
        {points.length > 1 && (
          <Suspense fallback={<div className="skeleton" style={{ height: '170px' }} />}>
            <ValueChart
              points={points}
              from={time.from}
              to={time.to}
              threshold={words}
              moment={moment}
              onChoose={onMoment}
            />
          </Suspense>
        )}
        <div className={points.length > 1 ? 'below-chart' : undefined}>
          <Strip {...props} />
          <MomentSlider time={time} moment={moment} onMoment={onMoment} />
        </div>
      </div>
    </section>
  );
}
