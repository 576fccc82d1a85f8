/** Times of the week: days, from, to; of a schedule or, with their zone, of quiet hours. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

export interface WindowValue {
  readonly days: readonly Day[];
  readonly from: string;
  readonly to: string;
}

interface Props<W extends WindowValue> {
  readonly label: string;
  readonly windows: readonly W[];
  readonly fresh: W;
  readonly onChange: (windows: readonly W[]) => void;
  readonly children?: (window: W, change: (window: W) => void) => ReactNode;
}

/** 2024-01-01 was a Monday. */
const dayName = (index: number, locale: string): string =>
  new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + index));

export function WindowsField<W extends WindowValue>({
  label,
  windows,
  fresh,
  onChange,
  children,
}: Props<W>): ReactNode {
  const { t, locale } = useTexts();
  const change = (index: number, next: W): void => onChange(windows.map((one, at) => (at === index ? next : one)));
  return (
    <fieldset className="windows stack">
      <legend>{label}</legend>
      {windows.map((window, index) => (
        <div className="bar" key={index}>
          {days.map((day, at) => (
            <label key={day} className="bar">
              <input
                type="checkbox"
                checked={window.days.includes(day)}
                onChange={({ target }) =>
                  change(index, {
                    ...window,
                    days: days.filter((one) => (one === day ? target.checked : window.days.includes(one))),
                  })
                }
              />
              {dayName(at, locale)}
            </label>
          ))}
          <input
            className="input"
            style={{ width: '7rem' }}
            type="time"
            aria-label={t('window.from')}
            value={window.from}
            onChange={({ target }) => change(index, { ...window, from: target.value })}
          />
          –
          <input
            className="input"
            style={{ width: '7rem' }}
            type="time"
            aria-label={t('window.to')}
            value={window.to}
            onChange={({ target }) => change(index, { ...window, to: target.value })}
          />
          {children?.(window, (next) => change(index, next))}
          <button
            type="button"
            className="button plain"
            onClick={() => onChange(windows.filter((_, at) => at !== index))}
          >
            {t('window.remove')}
          </button>
        </div>
      ))}
      <p>
        <button type="button" className="button" onClick={() => onChange([...windows, fresh])}>
          {t('window.add')}
        </button>
      </p>
    </fieldset>
  );
}
