/** A whole number inside a sentence. */
import { useState, type ReactNode } from 'react';
import { useTypedNumber } from '../frame/typed-number.js';
import { secondsOf, spanOf, spanUnits, type SpanUnit } from './spans.js';

interface Props {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max?: number;
  readonly onChange: (value: number) => void;
}

export function NumberField({ label, value, min, max, onChange }: Props): ReactNode {
  const typed = useTypedNumber(value, Number.isSafeInteger, onChange);
  return (
    <input
      className="input num"
      style={{ width: '6rem' }}
      type="number"
      aria-label={label}
      min={min}
      max={max}
      {...typed}
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
  /** While it is edited the unit stays what it is: 60 of the seconds are no minute yet. */
  const [wanted, setWanted] = useState<SpanUnit>();
  const { count, unit } = spanOf(seconds, wanted);
  const change = (next: number, inUnit: SpanUnit): void => {
    setWanted(inUnit);
    onChange(secondsOf(next, inUnit));
  };
  return (
    <span className="bar" role="group" aria-label={label}>
      <NumberField label={label} value={count} min={min} onChange={(next) => change(next, unit)} />
      <select
        className="input"
        style={{ width: 'auto' }}
        aria-label={label}
        value={unit}
        onChange={({ target }) => change(count, target.value as SpanUnit)}
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
