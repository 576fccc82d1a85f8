/** The condition of a task: edited beside what is live, tried on the page now and on the pages of the past. */
import { useMemo, type ReactNode } from 'react';
import type { Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useMay } from '../session/session.js';
import { DraftBar } from '../task/draft-bar.js';
import { useTaskDraft } from '../task/draft.js';
import { taskInputOf } from '../task/task-input.js';
import { useTexts } from '../text/text.js';
import {
  fetchOfCondition,
  notifyOnOfCondition,
  printCondition,
  readCondition,
  type Condition,
} from '../new/condition.js';
import { ConditionForm } from '../new/condition-form.js';
import { BacktestCard } from './backtest-card.js';
import { CodeEditor } from './code-editor.js';
import { PageCard } from './page-card.js';
import { PickCard } from './pick-card.js';
import { ShadowCard, useStartShadow } from './shadow-card.js';
import { TrialDetails, TrialVerdict } from './trial-result.js';
import { useSaid } from '../text/server-sentence.js';
import { codeFaultsOf, useTrial } from './use-trial.js';

export function ConditionTab({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const draft = useTaskDraft(task, 'condition');
  const trial = useTrial();
  const shadow = useStartShadow(task.id);
  const mayWrite = useMay('write');
  const code = draft.edit.evaluationFunction ?? task.evaluationFunction;
  const isEdited = code !== task.evaluationFunction;
  const condition = useMemo(() => readCondition(code), [code]);
  const settings = draft.edit.fetch ?? task.fetch;
  const edited = useMemo<Task>(() => ({ ...task, ...draft.edit }), [task, draft.edit]);
  /** Another condition may need another policy, or another way to load the page, to mean what it says. */
  const say = (next: Condition): void => {
    const policy = draft.edit.policy ?? task.policy;
    const [before, notifyOn] = [condition === null ? null : notifyOnOfCondition(condition), notifyOnOfCondition(next)];
    const statuses = fetchOfCondition(next);
    const hadStatuses = condition !== null && 'acceptStatus' in fetchOfCondition(condition);
    draft.change({
      evaluationFunction: printCondition(next),
      ...(before !== notifyOn && policy.notifyOn !== notifyOn && { policy: { ...policy, notifyOn } }),
      ...(!hadStatuses && 'acceptStatus' in statuses && { fetch: { ...settings, ...statuses } }),
    });
  };
  const refusal = draft.error ?? trial.error;
  const said = useSaid();
  const faults = useMemo(() => codeFaultsOf(refusal, trial.data, said), [refusal, trial.data, said]);
  return (
    <div className="stack">
      <DraftBar task={task} draft={draft}>
        <button
          type="button"
          className="button"
          disabled={!mayWrite || !isEdited || shadow.isPending}
          onClick={() => shadow.mutate({ evaluationFunction: code })}
        >
          {t('shadow.start')}
        </button>
      </DraftBar>
      {mayWrite && <PageCard task={edited} draft={draft} />}
      <section className="card">
        <header>
          <h2>{t('tab.condition')}</h2>
          {isEdited && <span className="small muted">{t('condition.changed', { revision: task.revision })}</span>}
          <span className="grow" />
          <button
            type="button"
            className="button"
            disabled={!mayWrite || trial.isPending}
            onClick={() => trial.mutate(taskInputOf(edited))}
          >
            {t('trial.do')}
          </button>
        </header>
        {mayWrite && (
          <div className="in stack">
            {condition !== null && <ConditionForm condition={condition} onChange={say} />}
            <PickCard
              task={edited}
              settings={settings}
              condition={condition}
              onCondition={say}
              onSettings={(fetch) => draft.change({ fetch })}
            />
          </div>
        )}
        <CodeEditor
          label={t('condition.code')}
          code={code}
          saved={task.evaluationFunction}
          faults={faults}
          isReadOnly={!mayWrite}
          onChange={(evaluationFunction) => draft.change({ evaluationFunction })}
        />
        {trial.data !== undefined && <TrialVerdict trial={trial.data} />}
      </section>
      {trial.error !== null && <ProblemNotice error={trial.error} />}
      {trial.data !== undefined && <TrialDetails trial={trial.data} />}
      <BacktestCard task={task} evaluationFunction={isEdited ? code : undefined} />
      <ShadowCard task={task} />
    </div>
  );
}
