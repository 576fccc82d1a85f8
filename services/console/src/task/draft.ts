/** An edit that is not saved yet: kept in this browser, so that neither a reload nor a lost connection takes it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { addressWithoutPassword } from '../actions/without-secrets.js';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { Task } from '../api/types.js';
import { keepAt, keptAt } from '../frame/kept.js';
import { useToast } from '../frame/toasts.js';
import { useTexts } from '../text/text.js';
import { taskKey } from './task-query.js';

/** What of a task an edit changes: members of the merge patch that is sent. */
export type TaskEdit = Readonly<
  Partial<Pick<Task, 'name' | 'description' | 'url' | 'evaluationFunction' | 'schedule' | 'policy' | 'fetch' | 'tags'>>
>;

interface StoredDraft {
  /** The revision that it was begun on. */
  readonly revision: number;
  readonly edit: TaskEdit;
}

function storedDraft(key: string): StoredDraft | null {
  const value = keptAt(key);
  return value !== null && 'revision' in value && 'edit' in value ? (value as StoredDraft) : null;
}

/** All of an edit was answered by the server, secrets masked, or typed; of what is typed an address may hold one. */
function withoutSecrets({ revision, edit }: StoredDraft): StoredDraft {
  const { url } = edit;
  return { revision, edit: url === undefined ? edit : { ...edit, url: addressWithoutPassword(url) } };
}

export interface TaskDraft {
  readonly edit: TaskEdit;
  readonly isChanged: boolean;
  readonly change: (edit: TaskEdit) => void;
  readonly discard: () => void;
  readonly save: () => void;
  readonly isSaving: boolean;
  readonly error: unknown;
  /** Somebody else saved meanwhile: what stands there now. */
  readonly theirs: Task | null;
  /** Saves over what they saved. */
  readonly keepMine: () => void;
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export function useTaskDraft(task: Task, part: string): TaskDraft {
  const { t } = useTexts();
  const toast = useToast();
  const client = useQueryClient();
  const key = `${task.id}.${part}`;
  const [draft, setDraft] = useState(() => storedDraft(key));
  const [theirs, setTheirs] = useState<Task | null>(null);
  const edit = draft?.edit ?? {};
  const changed = Object.entries(edit).filter(([name, value]) => !sameJson(task[name as keyof Task], value));
  const keep = useCallback(
    (next: StoredDraft | null) => {
      setDraft(next);
      keepAt(key, next === null ? null : withoutSecrets(next));
    },
    [key],
  );
  const save = useMutation({
    mutationFn: (revision: number) =>
      dataOf(
        api.PATCH('/api/notifications/{id}', {
          params: { path: { id: task.id }, header: { 'If-Match': `"${revision}"` } },
          body: Object.fromEntries(changed) as never,
        }),
      ),
    onSuccess: (saved) => {
      keep(null);
      setTheirs(null);
      client.setQueryData(taskKey(task.id, null), saved);
      void client.invalidateQueries({ queryKey: ['task', task.id] });
      toast(t('draft.saved', { revision: saved.revision }));
    },
    onError: async (error) => {
      if (!isProblem(error) || error.status !== 412) return;
      const now = await dataOf(api.GET('/api/notifications/{id}', { params: { path: { id: task.id } } }));
      setTheirs(now);
    },
  });
  return {
    edit,
    isChanged: changed.length > 0,
    change: (next) => keep({ revision: draft?.revision ?? task.revision, edit: { ...edit, ...next } }),
    discard: () => {
      keep(null);
      setTheirs(null);
      save.reset();
    },
    save: () => {
      if (changed.length > 0) save.mutate(draft?.revision ?? task.revision);
    },
    isSaving: save.isPending,
    error: theirs === null ? save.error : null,
    theirs,
    keepMine: () => {
      if (theirs !== null) save.mutate(theirs.revision);
    },
  };
}
