/** An edit of an action, saved on what it was begun on: where somebody else changed the same action meanwhile, both are shown. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { Action, Task } from '../api/types.js';
import { inputOf, type ActionDraft } from './action-draft.js';

interface Begun {
  /** As it was when the edit began. */
  readonly action: Action;
  readonly revision: number;
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

export function useActionEdit(task: Task, action: Action, onSaved: () => void): ActionEdit {
  const [draft, setDraft] = useState<ActionDraft | null>(null);
  const [begun, setBegun] = useState<Begun>({ action, revision: task.revision });
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
    mutationFn: async (edited: ActionDraft) => {
      try {
        return await put(edited, begun.revision);
      } catch (error) {
        if (!isStale(error)) throw error;
        const now = await dataOf(api.GET('/api/notifications/{id}', { params: { path: { id: task.id } } }));
        const found = now.actions.find(({ id }) => id === action.id);
        // Another part of the task was changed: nobody is overruled.
        if (found !== undefined && sameJson(found, begun.action)) return put(edited, now.revision);
        setTheirs(found ?? null);
        if (found !== undefined) setBegun({ action: found, revision: now.revision });
        throw error;
      }
    },
    onSuccess: () => {
      setDraft(null);
      setTheirs(null);
      onSaved();
    },
  });
  return {
    draft,
    begin: () => {
      setBegun({ action, revision: task.revision });
      setDraft(action);
    },
    change: setDraft,
    drop: () => {
      setDraft(null);
      setTheirs(null);
      save.reset();
    },
    save: () => {
      if (draft !== null) save.mutate(draft);
    },
    isSaving: save.isPending,
    error: theirs === null ? save.error : null,
    theirs,
  };
}
