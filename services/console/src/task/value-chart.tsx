/** The reported number over time, with the threshold where it is known; a click chooses a moment. */
import { useEffect, useRef, type ReactNode } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/times.js';

export interface Point {
  readonly at: string;
  readonly value: number;
}

interface Props {
  readonly points: readonly Point[];
  readonly from: number;
  readonly to: number;
  readonly threshold: { readonly value: number; readonly isBelow: boolean } | null;
  /** The chosen moment, in milliseconds. */
  readonly moment: number | null;
  readonly onChoose: (at: string) => void;
}

const height = 170;

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
    if (threshold.isBelow) ctx.fillRect(bbox.left, edge, bbox.width, bbox.top + bbox.height - edge);
    else ctx.fillRect(bbox.left, bbox.top, bbox.width, edge - bbox.top);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colours['met'] ?? '';
    ctx.setLineDash([4, 5]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
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

export function ValueChart(props: Props): ReactNode {
  const { t, language } = useTexts();
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
    };
    const step = uPlot.paths.stepped?.({ align: 1 });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { min: from / 1_000, max: to / 1_000 } },
        axes: [
          { ...axis, grid: { show: false } },
          {
            ...axis,
            size: 56,
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
        ],
        hooks: { drawClear: [(drawn) => drawThreshold(drawn, latest.current, colours)] },
      },
      [points.map(({ at }) => Date.parse(at) / 1_000), points.map(({ value }) => value)],
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
  }, [points, from, to, threshold, moment, language, number]);
  const numbers = points.map(({ value }) => value);
  const label = t('chart.label', {
    count: points.length,
    low: number(Math.min(...numbers)),
    high: number(Math.max(...numbers)),
    last: number(numbers.at(-1) ?? 0),
  });
  return <div className="chart" ref={place} role="img" aria-label={label} />;
}
