/** When a task runs and when it notifies: sentences of controls over their JSON, with the next ten runs. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import type { Policy, Schedule, Task } from '../api/types.js';
import { BacktestCard } from '../condition/backtest-card.js';
import { useStartShadow } from '../condition/shadow-card.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useMay } from '../session/session.js';
import { DraftBar } from '../task/draft-bar.js';
import { useTaskDraft } from '../task/draft.js';
import { absoluteTime } from '../text/times.js';
import { useTexts } from '../text/text.js';
import { PolicyForm } from './policy-form.js';
import { ScheduleForm } from './schedule-form.js';

function NextRuns({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const { t, locale } = useTexts();
  const asked = useDeferredValue(schedule);
  const preview = useQuery({
    queryKey: ['schedule-preview', asked],
    retry: false,
    placeholderData: (before) => before,
    queryFn: () =>
      dataOf(api.POST('/api/schedules/preview', { params: { query: { count: 10 } }, body: asked as never })),
  });
  return (
    <section className="card" aria-label={t('schedule.next')}>
      <header>
        <h2>{t('schedule.next')}</h2>
      </header>
      <div className="in">
        {preview.error !== null ? (
          <ProblemNotice error={preview.error} />
        ) : (
          <ol>
            {(preview.data?.runs ?? []).map((at) => (
              <li key={at} className="num">
                {absoluteTime(at, locale)}
              </li>
            ))}
          </ol>
        )}
        {preview.data?.runs.length === 0 && <p className="muted">{t('schedule.never')}</p>}
      </div>
    </section>
  );
}

export function ScheduleTab({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const draft = useTaskDraft(task, 'schedule');
  const shadow = useStartShadow(task.id);
  const mayWrite = useMay('write');
  const schedule: Schedule = draft.edit.schedule ?? task.schedule;
  const policy: Policy = draft.edit.policy ?? task.policy;
  const isPolicyEdited = JSON.stringify(policy) !== JSON.stringify(task.policy);
  const fault = faultOf(draft.error, 'schedule') ?? faultOf(draft.error, 'policy');
  return (
    <div className="stack">
      <DraftBar task={task} draft={draft}>
        <button
          type="button"
          className="button"
          disabled={!mayWrite || !isPolicyEdited || shadow.isPending}
          onClick={() => shadow.mutate({ policy })}
        >
          {t('shadow.start')}
        </button>
      </DraftBar>
      {fault !== null && <p className="notice bad">{fault}</p>}
      <div className="side-by-side">
        <section className="card">
          <header>
            <h2>{t('schedule.title')}</h2>
          </header>
          <div className="in">
            <ScheduleForm schedule={schedule} onChange={(next) => draft.change({ schedule: next })} />
          </div>
        </section>
        <NextRuns schedule={schedule} />
      </div>
      <section className="card">
        <header>
          <h2>{t('policy.title')}</h2>
        </header>
        <div className="in">
          <PolicyForm taskId={task.id} policy={policy} onChange={(next) => draft.change({ policy: next })} />
        </div>
      </section>
      <BacktestCard task={task} policy={isPolicyEdited ? policy : undefined} />
    </div>
  );
}
