/** One deed for many tasks, and its opposite. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import { useToast } from '../frame/toasts.js';
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
  const done: string[] = [];
  const failed: { readonly id: string; readonly reason: string; readonly message: string }[] = [];
  for (const body of bodies) {
    const answer = await dataOf(api.POST('/api/notifications/bulk', { body: body as never }));
    done.push(...answer.done);
    failed.push(...answer.failed);
  }
  return { done, failed };
}

/** Undo is the opposite deed for those that were done, not a delay. */
export function useBulk() {
  const client = useQueryClient();
  const toast = useToast();
  const { t } = useTexts();
  const mutation = useMutation({
    mutationFn: carryOut,
    onSuccess: ({ done, failed }, order) => {
      void client.invalidateQueries({ queryKey: ['tasks'] });
      void client.invalidateQueries({ queryKey: ['task'] });
      const opposite = opposites[order.deed];
      const undo =
        opposite === undefined || done.length === 0
          ? undefined
          : () =>
              mutation.mutate({
                deed: opposite,
                chosen: { ids: done },
                ...(order.tags !== undefined && { tags: order.tags }),
              });
      toast(t(`bulk.did.${order.deed}`, { count: done.length }), undo);
      const [first] = failed;
      if (first !== undefined) toast(t('bulk.failed', { count: failed.length, message: first.message }));
    },
    onError: (error) => toast(isProblem(error) ? error.message : String(error)),
  });
  return mutation;
}
