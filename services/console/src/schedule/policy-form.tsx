/** A policy as sentences whose parts are controls. */
import { useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import type { Policy } from '../api/types.js';
import { useTexts } from '../text/text.js';
import { NumberField, SpanField } from './number-field.js';
import { useSpanWords } from './use-span-words.js';
import { WindowsField } from './windows-field.js';

interface Props {
  readonly taskId: string | null;
  readonly policy: Policy;
  readonly onChange: (policy: Policy) => void;
}

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Other tasks by name; the API alone knows whether they would make a circle. */
function Dependencies({ taskId, policy, onChange }: Props): ReactNode {
  const { t } = useTexts();
  const id = useId();
  const [typed, setTyped] = useState('');
  const q = typed.trim();
  const found = useQuery({
    queryKey: ['palette', q],
    enabled: q !== '',
    queryFn: () => answerOf(api.GET('/api/notifications', { params: { query: { q, limit: 8 } } })),
  });
  const known = useQuery({
    queryKey: ['names', policy.dependsOn],
    enabled: policy.dependsOn.length > 0,
    queryFn: () =>
      Promise.all(
        policy.dependsOn.map(async (one) => {
          const { data } = await api.GET('/api/notifications/{id}', { params: { path: { id: one } } });
          return [one, data?.data.name ?? one] as const;
        }),
      ),
  });
  const names = new Map(known.data ?? []);
  const offered = (found.data?.data ?? []).filter((task) => task.id !== taskId && !policy.dependsOn.includes(task.id));
  return (
    <div className="field">
      <label htmlFor={id}>{t('policy.dependsOn')}</label>
      <div className="bar">
        {policy.dependsOn.map((one) => (
          <button
            key={one}
            type="button"
            className="button"
            onClick={() => onChange({ ...policy, dependsOn: policy.dependsOn.filter((other) => other !== one) })}
          >
            <bdi>{names.get(one) ?? one}</bdi> ×
          </button>
        ))}
        <input
          id={id}
          className="input grow"
          placeholder={t('policy.dependsOnSearch')}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <div className="bar">
        {offered.map((task) => (
          <button
            key={task.id}
            type="button"
            className="button plain"
            onClick={() => {
              onChange({ ...policy, dependsOn: [...policy.dependsOn, task.id] });
              setTyped('');
            }}
          >
            + <bdi>{task.name}</bdi>
          </button>
        ))}
      </div>
    </div>
  );
}

export function PolicyForm({ taskId, policy, onChange }: Props): ReactNode {
  const { t } = useTexts();
  const words = useSpanWords();
  const id = useId();
  const numberOf = (
    name: 'confirmations' | 'recoveryConfirmations' | 'errorThreshold' | 'maxPerHour' | 'flapWindow',
    min: number,
  ) => (
    <NumberField
      label={t(`policy.${name}`)}
      value={policy[name]}
      min={min}
      onChange={(value) => onChange({ ...policy, [name]: value })}
    />
  );
  const spanOf = (name: 'cooldownSeconds' | 'reminderSeconds') => (
    <SpanField
      label={t(`policy.${name}`)}
      seconds={policy[name]}
      min={0}
      words={words}
      onChange={(seconds) => onChange({ ...policy, [name]: seconds })}
    />
  );
  return (
    <div className="stack">
      <p className="bar sentence">
        <label htmlFor={`${id}-on`}>{t('policy.notify')}</label>
        <select
          id={`${id}-on`}
          className="input"
          style={{ width: 'auto' }}
          value={policy.notifyOn}
          onChange={({ target }) => onChange({ ...policy, notifyOn: target.value as Policy['notifyOn'] })}
        >
          {(['became_true', 'every_true', 'changed'] as const).map((on) => (
            <option key={on} value={on}>
              {t(`policy.on.${on}`)}
            </option>
          ))}
        </select>
        {t('policy.after')} {numberOf('confirmations', 1)} {t('policy.inARow')}
      </p>
      <p className="bar">
        {t('policy.recoveredAfter')} {numberOf('recoveryConfirmations', 1)} {t('policy.inARow')}
      </p>
      <p className="bar">
        {t('policy.brokenAfter')} {numberOf('errorThreshold', 1)} {t('policy.failedInARow')}
      </p>
      <p className="bar">
        {t('policy.atMost')} {numberOf('maxPerHour', 0)} {t('policy.anHour')}
      </p>
      <p className="bar">
        {t('policy.cooldown')} {spanOf('cooldownSeconds')}
      </p>
      <p className="bar">
        {t('policy.remind')} {spanOf('reminderSeconds')} {t('policy.zeroNever')}
      </p>
      <p className="bar">
        {t('policy.flap')} {numberOf('flapWindow', 0)} {t('policy.flapZero')}
      </p>
      <WindowsField
        label={t('policy.quietHours')}
        windows={policy.quietHours}
        fresh={{
          days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
          from: '22:00',
          to: '07:00',
          timezone: ownZone,
        }}
        onChange={(quietHours) =>
          onChange({ ...policy, quietHours: quietHours.map((one) => ({ ...one, days: [...one.days] })) })
        }
      >
        {(window, change) => (
          <input
            className="input"
            style={{ width: '11rem' }}
            aria-label={t('schedule.timezone')}
            value={window.timezone}
            onChange={({ target }) => change({ ...window, timezone: target.value })}
          />
        )}
      </WindowsField>
      <Dependencies taskId={taskId} policy={policy} onChange={onChange} />
      <label className="bar">
        <input
          type="checkbox"
          checked={policy.muted}
          onChange={({ target }) => onChange({ ...policy, muted: target.checked })}
        />
        {t('policy.muted')}
      </label>
    </div>
  );
}
