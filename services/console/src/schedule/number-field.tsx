/** A whole number inside a sentence. */
import type { ReactNode } from 'react';
import { secondsOf, spanOf, spanUnits, type SpanUnit } from './spans.js';

interface Props {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max?: number;
  readonly onChange: (value: number) => void;
}

export function NumberField({ label, value, min, max, onChange }: Props): ReactNode {
  return (
    <input
      className="input num"
      style={{ width: '6rem' }}
      type="number"
      aria-label={label}
      min={min}
      max={max}
      value={value}
      onChange={({ target }) => {
        const next = target.valueAsNumber;
        if (Number.isSafeInteger(next)) onChange(next);
      }}
    />
  );
}

interface SpanProps {
  readonly label: string;
  readonly seconds: number;
  readonly min: number;
  readonly words: Readonly<Record<SpanUnit, string>>;
  readonly onChange: (seconds: number) => void;
}

export function SpanField({ label, seconds, min, words, onChange }: SpanProps): ReactNode {
  const { count, unit } = spanOf(seconds);
  return (
    <span className="bar" role="group" aria-label={label}>
      <NumberField label={label} value={count} min={min} onChange={(next) => onChange(secondsOf(next, unit))} />
      <select
        className="input"
        style={{ width: 'auto' }}
        aria-label={label}
        value={unit}
        onChange={({ target }) => onChange(secondsOf(count, target.value as SpanUnit))}
      >
        {spanUnits.map((name) => (
          <option key={name} value={name}>
            {words[name]}
          </option>
        ))}
      </select>
    </span>
  );
}
