/** Saving a new task, once nothing is missing; until then each field that lacks something says so, and the first of them has the focus. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api, dataOf } from '../api/client.js';
import type { TaskInput } from '../api/types.js';
import { useSaveKey } from '../frame/shortcuts.js';
import { usageKey } from '../frame/use-usage.js';
import { missingIn, type Missing } from './missing.js';
import { clearDraft, type NewTaskDraft } from './new-draft.js';

export function useSaving({ draft, input }: { readonly draft: NewTaskDraft; readonly input: TaskInput }) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const address = useRef<HTMLInputElement>(null);
  const condition = useRef<HTMLButtonElement>(null);
  const name = useRef<HTMLInputElement>(null);
  const fields = { address, condition, name };
  const [isTried, setTried] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => dataOf(api.POST('/api/notifications', { body: input })),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: usageKey });
      clearDraft();
      navigate(`/tasks/${id}`);
    },
  });
  const save = (): void => {
    if (isPending) return;
    const [first] = missingIn(draft);
    setTried(first !== undefined);
    if (first === undefined) mutate();
    else fields[first].current?.focus();
  };
  useSaveKey(save);
  const missing: ReadonlySet<Missing> = new Set(isTried ? missingIn(draft) : []);
  return { save, isPending, error, fields, missing };
}

export type Saving = ReturnType<typeof useSaving>;
