/** The reported number over time, with the threshold where it is known; a click chooses a moment. */
import { useEffect, useRef, type ReactNode } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import type { Threshold } from './threshold.js';

export interface Point {
  readonly at: string;
  readonly value: number;
  /** Where the point stands for several values. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

interface Props {
  readonly points: readonly Point[];
  readonly from: number;
  readonly to: number;
  readonly threshold: (Threshold & { readonly words: string }) | null;
  /** The chosen moment, in milliseconds. */
  readonly moment: number | null;
  readonly onChoose: (at: string) => void;
}

const height = 170;
/** Left of the plot, for the numbers; what stands below the chart on the same time axis keeps it free, too. */
export const axisWidth = 56;
/** What a time below the chart takes to each side of its tick. */
const halfLabel = 30;

/** A colour of the tokens as the canvas takes it, in the theme that is shown. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function drawThreshold(plot: uPlot, { threshold, moment }: Props, colours: Readonly<Record<string, string>>): void {
  const { ctx, bbox } = plot;
  ctx.save();
  if (threshold !== null) {
    const y = plot.valToPos(threshold.value, 'y', true);
    ctx.fillStyle = colours['met-soft'] ?? '';
    ctx.globalAlpha = 0.55;
    const edge = Math.max(bbox.top, Math.min(bbox.top + bbox.height, y));
    const { compare } = threshold;
    if (compare === 'below' || compare === 'atMost') {
      ctx.fillRect(bbox.left, edge, bbox.width, bbox.top + bbox.height - edge);
    } else if (compare !== 'exactly') ctx.fillRect(bbox.left, bbox.top, bbox.width, edge - bbox.top);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colours['met'] ?? '';
    ctx.setLineDash([4, 5]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillStyle = colours['met'] ?? '';
    ctx.font = `500 ${Math.round(12 * devicePixelRatio)}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = 'right';
    ctx.textBaseline = y - bbox.top > 20 * devicePixelRatio ? 'bottom' : 'top';
    ctx.fillText(threshold.words, bbox.left + bbox.width - 4 * devicePixelRatio, y - 3 * devicePixelRatio);
  }
  if (moment !== null) {
    const x = plot.valToPos(moment / 1_000, 'x', true);
    ctx.setLineDash([]);
    ctx.strokeStyle = colours['accent'] ?? '';
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Hours and minutes, the day where one begins; days alone where the ticks are days apart. */
function timeTicks(ticks: readonly number[], mostTick: number, locale: string): readonly string[] {
  const [first = 0, second = first + 1] = ticks;
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
  const isBySecond = second - first < 60;
  const minute = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    ...(isBySecond && { second: '2-digit' }),
  });
  const isByDay = second - first >= 86_400;
  return ticks.map((tick) => {
    // One that would be cut off at the edge is left out.
    if (tick > mostTick) return '';
    const date = new Date(tick * 1_000);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    return (isByDay || isMidnight ? day : minute).format(date);
  });
}

export function ValueChart(props: Props): ReactNode {
  const { t, locale } = useTexts();
  const number = useNumbers();
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const { points, from, to, threshold, moment } = props;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const names = ['text', 'muted', 'line', 'met', 'met-soft', 'accent'];
    const colours = Object.fromEntries(names.map((name) => [name, colourOf(element, `--${name}`)]));
    const axis = {
      stroke: colours['muted'] ?? '',
      grid: { stroke: colours['line'] ?? '', width: 1 },
      ticks: { show: false },
      font: `12px ${getComputedStyle(document.body).fontFamily}`,
    };
    const step = uPlot.paths.stepped?.({ align: 1 });
    const isThinned = points.some(({ min, max }) => min !== max);
    const extreme: uPlot.Series = { stroke: colours['line'] ?? '', width: 1, points: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        padding: [8, 0, 0, 0],
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { min: from / 1_000, max: to / 1_000 } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (drawn, ticks) => {
              const msAtEdge = ((to - from) * halfLabel) / Math.max(1, drawn.width - axisWidth);
              return [...timeTicks(ticks, (to - msAtEdge) / 1_000, locale)];
            },
          },
          {
            ...axis,
            size: axisWidth,
            values: (_plot, ticks) => ticks.map((tick) => number(tick, { maximumFractionDigits: 4 })),
          },
        ],
        series: [
          {},
          {
            stroke: colours['text'] ?? '',
            width: 1.7,
            points: { show: points.length < 40, size: 5 },
            ...(step !== undefined && { paths: step }),
          },
          ...(isThinned ? [extreme, extreme] : []),
        ],
        ...(isThinned && { bands: [{ series: [3, 2], fill: colours['line'] ?? '' }] }),
        hooks: { drawClear: [(drawn) => drawThreshold(drawn, latest.current, colours)] },
      },
      [
        points.map(({ at }) => Date.parse(at) / 1_000),
        points.map(({ value }) => value),
        ...(isThinned
          ? [points.map(({ min, value }) => min ?? value), points.map(({ max, value }) => max ?? value)]
          : []),
      ],
      element,
    );
    const choose = (): void => {
      const { left } = plot.cursor;
      if (left === undefined || left < 0) return;
      latest.current.onChoose(new Date(plot.posToVal(left, 'x') * 1_000).toISOString());
    };
    plot.over.addEventListener('click', choose);
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [points, from, to, threshold, moment, locale, number]);
  const numbers = points.flatMap(({ value, min, max }) => [min ?? value, max ?? value]);
  const label = t('chart.label', {
    count: points.length,
    low: number(Math.min(...numbers)),
    high: number(Math.max(...numbers)),
    last: number(points.at(-1)?.value ?? 0),
  });
  return <div className="chart" ref={place} role="img" aria-label={label} />;
}
