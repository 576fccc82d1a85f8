/** A schedule as controls. */
import { useId, type ReactNode } from 'react';
import type { Schedule } from '../api/types.js';
import { useTexts } from '../text/text.js';
import { NumberField, SpanField } from './number-field.js';
import { useSpanWords } from './use-span-words.js';
import { WindowsField, type WindowValue } from './windows-field.js';
import './schedule.css';

const types = ['interval', 'cron', 'once', 'manual'] as const;
const zones = Intl.supportedValuesOf('timeZone');
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What is common to those that come again and again. */
type Repeating = Extract<Schedule, { type: 'interval' | 'cron' }>;

const rest = {
  timezone: ownZone,
  startAt: null,
  endAt: null,
  windows: [],
  jitterSeconds: 0,
  overlap: 'skip',
  catchUp: 'latest',
} satisfies Omit<Repeating, 'type' | 'intervalSeconds' | 'cron'>;

/** Another type of schedule, with what it has in common with the one before. */
export function scheduleOfType(type: (typeof types)[number], before: Schedule): Schedule {
  const common = before.type === 'interval' || before.type === 'cron' ? before : null;
  const { timezone, startAt, endAt, windows, jitterSeconds, overlap, catchUp } = { ...rest, ...common };
  const kept = { timezone, startAt, endAt, windows, jitterSeconds, overlap, catchUp };
  switch (type) {
    case 'interval':
      return { type, intervalSeconds: before.type === 'interval' ? before.intervalSeconds : 300, ...kept };
    case 'cron':
      return { type, cron: before.type === 'cron' ? before.cron : '0 9 * * 1-5', ...kept };
    case 'once':
      return { type, at: new Date(Date.now() + 3_600_000).toISOString(), overlap: 'skip', catchUp: 'latest' };
    case 'manual':
      return { type };
  }
}

/** A time as `datetime-local` has it, in the browser's zone, and back. */
const localOf = (at: string): string => {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const timeOf = (local: string): string | null => (local === '' ? null : new Date(local).toISOString());

function RepeatingFields({
  schedule,
  onChange,
}: {
  readonly schedule: Repeating;
  readonly onChange: (schedule: Schedule) => void;
}): ReactNode {
  const { t } = useTexts();
  const id = useId();
  const zone = (
    <div className="field">
      <label htmlFor={`${id}-zone`}>{t('schedule.timezone')}</label>
      <input
        id={`${id}-zone`}
        className="input"
        list={`${id}-zones`}
        value={schedule.timezone}
        onChange={({ target }) => onChange({ ...schedule, timezone: target.value })}
      />
      <datalist id={`${id}-zones`}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
  return (
    <>
      {(schedule.type === 'cron' || schedule.windows.length > 0) && zone}
      <WindowsField<WindowValue>
        label={t('schedule.windows')}
        windows={schedule.windows}
        fresh={{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }}
        onChange={(windows) =>
          onChange({ ...schedule, windows: windows.map((one) => ({ ...one, days: [...one.days] })) })
        }
      />
      <details>
        <summary>{t('schedule.more')}</summary>
        <div className="stack">
          <div className="bar">
            {(['startAt', 'endAt'] as const).map((name) => (
              <div className="field" key={name}>
                <label htmlFor={`${id}-${name}`}>{t(`schedule.${name}`)}</label>
                <input
                  id={`${id}-${name}`}
                  className="input"
                  type="datetime-local"
                  value={schedule[name] === null ? '' : localOf(schedule[name])}
                  onChange={({ target }) => onChange({ ...schedule, [name]: timeOf(target.value) })}
                />
              </div>
            ))}
          </div>
          <p className="bar">
            {t('schedule.jitter')}
            <NumberField
              label={t('schedule.jitter')}
              value={schedule.jitterSeconds}
              min={0}
              onChange={(jitterSeconds) => onChange({ ...schedule, jitterSeconds })}
            />
          </p>
          <p className="bar">
            <label htmlFor={`${id}-overlap`}>{t('schedule.overlap')}</label>
            <select
              id={`${id}-overlap`}
              className="input"
              style={{ width: 'auto' }}
              value={schedule.overlap}
              onChange={({ target }) => onChange({ ...schedule, overlap: target.value as Repeating['overlap'] })}
            >
              <option value="skip">{t('schedule.overlapSkip')}</option>
              <option value="queue">{t('schedule.overlapQueue')}</option>
            </select>
          </p>
          <p className="bar">
            <label htmlFor={`${id}-catch-up`}>{t('schedule.catchUp')}</label>
            <select
              id={`${id}-catch-up`}
              className="input"
              style={{ width: 'auto' }}
              value={schedule.catchUp}
              onChange={({ target }) => onChange({ ...schedule, catchUp: target.value as Repeating['catchUp'] })}
            >
              <option value="latest">{t('schedule.catchUpLatest')}</option>
              <option value="none">{t('schedule.catchUpNone')}</option>
            </select>
          </p>
        </div>
      </details>
    </>
  );
}

export function ScheduleForm({
  schedule,
  onChange,
}: {
  readonly schedule: Schedule;
  readonly onChange: (schedule: Schedule) => void;
}): ReactNode {
  const { t } = useTexts();
  const words = useSpanWords();
  const id = useId();
  return (
    <div className="stack">
      <div className="bar sentence" role="group" aria-label={t('schedule.title')}>
        <label htmlFor={`${id}-type`}>{t('schedule.look')}</label>
        <select
          id={`${id}-type`}
          className="input"
          style={{ width: 'auto' }}
          value={schedule.type}
          onChange={({ target }) => onChange(scheduleOfType(target.value as Schedule['type'], schedule))}
        >
          {types.map((type) => (
            <option key={type} value={type}>
              {t(`schedule.type.${type}`)}
            </option>
          ))}
        </select>
        {schedule.type === 'interval' && (
          <SpanField
            label={t('schedule.type.interval')}
            seconds={schedule.intervalSeconds}
            min={1}
            words={words}
            onChange={(intervalSeconds) => onChange({ ...schedule, intervalSeconds })}
          />
        )}
        {schedule.type === 'cron' && (
          <input
            className="input mono"
            style={{ width: '12rem' }}
            aria-label={t('schedule.type.cron')}
            value={schedule.cron}
            onChange={({ target }) => onChange({ ...schedule, cron: target.value })}
          />
        )}
        {schedule.type === 'once' && (
          <input
            className="input"
            style={{ width: 'auto' }}
            type="datetime-local"
            aria-label={t('schedule.type.once')}
            value={localOf(schedule.at)}
            onChange={({ target }) => onChange({ ...schedule, at: timeOf(target.value) ?? schedule.at })}
          />
        )}
      </div>
      {(schedule.type === 'interval' || schedule.type === 'cron') && (
        <RepeatingFields schedule={schedule} onChange={onChange} />
      )}
    </div>
  );
}
