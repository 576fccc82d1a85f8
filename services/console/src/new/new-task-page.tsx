/** The first minutes: an address, a click on what matters, a sentence, a live trial, and it is saved. */
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useActionTypes } from '../actions/action-types.js';
import { freshAction, inputOf as actionInputOf, settingsOf } from '../actions/action-draft.js';
import { ActionEditor, ActionSelect } from '../actions/action-editor.js';
import { useActionName } from '../actions/use-channel-name.js';
import { api } from '../api/client.js';
import { faultOf, isProblem } from '../api/problem.js';
import type { Policy, TaskInput } from '../api/types.js';
import { CodeEditor } from '../condition/code-editor.js';
import { TrialDetails, TrialVerdict } from '../condition/trial-result.js';
import { codeFaultsOf, useTrial } from '../condition/use-trial.js';
import { TextField } from '../frame/labelled.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { ScheduleForm } from '../schedule/schedule-form.js';
import { useSession } from '../session/session.js';
import { useTexts } from '../text/text.js';
import { fetchOfCondition, notifyOnOfCondition, printCondition, readCondition, type Condition } from './condition.js';
import { ConditionForm } from './condition-form.js';
import { AddressField } from './address-field.js';
import { addressOf } from './typed-address.js';
import { clearDraft, keepDraft, keptDraft, type NewTaskDraft } from './new-draft.js';
import { Picker } from './picker.js';
import { NothingToPick } from './page-source.js';
import { isEmptyShell, usePreview } from './preview-query.js';
import { chosenIn, withGuess, withSelector } from './picked.js';
import { useSaving, type Saving } from './saving.js';
import { StepsLine } from './steps-line.js';
import { ServerFault, useSaid } from '../text/server-sentence.js';

const examples = [
  { url: 'https://example.com/', text: 'new.example.changes' },
  { url: 'https://www.python.org/downloads/', text: 'new.example.release' },
  { url: 'https://api.github.com/repos/nodejs/node', text: 'new.example.json' },
] as const;

/** So long after the last change a trial begins. */
const trialAfterMs = 600;

/** The edit and what follows from each change of it: the draft in this browser, and one trial after the other. */
function useNewTask() {
  const { account } = useSession();
  const [draft, setDraft] = useState<NewTaskDraft>(() => keptDraft());
  const trial = useTrial();
  const types = useActionTypes();
  const [, navigate] = useLocation();
  const likeId = new URLSearchParams(useSearch()).get('like');
  const isTyped = useRef(false);
  const change = useCallback((changes: Partial<NewTaskDraft>): void => {
    isTyped.current = true;
    setDraft((before) => ({ ...before, ...changes }));
  }, []);
  /** Of the page; whoever has typed one keeps it. */
  const suggestName = useCallback((name: string): void => {
    setDraft((before) => (before.name === '' ? { ...before, name: name.slice(0, 200) } : before));
  }, []);
  useEffect(() => {
    // What of an action is secret its channel says.
    if (isTyped.current && types.data !== undefined) keepDraft(draft, types.data);
  }, [draft, types.data]);
  useEffect(() => {
    if (likeId === null) return;
    void api.GET('/api/notifications/{id}', { params: { path: { id: likeId } } }).then(({ data }) => {
      if (data === undefined) return;
      const { name, url, evaluationFunction, schedule, policy, tags, fetch } = data.data;
      const { mode } = fetch;
      const steps = mode === 'browser' ? (fetch.browser?.steps ?? []) : [];
      change({
        name,
        url,
        mode,
        steps,
        code: evaluationFunction,
        schedule,
        notifyOn: policy.notifyOn,
        tags: [...tags],
      });
      // From here on it is a draft as any other: a reload keeps what is typed into it.
      navigate('/new', { replace: true });
    });
  }, [likeId, change, navigate]);
  const canMail = types.data?.some(({ type, available }) => type === 'email' && available) === true;
  useEffect(() => {
    if (!canMail || draft.actions !== null) return;
    const config = { to: account.email, subject: '{{ message }}' };
    change({ actions: [{ ...freshAction('email'), config }] });
  }, [canMail, draft.actions, account.email, change]);
  const input = useMemo<TaskInput>(() => inputOf(draft), [draft]);
  const { mutate: tryIt } = trial;
  useEffect(() => {
    if (draft.code === '' || draft.url === '') return;
    const timer = setTimeout(() => tryIt({ ...input, name: input.name === '' ? 'trial' : input.name }), trialAfterMs);
    return () => clearTimeout(timer);
  }, [input, draft.code, draft.url, tryIt]);
  return { draft, change, suggestName, input, trial, types: types.data ?? [] };
}

type NewTask = ReturnType<typeof useNewTask>;

interface CardProps {
  readonly task: NewTask;
  readonly saving: Saving;
}

function ConditionCard({ task, saving }: CardProps): ReactNode {
  const { t } = useTexts();
  const { draft, change, trial } = task;
  const { fields, missing, error } = saving;
  const condition = useMemo(() => readCondition(draft.code), [draft.code]);
  const problem = error ?? trial.error;
  const said = useSaid();
  const faults = useMemo(() => codeFaultsOf(problem, trial.data, said), [problem, trial.data, said]);
  const say = (next: Condition): void => change({ code: printCondition(next), notifyOn: notifyOnOfCondition(next) });
  return (
    <>
      <section className="card">
        <header>
          <h2>{t('new.notifyWhen')}</h2>
        </header>
        <div className="in">
          {draft.code === '' ? (
            <div className="field">
              <p>
                <button
                  ref={fields.condition}
                  type="button"
                  className="button"
                  aria-describedby="new-condition-fault"
                  onClick={() => say({ kind: 'pageSays', text: 'sold out', isNegated: true })}
                >
                  {t('new.withoutPicking')}
                </button>
              </p>
              <span id="new-condition-fault" className="fault">
                {missing.has('condition') && t('new.missing.condition')}
              </span>
            </div>
          ) : condition === null ? (
            <p className="muted">{t('new.byHand')}</p>
          ) : (
            <ConditionForm condition={condition} onChange={say} />
          )}
        </div>
        <CodeEditor
          label={t('condition.code')}
          code={draft.code}
          saved={null}
          faults={faults}
          onChange={(code) => change({ code })}
        />
        {trial.data !== undefined && draft.code !== '' && <TrialVerdict trial={trial.data} />}
      </section>
      {draft.code !== '' && trial.data !== undefined && <TrialDetails trial={trial.data} />}
      {draft.code !== '' && isProblem(trial.error) && <ProblemNotice error={trial.error} />}
    </>
  );
}

/** Name, schedule and who is notified: filled in already, to be looked at. */
function RestCard({ task, saving }: CardProps): ReactNode {
  const { t } = useTexts();
  const { draft, change, types } = task;
  const { fields, missing, error } = saving;
  const actionName = useActionName();
  const actions = draft.actions ?? [];
  return (
    <section className="card">
      <div className="in stack">
        <TextField
          label={t('new.name')}
          fault={missing.has('name') ? t('new.missing.name') : faultOf(error, 'name')}
          value={draft.name}
          onChange={(name) => change({ name })}
          input={{ ref: fields.name, maxLength: 200, required: true }}
        />
        <ScheduleForm schedule={draft.schedule} onChange={(schedule) => change({ schedule })} />
        <h3>{t('tab.actions')}</h3>
        {actions.map((action, index) => (
          <details key={index} open={'config' in action && action.type !== 'email'}>
            <summary>
              {actionName(action)} {typeof settingsOf(action)['to'] === 'string' && String(settingsOf(action)['to'])}
            </summary>
            <ActionEditor
              types={types}
              action={action}
              error={error}
              path={`actions[${index}]`}
              onChange={(next) => change({ actions: actions.map((one, at) => (at === index ? next : one)) })}
            />
            <button
              type="button"
              className="button danger"
              onClick={() => change({ actions: actions.filter((_, at) => at !== index) })}
            >
              {t('actions.remove')}
            </button>
          </details>
        ))}
        <ActionSelect
          types={types}
          action={null}
          onChoose={(action) => action !== null && change({ actions: [...actions, action] })}
        />
      </div>
    </section>
  );
}

export function NewTaskPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('command.newTask'));
  const [, navigate] = useLocation();
  const task = useNewTask();
  const { draft, change, suggestName } = task;
  const preview = usePreview();
  const saving = useSaving(task);
  /** What was asked for as it is sent, and is rendered because nothing stands in it. */
  const [renderedInstead, setRenderedInstead] = useState<string | null>(null);
  const load = (typed: string, { mode, steps, isFirst = false, isInstead = false }: Loading): void => {
    const url = addressOf(typed);
    change({ url: url ?? typed, mode, steps });
    if (url === null) return;
    preview.mutate(
      { url, fetch: loadingOf({ mode, steps }) },
      {
        onSuccess: (loaded) => {
          const { page, error } = loaded;
          const isToBeRendered = isFirst && mode === 'http' && isEmptyShell(loaded);
          const title = page?.title.trim() ?? '';
          if (title !== '') suggestName(title);
          // One that is rendered instead may have a title then; one that is not there, another address.
          else if (error === null && !isToBeRendered) suggestName(new URL(url).host);
          if (!isToBeRendered) return;
          setRenderedInstead(url);
          load(typed, { mode: 'browser', steps, isInstead: true });
        },
        // Without a browser here it stays what was asked for.
        onError: () => {
          if (!isInstead) return;
          change({ mode: 'http' });
          suggestName(new URL(url).host);
        },
      },
    );
  };
  const begin = (typed: string): void => load(typed, { mode: draft.mode, steps: draft.steps, isFirst: true });
  const condition = readCondition(draft.code);
  const { data: found } = preview;
  const isBadAddress = draft.url !== '' && addressOf(draft.url) === null;
  const addressFault = isBadAddress ? 'new.badAddress' : saving.missing.has('address') ? 'new.missing.address' : null;
  const say = (next: Condition): void => change({ code: printCondition(next), notifyOn: notifyOnOfCondition(next) });
  return (
    <div className="stack">
      <div className="bar">
        <h1>{t('command.newTask')}</h1>
        <span className="grow" />
        <span className="small muted">{t('draft.kept')}</span>
        <button
          type="button"
          className="button plain"
          onClick={() => {
            clearDraft();
            navigate('/tasks');
          }}
        >
          {t('draft.discard')}
        </button>
        <button type="button" className="button main" disabled={saving.isPending} onClick={saving.save}>
          {t('new.save')}
        </button>
      </div>
      <AddressField
        draft={draft}
        field={saving.fields.address}
        hasFault={addressFault !== null}
        onLoad={begin}
        onMode={(typed, mode) => load(typed, { mode, steps: draft.steps })}
        isLoading={preview.isPending}
        loaded={found}
      />
      <StepsLine steps={draft.steps} onChange={(steps) => load(draft.url, { mode: draft.mode, steps })} />
      {addressFault !== null && (
        <p id="new-address-fault" className="notice bad">
          {t(addressFault)}
        </p>
      )}
      {draft.url === '' && (
        <div className="bar">
          <span className="muted">{t('new.examples')}</span>
          {examples.map(({ url, text }) => (
            <button key={url} type="button" className="button" onClick={() => begin(url)}>
              {t(text)}
            </button>
          ))}
        </div>
      )}
      {saving.error !== null && <ProblemNotice error={saving.error} />}
      {renderedInstead !== null && renderedInstead === addressOf(draft.url) && draft.mode === 'browser' && (
        <p className="notice" role="status">
          {t('new.renderedInstead')}
        </p>
      )}
      {preview.error !== null && <ProblemNotice error={preview.error} />}
      {found?.error != null && (
        <p className="notice bad" role="alert">
          <ServerFault fault={found.error} />
        </p>
      )}
      <div className="new-task">
        {found !== undefined && found.elements.length > 0 ? (
          <Picker
            key={preview.submittedAt}
            preview={found}
            chosen={chosenIn(condition)}
            onChoose={(pick) => say(withGuess(condition, pick))}
            onSelector={(selector, isList) => {
              const next = withSelector(condition, selector, isList);
              if (next !== null) say(next);
            }}
            onClickFirst={(selector) =>
              load(draft.url, { mode: 'browser', steps: [...draft.steps, { do: 'click', selector }] })
            }
          />
        ) : (
          <NothingToPick preview={found} />
        )}
        <div className="stack">
          <ConditionCard task={task} saving={saving} />
          <RestCard task={task} saving={saving} />
        </div>
      </div>
    </div>
  );
}

interface Loading extends Pick<NewTaskDraft, 'mode' | 'steps'> {
  /** Nobody chose how: where a page says nothing as it is sent, it is rendered at once. */
  readonly isFirst?: boolean;
  /** It is that. */
  readonly isInstead?: boolean;
}

/** Steps are the browser's. */
function loadingOf({ mode, steps }: Pick<NewTaskDraft, 'mode' | 'steps'>): Partial<TaskInput['fetch']> {
  return (mode === 'browser' && steps.length > 0 ? { mode, browser: { steps: [...steps] } } : { mode }) as Partial<
    TaskInput['fetch']
  >;
}

function inputOf({ name, url, code, schedule, notifyOn, actions, mode, steps, tags }: NewTaskDraft): TaskInput {
  const condition = readCondition(code);
  return {
    name,
    url,
    evaluationFunction: code,
    schedule,
    policy: { notifyOn } satisfies Partial<Policy>,
    actions: (actions ?? []).map(actionInputOf),
    fetch: { ...loadingOf({ mode, steps }), ...(condition !== null && fetchOfCondition(condition)) },
    tags,
  } as unknown as TaskInput;
}
