/** Which tasks a list holds, and in which order: everything by fields of the view. */
import type { z } from 'zod';
import type { FieldFilter, PageQuery } from '#read-store/read-store';
import type { listNotifications, taskFilters } from './notifications.routes.js';

export type TaskFilters = z.output<z.ZodObject<typeof taskFilters>>;

export function tasksWhere(organizationId: string, filters: TaskFilters): FieldFilter[] {
  const { tag, q } = filters;
  const equal = (['externalKey', 'status', 'condition', 'health'] as const).flatMap((field) => {
    const equals = filters[field];
    return equals === undefined ? [] : [{ field, equals }];
  });
  return [
    { field: 'organizationId', equals: organizationId },
    ...equal,
    ...(tag === undefined ? [] : [{ field: 'tags', has: tag }]),
    ...(q === undefined ? [] : [{ fields: ['name', 'url'], contains: q }]),
  ];
}

export function sortOf({
  sort,
  externalKey,
}: Pick<z.output<typeof listNotifications.query>, 'sort' | 'externalKey'>): PageQuery['sort'] {
  // At most one task has it: this order is that of the key's index, another one would be walked in search of it.
  if (externalKey !== undefined) return [{ field: 'createdAt', descending: true }];
  // The most pressing first, whatever the direction of its numbers.
  if (sort === 'attention') return [{ field: 'attention', descending: true }];
  return [{ field: sort.replace('-', ''), descending: sort.startsWith('-') }];
}
