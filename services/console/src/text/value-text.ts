/** What the code of a task reported, as one line of text. */
import { useCallback } from 'react';
import { useNumbers } from './numbers.js';

/** As it stands in the settings of a task, the same for every reader. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The same for people: numbers as their browser writes them. */
export function useValueText(): (value: unknown) => string {
  const number = useNumbers();
  return useCallback(
    (value) => (typeof value === 'number' ? number(value, { maximumFractionDigits: 6 }) : valueText(value)),
    [number],
  );
}
