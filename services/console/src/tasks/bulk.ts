/** One deed for many tasks, and its opposite. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.js';
import { wording } from '../api/wording.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { usageKey } from '../frame/use-usage.js';
import { useTexts } from '../text/text.js';
import type { TaskFilter } from './task-filter.js';

export type Deed = 'pause' | 'resume' | 'archive' | 'restore' | 'execute' | 'tag' | 'untag';

/** The tasks that a deed is for: named, or all that a filter finds. */
export type Chosen = { readonly ids: readonly string[] } | { readonly filter: Omit<TaskFilter, 'sort'> };

const opposites: Readonly<Partial<Record<Deed, Deed>>> = {
  pause: 'resume',
  resume: 'pause',
  archive: 'restore',
  tag: 'untag',
  untag: 'tag',
};

const mostIds = 500;

export interface BulkOrder {
  readonly deed: Deed;
  readonly chosen: Chosen;
  readonly tags?: readonly string[];
  /** It takes back another. */
  readonly isUndo?: boolean;
}

async function carryOut({ deed, chosen, tags }: BulkOrder) {
  const common = { do: deed, ...(tags !== undefined && { tags: [...tags] }) };
  const bodies =
    'ids' in chosen
      ? Array.from({ length: Math.ceil(chosen.ids.length / mostIds) }, (_, at) => ({
          ...common,
          ids: chosen.ids.slice(at * mostIds, (at + 1) * mostIds),
        }))
      : [{ ...common, filter: chosen.filter }];
  const { ofRefusal } = await wording();
  const done: string[] = [];
  const failed: { readonly id: string; readonly reason: string; readonly message: string }[] = [];
  for (const body of bodies) {
    const answer = await dataOf(api.POST('/api/notifications/bulk', { body: body as never }));
    done.push(...answer.done);
    failed.push(...answer.failed.map((one) => ({ ...one, message: ofRefusal(one).message })));
  }
  return { done, failed };
}

/** Undo is the opposite deed for those that were done, not a delay. What fails stays shown, to be tried again. */
export function useBulk() {
  const client = useQueryClient();
  const toast = useToast();
  const failure = useFailureToast();
  const { t } = useTexts();
  const mutation = useMutation({
    mutationFn: carryOut,
    onSuccess: ({ done, failed }, order) => {
      void client.invalidateQueries({ queryKey: ['tasks'] });
      void client.invalidateQueries({ queryKey: ['task'] });
      void client.invalidateQueries({ queryKey: usageKey });
      const [first] = failed;
      if (done.length > 0 || first === undefined) {
        toast(t(`bulk.did.${order.deed}`, { count: done.length }), undoOf(order, done));
      }
      if (first === undefined) return;
      const text = t('bulk.failed', { count: failed.length, message: first.message });
      const left = { ...order, chosen: { ids: failed.map(({ id }) => id) } };
      failure(text, () => mutation.mutate(left));
    },
    onError: (error, order) => {
      const { message } = error;
      failure(order.isUndo === true ? t('undo.failed', { message }) : message, () => mutation.mutate(order));
    },
  });
  const undoOf = ({ deed, tags }: BulkOrder, done: readonly string[]): (() => void) | undefined => {
    const opposite = opposites[deed];
    if (opposite === undefined || done.length === 0) return undefined;
    const order = { deed: opposite, chosen: { ids: done }, isUndo: true, ...(tags !== undefined && { tags }) };
    return () => mutation.mutate(order);
  };
  return mutation;
}
