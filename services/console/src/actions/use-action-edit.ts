/** An edit of an action, kept in this browser and saved on what it was begun on: where somebody else changed the same action meanwhile, both are shown. */
import { useMutation } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { Action, Task } from '../api/types.js';
import { useKept } from '../frame/kept.js';
import { actionDraftOf, inputOf, type ActionDraft } from './action-draft.js';
import type { ActionType } from './action-types.js';
import { actionWithoutSecrets } from './without-secrets.js';

interface Edit {
  /** As it was when the edit began. */
  readonly begun: Action;
  readonly revision: number;
  readonly draft: ActionDraft;
}

function editOf(kept: object): Edit | null {
  const { begun, revision, draft } = kept as Readonly<Record<string, unknown>>;
  const read = typeof draft === 'object' && draft !== null ? actionDraftOf(draft) : null;
  const isWhole = typeof begun === 'object' && begun !== null && typeof revision === 'number' && read !== null;
  return isWhole ? { begun: begun as Action, revision, draft: read } : null;
}

export interface ActionEdit {
  readonly draft: ActionDraft | null;
  readonly begin: () => void;
  readonly change: (draft: ActionDraft) => void;
  readonly drop: () => void;
  readonly save: () => void;
  readonly isSaving: boolean;
  readonly error: unknown;
  /** What stands there now, where it is another than the edit was begun on. */
  readonly theirs: Action | null;
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const isStale = (error: unknown): boolean => isProblem(error) && error.status === 412;

export function useActionEdit(
  task: Task,
  action: Action,
  types: readonly ActionType[],
  onSaved: () => void,
): ActionEdit {
  const forKeeping = useCallback(
    (edit: Edit): Edit | null =>
      sameJson(edit.draft, edit.begun) ? null : { ...edit, draft: actionWithoutSecrets(edit.draft, types, edit.begun) },
    [types],
  );
  const [edit, keep] = useKept(`${task.id}.action.${action.id}`, editOf, forKeeping);
  const [theirs, setTheirs] = useState<Action | null>(null);
  const path = { id: task.id, actionId: action.id };
  const put = (edited: ActionDraft, revision: number) =>
    dataOf(
      api.PUT('/api/notifications/{id}/actions/{actionId}', {
        params: { path, header: { 'If-Match': `"${revision}"` } },
        body: inputOf(edited),
      }),
    );
  const save = useMutation({
    mutationFn: async ({ begun, revision, draft }: Edit) => {
      try {
        return await put(draft, revision);
      } catch (error) {
        if (!isStale(error)) throw error;
        const now = await dataOf(api.GET('/api/notifications/{id}', { params: { path: { id: task.id } } }));
        const found = now.actions.find(({ id }) => id === action.id);
        // Another part of the task was changed: nobody is overruled.
        if (found !== undefined && sameJson(found, begun)) return put(draft, now.revision);
        setTheirs(found ?? null);
        if (found !== undefined) keep({ begun: found, revision: now.revision, draft });
        throw error;
      }
    },
    onSuccess: () => {
      keep(null);
      setTheirs(null);
      onSaved();
    },
  });
  return {
    draft: edit?.draft ?? null,
    begin: () => keep({ begun: action, revision: task.revision, draft: action }),
    change: (draft) => {
      if (edit !== null) keep({ ...edit, draft });
    },
    drop: () => {
      keep(null);
      setTheirs(null);
      save.reset();
    },
    save: () => {
      if (edit !== null) save.mutate(edit);
    },
    isSaving: save.isPending,
    error: theirs === null ? save.error : null,
    theirs,
  };
}
