/** How a task notifies: its actions with their settings by the channel's own schema, tested and previewed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import type { Action, Delivery, MessagePreview, Task } from '../api/types.js';
import { DeliveryState } from '../deliveries/delivery-state.js';
import { CopyField } from '../frame/copy-field.js';
import { EditAndRemove } from '../frame/edit-and-remove.js';
import { useKept } from '../frame/kept.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { SettingsList } from '../frame/settings-list.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useMay } from '../session/session.js';
import { ChangedField } from '../task/history-tab.js';
import { useTexts } from '../text/text.js';
import { actionDraftOf, inputOf, settingsOf, type ActionDraft } from './action-draft.js';
import { ActionEditor, ActionSelect } from './action-editor.js';
import { useActionTypes, type ActionType } from './action-types.js';
import { useActionName } from './use-channel-name.js';
import { useActionEdit, type ActionEdit } from './use-action-edit.js';
import type { Settings } from './field-kinds.js';
import { actionWithoutSecrets, secretMask } from './without-secrets.js';
import { ServerSentence } from '../text/server-sentence.js';

function Preview({ preview }: { readonly preview: MessagePreview }): ReactNode {
  return (
    <div className="notice stack">
      <b>{preview.title}</b>
      <p style={{ whiteSpace: 'pre-wrap' }}>{preview.text}</p>
      {preview.request !== null && (
        <details>
          <summary className="mono">
            {preview.request.method} {preview.request.url}
          </summary>
          <pre>{preview.request.body}</pre>
        </details>
      )}
      {preview.error !== null && (
        <p>
          <ServerSentence text={preview.error.message} />
        </p>
      )}
    </div>
  );
}

function TestResult({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const last = delivery.attempts.at(-1);
  return (
    <div className={delivery.state === 'delivered' ? 'notice good' : 'notice warn'} role="status">
      <DeliveryState state={delivery.state} /> {last?.response !== null && last !== undefined && last.response?.status}{' '}
      {last?.error != null && <ServerSentence text={last.error.message} />}
      {last?.response != null && last.response.body !== '' && <pre className="answer-body">{last.response.body}</pre>}
    </div>
  );
}

/** Field by field what stands there now, and what was typed. */
function BothVersions(props: {
  readonly edit: ActionEdit;
  readonly theirs: Action;
  readonly mine: ActionDraft;
}): ReactNode {
  const { t } = useTexts();
  const { edit, theirs, mine } = props;
  const fields = Object.entries({ ...inputOf(theirs), ...inputOf(mine) }).map(([name]) => {
    const [from, to] = [theirs, mine].map((one) => (inputOf(one) as Readonly<Record<string, unknown>>)[name]);
    return { name, from, to };
  });
  return (
    <div className="notice warn stack" role="alert">
      <p>{t('actions.stale')}</p>
      {fields
        .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
        .map(({ name, from, to }) => (
          <ChangedField key={name} path={name} from={from} to={to} />
        ))}
      <div className="bar">
        <button type="button" className="button" onClick={edit.drop}>
          {t('draft.takeTheirs')}
        </button>
        <button type="submit" className="button main" disabled={edit.isSaving}>
          {t('draft.keepMine')}
        </button>
      </div>
    </div>
  );
}

function ActionCard({
  task,
  action,
  types,
}: {
  readonly task: Task;
  readonly action: Action;
  readonly types: readonly ActionType[];
}): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const failed = useFailureToast();
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const actionName = useActionName();
  const [madeSecret, setMadeSecret] = useState<string | null>(null);
  const path = { id: task.id, actionId: action.id };
  const refresh = (): void => void client.invalidateQueries({ queryKey: ['task', task.id] });
  const edit = useActionEdit(task, action, types, () => {
    refresh();
    toast(t('actions.saved'));
  });
  /** The action comes back by the task as it was before, unless somebody changed that since: nobody is overruled. */
  const undoRemoval = async (before: number): Promise<void> => {
    try {
      const params = { path: { id: task.id } };
      const { revision } = await dataOf(api.GET('/api/notifications/{id}', { params }));
      if (revision > before + 1) {
        failed(t('undo.changed', { revision, before }));
        return;
      }
      await dataOf(api.POST('/api/notifications/{id}/rollback', { params, body: { revision: before } }));
      refresh();
    } catch (error) {
      failed(t('undo.failed', { message: (error as Error).message }), () => void undoRemoval(before));
    }
  };
  const remove = useMutation({
    mutationFn: (_revision: number) =>
      dataOf(api.DELETE('/api/notifications/{id}/actions/{actionId}', { params: { path } })),
    onSuccess: (_removed, revision) => {
      edit.drop();
      refresh();
      toast(t('actions.removed'), () => void undoRemoval(revision));
    },
    onError: (error) => failed(error.message),
  });
  const test = useMutation({
    mutationFn: () => dataOf(api.POST('/api/notifications/{id}/actions/{actionId}/test', { params: { path } })),
  });
  const preview = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/notifications/{id}/actions/{actionId}/preview', {
          params: { path },
          body: { kind: 'triggered' },
        }),
      ),
  });
  const rotate = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/notifications/{id}/actions/{actionId}/rotate-secret', {
          params: { path },
          body: { overlapSeconds: 86_400 },
        }),
      ),
    onSuccess: (made) => {
      const secret = (made as unknown as { readonly config: Settings }).config['secret'];
      setMadeSecret(typeof secret === 'string' ? secret : null);
      refresh();
    },
    onError: (error) => failed(error.message),
  });
  return (
    <section className="card" aria-label={`${actionName(action)} ${action.id}`}>
      <header>
        <h2>{actionName(action)}</h2>
        {!action.enabled && <span className="tag">{t('actions.off')}</span>}
        <span className="small muted">{action.on.map((kind) => t(`actions.on.${kind}`)).join(', ')}</span>
        <span className="grow" />
        <button type="button" className="button" disabled={!mayWrite || test.isPending} onClick={() => test.mutate()}>
          {t('actions.test')}
        </button>
        <button type="button" className="button" disabled={preview.isPending} onClick={() => preview.mutate()}>
          {t('actions.preview')}
        </button>
        {'config' in action && action.type === 'webhook' && (
          <button
            type="button"
            className="button"
            disabled={!mayWrite || rotate.isPending}
            onClick={() => rotate.mutate()}
          >
            {t('actions.rotate')}
          </button>
        )}
        <EditAndRemove
          isEdited={edit.draft !== null}
          isOff={!mayWrite}
          isRemoving={remove.isPending}
          onEdit={edit.draft === null ? edit.begin : edit.drop}
          onRemove={() => remove.mutate(task.revision)}
        />
      </header>
      <div className="in stack">
        {madeSecret !== null && <CopyField label={t('actions.secretOnce')} value={madeSecret} />}
        {test.data !== undefined && <TestResult delivery={test.data} />}
        {test.error !== null && <ProblemNotice error={test.error} />}
        {preview.data !== undefined && <Preview preview={preview.data} />}
        {preview.error !== null && <ProblemNotice error={preview.error} />}
        {edit.draft === null ? (
          <SettingsList settings={settingsOf(action)} />
        ) : (
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              edit.save();
            }}
          >
            <ActionEditor types={types} action={edit.draft} error={edit.error} path="" onChange={edit.change} />
            {edit.error !== null && <ProblemNotice error={edit.error} />}
            {edit.theirs !== null && <BothVersions edit={edit} theirs={edit.theirs} mine={edit.draft} />}
            {edit.theirs === null && (
              <div className="bar">
                <button type="submit" className="button main" disabled={edit.isSaving}>
                  {t('frame.save')}
                </button>
                <span className="small muted">{t('draft.keptForm')}</span>
              </div>
            )}
          </form>
        )}
      </div>
    </section>
  );
}

function NewAction({ task, types }: { readonly task: Task; readonly types: readonly ActionType[] }): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const toast = useToast();
  const mayWrite = useMay('write');
  const withoutSecrets = useCallback((typed: ActionDraft) => actionWithoutSecrets(typed, types), [types]);
  const [draft, setDraft] = useKept(`${task.id}.new-action`, actionDraftOf, withoutSecrets);
  const [madeSecret, setMadeSecret] = useState<string | null>(null);
  const add = useMutation({
    mutationFn: (action: ActionDraft) =>
      dataOf(api.POST('/api/notifications/{id}/actions', { params: { path: { id: task.id } }, body: inputOf(action) })),
    onSuccess: (made) => {
      const { secret } = ('config' in made ? made.config : {}) as { readonly secret?: string };
      setMadeSecret(secret !== undefined && secret !== secretMask ? secret : null);
      setDraft(null);
      void client.invalidateQueries({ queryKey: ['task', task.id] });
      toast(t('actions.added'));
    },
  });
  return (
    <section className="card">
      <header>
        <h2>{t('actions.new')}</h2>
        <ActionSelect types={types} action={draft} onChoose={setDraft} />
      </header>
      {madeSecret !== null && (
        <div className="in">
          <CopyField label={t('actions.secretOnce')} value={madeSecret} />
        </div>
      )}
      {draft !== null && (
        <form
          className="in stack"
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(draft);
          }}
        >
          <ActionEditor types={types} action={draft} error={add.error} path="" onChange={setDraft} />
          {add.error !== null && <ProblemNotice error={add.error} />}
          <div className="bar">
            <button type="submit" className="button main" disabled={!mayWrite || add.isPending}>
              {t('actions.add')}
            </button>
            <button
              type="button"
              className="button plain"
              onClick={() => {
                setDraft(null);
                add.reset();
              }}
            >
              {t('draft.discard')}
            </button>
            <span className="small muted">{t('draft.keptForm')}</span>
          </div>
        </form>
      )}
    </section>
  );
}

export function ActionsTab({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const types = useActionTypes();
  if (types.error !== null) return <ProblemNotice error={types.error} onRetry={() => void types.refetch()} />;
  return (
    <div className="stack">
      {task.actions.length === 0 && <p className="notice warn">{t('actions.none')}</p>}
      {task.actions.map((action) => (
        <ActionCard key={action.id} task={task} action={action} types={types.data ?? []} />
      ))}
      <NewAction task={task} types={types.data ?? []} />
    </div>
  );
}
