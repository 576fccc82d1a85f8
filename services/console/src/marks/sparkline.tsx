/** The last numbers as a line without axes: whether it rises or falls, not how much. */
import type { ReactNode } from 'react';
import './marks.css';

interface Props {
  readonly values: readonly { readonly at: string; readonly value: number }[];
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
}

export function Sparkline({ values, label, width = 80, height = 18 }: Props): ReactNode {
  if (values.length < 2) return null;
  const numbers = values.map(({ value }) => value);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (index: number): number => (index / (values.length - 1)) * width;
  const y = (value: number): number =>
    high === low ? height / 2 : height - 2 - ((value - low) / (high - low)) * (height - 4);
  const line = numbers.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg
      className="spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      <path d={line.join(' ')} />
      <circle cx={width} cy={y(numbers.at(-1) ?? low)} r={2} />
    </svg>
  );
}
